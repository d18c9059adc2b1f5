// What is not needed by every script is compiled at its first use: a fresh
// engine reads this source for every execution, and reading a string literal
// costs a fifth of reading code.

const { compile, timer, now, random } = host;
const modules = { __proto__: null };

// core is what the sources under lazy/ get to see.
const core = {
  __proto__: null,
  apply, ownKeys, getPrototypeOf, getOwnPropertyDescriptor, defineProperty, hasOwn, objectKeys, isArray,
  own, define, list, push, join, copy, startsWith, endsWith, contains, split, cut, slice, indexOf, charCodeAt, trusted, describe,
  dateValue, dateISO, mapEach, setEach, mapGet, mapSet, mapDelete, regExpText, numberValue, stringValue, booleanValue, bigintValue,
  typedArrayName, typedArrayLength, collect, kindOf, textOf, classes, jsonStringify, functionText, round, floor, sqrt, imul,
  Error, TypeError, RangeError, SyntaxError, parseInt, parseFloat,
  parseJSON, encode, bigintAsNumber, callSite, scriptFrames, stackOf, at, ask, BridgeError, MCPToolError,
  compile, print, timer, now, random, file: hostFile, load,
};

function load(name) {
  if (modules[name] === undefined) modules[name] = compile(sources[name], 'airlock:' + name)(core);
  return modules[name];
}

// lazyGlobals maps each global to the source that defines it.
const lazyGlobals = {
  __proto__: null,
  console: 'console', fs: 'fs', utils: 'utils', pii: 'pii', require: 'require', process: 'process', fetch: 'absent', Intl: 'intl',
  setTimeout: 'timers', setInterval: 'timers', setImmediate: 'timers', clearTimeout: 'timers', clearInterval: 'timers', clearImmediate: 'timers',
  structuredClone: 'clone', TextEncoder: 'encoding', TextDecoder: 'encoding', URL: 'url', URLSearchParams: 'url',
  crypto: 'crypto', Buffer: 'buffer', AbortController: 'abort', AbortSignal: 'abort', Event: 'abort', EventTarget: 'abort', CustomEvent: 'abort',
};

function defineGlobals() {
  const eager = { __proto__: null, list_mcp_tools, get_mcp_tool_details, callMCPTool, mcp, MCPToolError, BridgeError };
  const names = objectKeys(eager);
  for (let i = 0; i < names.length; i++) define(globalThis, names[i], eager[names[i]], false);
  const later = objectKeys(lazyGlobals);
  for (let i = 0; i < later.length; i++) defineLazy(later[i], lazyGlobals[later[i]]);
}

function defineLazy(name, module) {
  defineProperty(globalThis, name, {
    __proto__: null,
    get() {
      const value = load(module)[name];
      define(globalThis, name, value, false);
      return value;
    },
    set(value) {
      define(globalThis, name, value);
    },
    configurable: true,
    enumerable: false,
  });
}

// defineMethod replaces a built-in method by one of a lazy source, which gets
// the object as its first argument.
function defineMethod(target, name, module, implementation) {
  const holder = { [name](first, second, third) { return load(module)[implementation](this, first, second, third); } };
  define(target, name, holder[name], false);
}

function defineMethods() {
  defineMethod(Number.prototype, 'toLocaleString', 'intl', 'numberToLocale');
  defineMethod(BigInt.prototype, 'toLocaleString', 'intl', 'numberToLocale');
  defineMethod(Date.prototype, 'toLocaleString', 'intl', 'dateTimeToLocale');
  defineMethod(Date.prototype, 'toLocaleDateString', 'intl', 'dateToLocale');
  defineMethod(Date.prototype, 'toLocaleTimeString', 'intl', 'timeToLocale');
  defineMethod(String.prototype, 'localeCompare', 'intl', 'compareInLocale');
  define(Math, 'random', function random() { return load('crypto').nextRandom(); }, false);
  define(globalThis, 'performance', { now: () => now(), get timeOrigin() { return dateNow() - now(); }, mark() {}, measure() {} }, false);
  define(globalThis, 'global', globalThis, false);
  define(globalThis, 'self', globalThis, false);
}
