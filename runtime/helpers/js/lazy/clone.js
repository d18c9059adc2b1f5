// structuredClone, as HTML defines it for what exists here.
(function (core) {
  'use strict';
  const { kindOf } = core;
  const { domException } = core.load('abort');

  function structuredClone(value, options) {
    if (arguments.length === 0) throw new TypeError("The \"value\" argument must be specified");
    const seen = new Map();
    for (const buffer of options?.transfer ?? []) {
      if (kindOf(buffer) !== 'ArrayBuffer') throw refuse(buffer, 'could not be transferred');
      seen.set(buffer, typeof buffer.transfer === 'function' ? buffer.transfer() : buffer);
    }
    return clone(value, seen);
  }

  function refuse(value, what = 'could not be cloned') {
    let text = '#<Object>';
    try {
      text = typeof value === 'object' ? `#<${value.constructor?.name ?? 'Object'}>` : String(value);
    } catch {
      // Named by its kind only.
    }
    return domException(`${text} ${what}.`, 'DataCloneError');
  }

  function clone(value, seen) {
    if (typeof value === 'function' || typeof value === 'symbol') throw refuse(value);
    if (value === null || typeof value !== 'object') return value;
    if (seen.has(value)) return seen.get(value);
    if (Array.isArray(value)) return copyMembers(value, remember(seen, value, new Array(value.length)), seen);
    const copy = copiers[kindOf(value)];
    if (copy !== undefined) return copy(value, seen);
    if (ArrayBuffer.isView(value)) return cloneView(value, seen);
    return copyMembers(value, remember(seen, value, {}), seen);
  }

  function remember(seen, value, copy) {
    seen.set(value, copy);
    return copy;
  }

  function copyMembers(from, to, seen) {
    for (const key of Object.keys(from)) {
      const copy = clone(from[key], seen);
      if (key === '__proto__') Object.defineProperty(to, key, { value: copy, writable: true, enumerable: true, configurable: true });
      else to[key] = copy;
    }
    return to;
  }

  const errors = { __proto__: null, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

  function cloneError(error, seen) {
    const name = `${error.name}`;
    const copy = Object.create((errors[name] ?? Error).prototype);
    const made = Object.setPrototypeOf(new Error(), Object.getPrototypeOf(copy));
    remember(seen, error, made);
    const parts = { message: `${error.message}`, stack: error.stack };
    if (Object.hasOwn(error, 'cause')) parts.cause = clone(error.cause, seen);
    for (const [key, value] of Object.entries(parts)) Object.defineProperty(made, key, { value, writable: true, configurable: true, enumerable: false });
    return made;
  }

  function cloneView(view, seen) {
    const buffer = clone(view.buffer, seen);
    const Class = view instanceof DataView ? DataView : globalThis[core.typedArrayName(view)];
    return remember(seen, view, new Class(buffer, view.byteOffset, view instanceof DataView ? view.byteLength : view.length));
  }

  const copiers = {
    __proto__: null,
    Date: (value, seen) => remember(seen, value, new Date(value.getTime())),
    RegExp: (value, seen) => remember(seen, value, new RegExp(value.source, value.flags)),
    Map: (value, seen) => {
      const copy = remember(seen, value, new Map());
      for (const [key, item] of [...value]) copy.set(clone(key, seen), clone(item, seen));
      return copy;
    },
    Set: (value, seen) => {
      const copy = remember(seen, value, new Set());
      for (const item of [...value]) copy.add(clone(item, seen));
      return copy;
    },
    Error: cloneError,
    Number: (value, seen) => remember(seen, value, Object(value.valueOf())),
    String: (value, seen) => remember(seen, value, Object(value.valueOf())),
    Boolean: (value, seen) => remember(seen, value, Object(value.valueOf())),
    BigInt: (value, seen) => remember(seen, value, Object(value.valueOf())),
    ArrayBuffer: (value, seen) => remember(seen, value, value.slice(0)),
    TypedArray: cloneView,
    Promise: (value) => { throw refuse(value); },
    WeakMap: (value) => { throw refuse(value); },
    WeakSet: (value) => { throw refuse(value); },
    WeakRef: (value) => { throw refuse(value); },
    Symbol: (value) => { throw refuse(value); },
    Iterator: (value) => { throw refuse(value); },
  };

  return { __proto__: null, structuredClone };
})
