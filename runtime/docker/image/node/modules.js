// ES modules for scripts: static and dynamic import of files in the script's
// folders. CommonJS files can be imported, too; their exports are the default and,
// by name, their keys.
'use strict';
const vm = require('vm');
const path = require('path');

// openModules makes importFrom(file, specifier), a promise of a namespace.
function openModules(file, requireFrom) {
  const known = new Map();

  function resolve(from, specifier) {
    if (specifier.startsWith('/')) return path.posix.normalize(specifier);
    if (!specifier.startsWith('./') && !specifier.startsWith('../')) return `require:${specifier}`;
    return path.posix.join(from.startsWith('/') ? path.posix.dirname(from) : '/workspace', specifier);
  }

  async function load(from, specifier) {
    const name = resolve(from, specifier);
    if (!known.has(name)) known.set(name, make(name));
    return known.get(name);
  }

  function make(name) {
    if (name.startsWith('require:')) return commonJS(name.slice(8));
    if (name.endsWith('.json')) return commonJS(name);
    const source = file('read', name, '');
    if (!name.endsWith('.mjs') && !isModule(source)) return commonJS(name);
    const module = new vm.SourceTextModule(source, {
      identifier: name,
      importModuleDynamically: (specifier) => importFrom(name, specifier),
    });
    return module;
  }

  function commonJS(specifier) {
    const exported = requireFrom('', specifier);
    const keys = exported !== null && (typeof exported === 'object' || typeof exported === 'function') ? Object.keys(exported) : [];
    const names = ['default', ...keys.filter((key) => key !== 'default' && /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key))];
    return new vm.SyntheticModule(names, function () {
      for (const name of names) this.setExport(name, name === 'default' ? exported : exported[name]);
    });
  }

  async function importFrom(from, specifier) {
    const module = await load(from, `${specifier}`);
    if (module.status === 'unlinked') await module.link((next, parent) => load(parent.identifier, next));
    if (module.status === 'linked') await module.evaluate();
    if (module.status === 'errored') throw module.error;
    return module.namespace;
  }

  return importFrom;
}

// isModule tells whether a source has an import or export declaration.
function isModule(source) {
  return /^\s*(?:export\b|import\b(?!\s*[(.]))/m.test(source);
}

module.exports = { openModules };
