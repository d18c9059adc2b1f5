// Writes the prelude from its sources: node assemble.js SOURCES OUTPUT. It is the
// same text that Go's helpers.JavaScript returns; a test there compares them.
'use strict';
const { readFileSync, readdirSync, writeFileSync } = require('fs');
const { join } = require('path');

// core lists the sources that every execution runs, in their order.
const core = ['language', 'values', 'parse', 'encode', 'kinds', 'errors', 'bridge', 'tools', 'decode', 'lazy', 'hooks'];

// read leaves out comment lines and indentation, and escapes what is not ASCII.
function read(file) {
  const lines = readFileSync(file, 'utf8').split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '' && !line.startsWith('//')).map((line) => escaped(line) + '\n').join('');
}

function escaped(line) {
  return line.replace(/[^\x00-\x7f]/gu, (c) => '\\u' + c.codePointAt(0).toString(16).padStart(4, '0'));
}

function assemble(folder) {
  const lazy = readdirSync(join(folder, 'lazy')).filter((name) => name.endsWith('.js')).sort();
  const sources = lazy.map((name) => `,\n${name.slice(0, -3)}: ${JSON.stringify(read(join(folder, 'lazy', name)))}`);
  const parts = core.map((name) => read(join(folder, 'core', `${name}.js`)));
  return `(function (host) {\n'use strict';\nconst sources = { __proto__: null${sources.join('')}};\n${parts.join('')}})`;
}

if (require.main === module) {
  const [folder, output] = process.argv.slice(2);
  writeFileSync(output, assemble(folder));
}

module.exports = { assemble };
