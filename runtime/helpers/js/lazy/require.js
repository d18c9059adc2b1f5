// require: CommonJS files under the script's folders, JSON, and the few names of
// Node that have a counterpart here.
(function (core) {
  'use strict';
  const { define, file, compile, parseJSON, load, apply, list, push, join, split, slice, startsWith, endsWith, mapGet, mapSet, mapDelete, classes, describe, callSite, at, contains, Error, TypeError, SyntaxError } = core;

  const cache = new classes.Map();
  const suffixes = ['', '.js', '.cjs', '.ts', '.json', '/main.js', '/index.js', '/main.ts', '/index.ts'];

  // builtins are the module names that work without a file.
  const builtins = {
    __proto__: null,
    fs: () => load('fs').fs,
    'fs/promises': () => load('fs').fs.promises,
    path: () => load('path').path,
    util: () => load('util').util,
    buffer: () => ({ Buffer: load('buffer').Buffer }),
    url: () => ({ URL: load('url').URL, URLSearchParams: load('url').URLSearchParams }),
    timers: () => load('timers'),
    'timers/promises': () => ({ setTimeout: async (delay, value) => { await load('utils').utils.sleep(delay); return value; } }),
    crypto: () => load('crypto').crypto,
    process: () => load('process').process,
    console: () => load('console').console,
    perf_hooks: () => ({ performance: globalThis.performance }),
  };

  const tools = 'find a tool with list_mcp_tools({query: "…"}) and use callMCPTool(name, args)';
  const advice = {
    __proto__: null,
    http: tools, https: tools, net: tools, axios: tools, 'node-fetch': tools, undici: tools, got: tools, pg: tools, mysql2: tools, sqlite3: tools, 'better-sqlite3': tools, mongodb: tools, redis: tools, nodemailer: tools,
    child_process: 'scripts start no programs; ' + tools,
    os: 'the sandbox has no operating system to ask', worker_threads: 'use Promise.all for parallel calls', cluster: 'use Promise.all for parallel calls',
    lodash: 'use Object.groupBy, Array.prototype.toSorted, structuredClone and the like', underscore: 'use Object.groupBy, Array.prototype.toSorted and the like',
    moment: 'use Date and toLocaleDateString', dayjs: 'use Date and toLocaleDateString', 'date-fns': 'use Date and toLocaleDateString', luxon: 'use Date and toLocaleDateString',
    events: 'use EventTarget', assert: 'throw an Error', stream: 'read whole files with fs.readFile', zlib: tools, uuid: 'use crypto.randomUUID()', 'csv-parse': 'split the lines yourself', papaparse: 'split the lines yourself',
  };

  function requireFrom(parent, specifier) {
    const site = callSite();
    if (typeof specifier !== 'string' || specifier === '') throw new TypeError('require needs a path such as "/skills/report.js", not ' + describe(specifier));
    const name = startsWith(specifier, 'node:') ? slice(specifier, 5) : specifier;
    if (builtins[name] !== undefined) return builtins[name]();
    if (name[0] !== '/' && !startsWith(name, './') && !startsWith(name, '../') && name !== '.' && name !== '..') throw unknownModule(site, name);
    return loadFile(locate(site, normalize(name[0] === '/' ? name : folderOf(parent) + '/' + name), specifier));
  }

  function unknownModule(site, name) {
    const what = advice[name] ?? advice[split(name, '/')[0]] ?? 'packages cannot be installed; require files under /skills or /workspace by their path, as in require("/skills/report.js")';
    return moduleError(site, 'module "' + name + '" is not available', what);
  }

  function moduleError(site, message, hint) {
    const error = new Error(message + ': ' + hint);
    define(error, 'code', 'MODULE_NOT_FOUND');
    return at(site, error);
  }

  function folderOf(path) {
    if (path === '') return '/workspace';
    let end = path.length - 1;
    while (end > 0 && path[end] !== '/') end--;
    return slice(path, 0, end);
  }

  // normalize resolves "." and ".." in an absolute path.
  function normalize(path) {
    const steps = split(path, '/');
    const kept = list();
    for (let i = 0; i < steps.length; i++) {
      if (steps[i] === '..') kept.length -= kept.length > 0 ? 1 : 0;
      else if (steps[i] !== '' && steps[i] !== '.') push(kept, steps[i]);
    }
    return '/' + join(kept, '/');
  }

  function locate(site, path, specifier) {
    for (let i = 0; i < suffixes.length; i++) {
      if (isFile(path + suffixes[i])) return path + suffixes[i];
    }
    throw moduleError(site, 'cannot find "' + specifier + '"', 'there is no file ' + path + ', ' + path + '.js or ' + path + '/main.js; list a folder with fs.listFiles("' + folderOf(path) + '")');
  }

  function isFile(path) {
    if (mapGet(cache, path) !== undefined) return true;
    try {
      return !parseJSON(file('stat', path, '')).isDirectory;
    } catch {
      return false;
    }
  }

  // loadFile returns what the file exports; while it is being loaded, what it
  // has exported so far, so that files may require each other.
  function loadFile(path) {
    const known = mapGet(cache, path);
    if (known !== undefined) return known.exports;
    const module = { exports: {}, id: path, filename: path, loaded: false };
    mapSet(cache, path, module);
    try {
      if (endsWith(path, '.json')) module.exports = parseFile(path);
      else run(module, path);
    } catch (error) {
      mapDelete(cache, path);
      throw error;
    }
    module.loaded = true;
    return module.exports;
  }

  function parseFile(path) {
    try {
      return parseJSON(file('read', path, ''));
    } catch (error) {
      throw new SyntaxError(path + ' is not JSON: ' + core.textOf(error, 'message', ''));
    }
  }

  // run wraps the source on its first line, so that line numbers stay true.
  function run(module, path) {
    const source = plain(file('read', path, ''));
    const wrapped = compileModule('(function (exports, require, module, __filename, __dirname) {' + source + '\n})', source, path);
    const exports = module.exports;
    apply(wrapped, exports, [exports, requireFor(path), module, path, folderOf(path)]);
  }

  function plain(source) {
    const text = source[0] === '\ufeff' ? slice(source, 1) : source;
    return startsWith(text, '#!') ? '//' + text : text;
  }

  function compileModule(wrapped, source, path) {
    try {
      return compile(wrapped, path);
    } catch (error) {
      if (looksLikeModule(source)) define(error, 'hint', path + ' uses import or export: load it with await import("' + path + '"), or write module.exports = …');
      else if (contains(source, 'await ')) define(error, 'hint', 'await works only inside an async function in a file that is required');
      throw error;
    }
  }

  function looksLikeModule(source) {
    const lines = split(source, '\n');
    for (let i = 0; i < lines.length; i++) {
      if (startsWith(lines[i], 'import ') || startsWith(lines[i], 'export ')) return true;
    }
    return false;
  }

  function requireFor(path) {
    const require = (specifier) => requireFrom(path, specifier);
    define(require, 'resolve', (specifier) => locate(callSite(), normalize(specifier[0] === '/' ? specifier : folderOf(path) + '/' + specifier), specifier));
    return require;
  }

  return { __proto__: null, requireFrom, require: requireFor('') };
})
