// fs: files in the script's folders, both under the names of the helpers and
// under those of Node. The host does everything at once; the async forms only
// have the shape that scripts expect.
(function (core) {
  'use strict';
  const { own, define, copy, list, push, file, parseJSON, describe, load, callSite, at, apply, classes, TypeError } = core;

  function pathOf(path) {
    if (typeof path === 'string') return path;
    const href = path !== null && typeof path === 'object' ? path.pathname : undefined;
    if (typeof href === 'string') return href;
    throw new TypeError('a path must be a string such as "/workspace/data.csv", not ' + describe(path));
  }

  // at least the path and the reason are in each error, and the script's line.
  function host(operation, path, data) {
    const site = callSite();
    try {
      return file(operation, resolve(pathOf(path)), data);
    } catch (error) {
      throw at(site, error);
    }
  }

  // resolve takes relative paths from /workspace.
  function resolve(path) {
    return path[0] === '/' ? path : '/workspace/' + path;
  }

  // encodingOf reads the encoding from where Node's functions take it.
  function encodingOf(options, fallback) {
    if (options === null) return null;
    const encoding = typeof options === 'object' ? own(options, 'encoding') : options;
    return encoding === undefined ? fallback : encoding;
  }

  function read(path, options) {
    const encoding = encodingOf(options, 'utf8');
    if (encoding === 'utf8' || encoding === 'utf-8') return host('read', path, '');
    const data = host('readBase64', path, '');
    if (encoding === 'base64') return data;
    const buffer = load('buffer').Buffer.from(data, 'base64');
    return encoding === null || encoding === 'buffer' ? buffer : buffer.toString(encoding);
  }

  function write(path, data, options) {
    if (own(options, 'flag') === 'a') return append(path, data, own(options, 'encoding'));
    const encoding = encodingOf(options, 'utf8');
    if (data !== null && typeof data === 'object' && isBytes(data)) host('writeBase64', path, base64Of(data));
    else if (encoding === 'base64' && typeof data === 'string') host('writeBase64', path, data);
    else if (typeof data === 'string') host('write', path, data);
    else throw new TypeError('a file\'s content must be text or bytes, not ' + describe(data) + '; JSON.stringify it first');
  }

  function isBytes(data) {
    return core.typedArrayName(data) !== undefined || core.kindOf(data) === 'ArrayBuffer';
  }

  function base64Of(data) {
    return load('buffer').base64Of(data);
  }

  function append(path, data, options) {
    const before = exists(path) ? read(path, null) : '';
    const { Buffer } = load('buffer');
    write(path, Buffer.concat([Buffer.from(before), typeof data === 'string' ? Buffer.from(data, encodingOf(options, 'utf8')) : Buffer.from(data)]));
  }

  function stat(path) {
    return parseJSON(host('stat', path, ''));
  }

  function entries(path) {
    return parseJSON(host('list', path, ''));
  }

  function names(path) {
    const found = entries(path);
    const items = list();
    for (let i = 0; i < found.length; i++) push(items, found[i].name);
    return copy(items);
  }

  function exists(path) {
    try {
      stat(path);
      return true;
    } catch {
      return false;
    }
  }

  function remove(path) {
    host('remove', path, '');
  }

  // removeAll is rm with {recursive, force}.
  function removeAll(path, options) {
    if (own(options, 'force') && !exists(path)) return;
    if (own(options, 'recursive') && stat(path).isDirectory) {
      const found = names(path);
      for (let i = 0; i < found.length; i++) removeAll(pathOf(path) + '/' + found[i], options);
    }
    if (exists(path)) remove(path);
  }

  // makeFolder has little to do: writing a file makes the folders above it, and
  // an empty folder is not kept.
  function makeFolder() {}

  function copyFile(from, to) {
    host('writeBase64', to, host('readBase64', from, ''));
  }

  function rename(from, to) {
    copyFile(from, to);
    remove(from);
  }

  // statOf gives a stat the methods of Node's.
  function statOf(path) {
    const { isDirectory, size, mtimeMs } = stat(path);
    return { size, mtimeMs, mtime: new classes.Date(mtimeMs), isDirectory: () => isDirectory, isFile: () => !isDirectory, isSymbolicLink: () => false };
  }

  function readFolder(path, options) {
    if (!own(options, 'withFileTypes')) return names(path);
    const found = entries(path);
    for (let i = 0; i < found.length; i++) {
      const { name, isDirectory } = found[i];
      define(found, i, { name, parentPath: path, path, isDirectory: () => isDirectory, isFile: () => !isDirectory, isSymbolicLink: () => false });
    }
    return found;
  }

  function access(path) {
    stat(path);
  }

  const operations = {
    __proto__: null,
    readFile: read, writeFile: write, appendFile: append, listFiles: names, exists, deleteFile: remove,
    readdir: readFolder, stat: statOf, lstat: statOf, unlink: remove, rm: removeAll, rmdir: removeAll,
    mkdir: makeFolder, copyFile, rename, access,
  };

  // asynchronous wraps an operation as a promise, or with a callback as its last
  // argument in Node's older form.
  function asynchronous(operation) {
    return async function (...args) {
      const last = args[args.length - 1];
      if (args.length === 0 || typeof last !== 'function') return apply(operation, undefined, args);
      args.length--;
      let value;
      try {
        value = apply(operation, undefined, args);
      } catch (error) {
        return void last(error);
      }
      last(null, value);
    };
  }

  function promises() {
    const all = {};
    const keys = core.objectKeys(operations);
    for (let i = 0; i < keys.length; i++) define(all, keys[i], asynchronous(operations[keys[i]]));
    return all;
  }

  function synchronous(target) {
    const keys = core.objectKeys(operations);
    for (let i = 0; i < keys.length; i++) define(target, keys[i] + 'Sync', operations[keys[i]], false);
    return target;
  }

  const fs = synchronous(promises());
  define(fs, 'promises', promises(), false);
  define(fs, 'constants', { F_OK: 0, X_OK: 1, W_OK: 2, R_OK: 4 }, false);
  return { __proto__: null, fs, resolve };
})
