// The start of a Node that runs one script: node main.js, with the supervisor on
// descriptor 3. The driver gets a realm of its own, with its own Array, Promise and
// JSON, since scripts may change those of the realm they run in.
'use strict';
const { readFileSync } = require('fs');
const { dirname, join } = require('path');
const vm = require('vm');

const realm = vm.createContext({ __proto__: null });
const loaded = new Map();

// requireIn is require for the driver's files; Node's own modules are shared.
function requireIn(name) {
  if (!name.startsWith('./')) return require(name);
  const file = join(__dirname, `${name}.js`);
  if (loaded.has(file)) return loaded.get(file).exports;
  const module = { exports: {} };
  loaded.set(file, module);
  const parameters = ['module', 'require', 'script', 'Buffer', 'process', '__dirname', 'setTimeout'];
  const body = vm.compileFunction(readFileSync(file, 'utf8'), parameters, { filename: file, parsingContext: realm });
  // script is the realm that scripts run in: this one.
  body(module, requireIn, globalThis, Buffer, process, dirname(file), setTimeout);
  return module.exports;
}

requireIn('./driver');
