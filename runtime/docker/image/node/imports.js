// Import declarations in a script: it is the body of a function, where there can be
// none, so each becomes a constant that awaits import(), on the same lines.
'use strict';

const identifier = '([\\p{L}_$][\\p{L}\\p{N}_$]*)';
const specifier = '("[^"\\n]*"|\'[^\'\\n]*\')(?:\\s*with\\s*\\{[^}]*\\})?[ \\t]*;?';
const declaration = new RegExp(
  `(^|[;}\\n])([ \\t]*)import\\s*(?:${identifier}?\\s*,?\\s*(?:\\*\\s*as\\s+${identifier}|\\{([^}]*)\\})?\\s*from)?\\s*${specifier}`, 'gu');

// awaitImports rewrites the declarations. It is used for scripts only that cannot be
// read without: telling code from the text of a string is the engine's business.
function awaitImports(code) {
  // A declaration may begin where the one before it ended, so each round takes what
  // the last one could not.
  for (let before; before !== code;) {
    before = code;
    code = code.replace(declaration, (all, start, space, name, namespace, names, from) => {
      const lines = '\n'.repeat(all.split('\n').length - start.split('\n').length);
      return start + space + awaited(name, namespace, names, from) + lines;
    });
  }
  return code;
}

function awaited(name, namespace, names, from) {
  const call = `await import(${from})`;
  const targets = name ? [`default:${name}`] : [];
  for (const item of (names ?? '').split(',').map((text) => text.trim().replace(/\s+/g, ' ')).filter(Boolean)) targets.push(item.replace(' as ', ':'));
  if (namespace && name) return `const ${namespace}=${call},{${targets}}=${namespace};`;
  if (namespace) return `const ${namespace}=${call};`;
  return targets.length > 0 ? `const {${targets}}=${call};` : `${call};`;
}

module.exports = { awaitImports };
