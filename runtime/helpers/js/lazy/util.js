// require('util'): what scripts use of it.
(function (core) {
  'use strict';
  const { inspect } = core.load('inspect');
  const { format } = core.load('console');

  function promisify(callee) {
    return function (...args) {
      return new Promise((resolve, reject) => {
        callee.call(this, ...args, (error, value) => (error ? reject(error) : resolve(value)));
      });
    };
  }

  function isDeepStrictEqual(a, b) {
    if (Object.is(a, b)) return true;
    if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object') return false;
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
    if (a instanceof Date) return a.getTime() === b.getTime();
    if (a instanceof RegExp) return String(a) === String(b);
    if (a instanceof Map || a instanceof Set) return isDeepStrictEqual([...a], [...b]);
    const keys = Object.keys(a);
    return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && isDeepStrictEqual(a[key], b[key]));
  }

  const made = (value, options) => inspect(value, options);
  made.custom = Symbol.for('nodejs.util.inspect.custom');
  const util = { inspect: made, format: (...args) => format(args), promisify, isDeepStrictEqual, types: { isDate: (value) => value instanceof Date, isRegExp: (value) => value instanceof RegExp, isPromise: (value) => value instanceof Promise } };
  return { __proto__: null, util };
})
