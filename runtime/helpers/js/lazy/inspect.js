// inspect writes any value for people to read, the way Node's console does. It
// runs no getters, is bounded in depth and length, and never throws.
(function (core) {
  'use strict';
  const {
    own, list, push, join, split, slice, contains, charCodeAt, cut, isArray, hasOwn, objectKeys, ownKeys, getPrototypeOf, getOwnPropertyDescriptor, apply,
    kindOf, textOf, mapGet, mapSet, mapEach, setEach, dateValue, dateISO, regExpText, numberValue, stringValue, booleanValue, bigintValue,
    typedArrayName, typedArrayLength, classes, scriptFrames, stackOf, functionText, collect, startsWith,
  } = core;

  const { lay, spaces } = core.load('layout');
  const custom = classes.Symbol.for('nodejs.util.inspect.custom');
  const { toStringTag } = classes.Symbol;
  const defaults = { __proto__: null, depth: 2, breakLength: 80, maxArrayLength: 100, maxStringLength: 10000 };
  const maxEntries = 20000;

  function inspect(value, options) {
    const state = { __proto__: null, open: list(), circular: new classes.Map(), references: 0, indent: 0, level: 0, entries: 0 };
    const names = objectKeys(defaults);
    for (let i = 0; i < names.length; i++) state[names[i]] = limit(own(options, names[i]), defaults[names[i]]);
    return write(value, 0, state, false);
  }

  function limit(value, fallback) {
    if (value === null) return Infinity;
    return typeof value === 'number' ? value : fallback;
  }

  function write(value, level, state, quoteErrors) {
    switch (typeof value) {
      case 'string': return writeString(value, state);
      case 'number': return numberText(value);
      case 'bigint': return value + 'n';
      case 'object': case 'function': break;
      default: return classes.String(value);
    }
    if (value === null) return 'null';
    try {
      return writeObject(value, level, state);
    } catch {
      return '[an object that cannot be shown]';
    }
  }

  function numberText(number) {
    return number === 0 && 1 / number < 0 ? '-0' : '' + number;
  }

  // Strings.

  function writeString(text, state) {
    const rest = text.length > state.maxStringLength ? text.length - state.maxStringLength : 0;
    const shown = rest > 0 ? slice(text, 0, state.maxStringLength) : text;
    const ending = rest > 0 ? '... ' + rest + ' more character' + (rest > 1 ? 's' : '') : '';
    if (shown.length > 16 && shown.length > state.breakLength - state.indent - 4 && contains(shown, '\n')) return writeLines(shown, state) + ending;
    return quote(shown) + ending;
  }

  // writeLines breaks a long text at its line ends.
  function writeLines(text, state) {
    const lines = split(text, '\n');
    const quoted = list();
    for (let i = 0; i < lines.length; i++) {
      const line = i < lines.length - 1 ? lines[i] + '\n' : lines[i];
      if (line !== '') push(quoted, quote(line));
    }
    return join(quoted, ' +\n' + spaces(state.indent + 2));
  }

  const escapes = { __proto__: null, '\b': '\\b', '\t': '\\t', '\n': '\\n', '\f': '\\f', '\r': '\\r', '\\': '\\\\' };

  function quote(text) {
    let mark = "'";
    if (contains(text, "'")) {
      if (!contains(text, '"')) mark = '"';
      else if (!contains(text, '\x60') && !contains(text, '${')) mark = '\x60';
    }
    let out = mark;
    let from = 0;
    for (let i = 0; i < text.length; i++) {
      const code = charCodeAt(text, i);
      if (code >= 32 && code < 127 && code !== 92 && text[i] !== mark) continue;
      if (code >= 160 && !isLoneSurrogate(text, i, code)) continue;
      out += slice(text, from, i) + (text[i] === mark ? '\\' + mark : escapes[text[i]] ?? codeEscape(code));
      from = i + 1;
    }
    return out + slice(text, from) + mark;
  }

  function isLoneSurrogate(text, i, code) {
    if (code >= 0xd800 && code <= 0xdbff) return !(charCodeAt(text, i + 1) >= 0xdc00 && charCodeAt(text, i + 1) <= 0xdfff);
    if (code >= 0xdc00 && code <= 0xdfff) return !(i > 0 && charCodeAt(text, i - 1) >= 0xd800 && charCodeAt(text, i - 1) <= 0xdbff);
    return false;
  }

  function codeEscape(code) {
    const hex = '0123456789ABCDEF';
    const low = hex[code >> 4 & 15] + hex[code & 15];
    return code < 256 ? '\\x' + low : '\\u' + hex[code >> 12] + hex[code >> 8 & 15] + low;
  }

  // Objects.

  function writeObject(value, level, state) {
    for (let i = 0; i < state.open.length; i++) if (state.open[i] === value) return circular(value, state);
    const own = customText(value, level, state);
    if (own !== undefined) return own;
    const shape = shapeOf(value, state);
    if (shape.plain !== undefined) return shape.plain;
    if (level > state.depth) return '[' + nameFor(shape) + ']';
    push(state.open, value);
    state.level = level;
    let entries;
    try {
      entries = shape.entries(level, state);
    } finally {
      state.open.length--;
    }
    const reference = mapGet(state.circular, value);
    if (reference !== undefined) shape.head = '<ref *' + reference + '> ' + shape.head;
    return lay(shape, entries, level, state);
  }

  function circular(value, state) {
    if (mapGet(state.circular, value) === undefined) mapSet(state.circular, value, ++state.references);
    return '[Circular *' + mapGet(state.circular, value) + ']';
  }

  function customText(value, level, state) {
    const method = value[custom];
    if (typeof method !== 'function') return undefined;
    const text = apply(method, value, [state.depth - level, { depth: state.depth - level }, inspect]);
    return typeof text === 'string' ? text : write(text, level, state);
  }

  // nameFor is what stands for an object too deep to be shown.
  function nameFor(shape) {
    return shape.short;
  }

  // constructorName is "" for objects without a prototype.
  function constructorName(value) {
    for (let step = value; step !== null; step = getPrototypeOf(step)) {
      const found = getOwnPropertyDescriptor(step, 'constructor');
      if (found !== undefined && typeof found.value === 'function' && nameOf(found.value) !== '') return nameOf(found.value);
    }
    return '';
  }

  function nameOf(target) {
    const found = getOwnPropertyDescriptor(target, 'name');
    return found !== undefined && typeof found.value === 'string' ? found.value : '';
  }

  function tagOf(value, name) {
    let tag;
    try {
      tag = value[toStringTag];
    } catch {
      return '';
    }
    return typeof tag === 'string' && tag !== '' && tag !== name && !hasOwn(value, toStringTag) ? '[' + tag + '] ' : '';
  }

  // prefix is the head of an object's text: its class, its size, its tag.
  function prefix(value, fallback, size) {
    const name = constructorName(value);
    const count = size === undefined ? '' : '(' + size + ')';
    if (name === '') return '[' + fallback + count + ': null prototype] ' + tagOf(value, fallback);
    return name + count + ' ' + tagOf(value, name);
  }

  function shapeOf(value, state) {
    if (typeof value === 'function') return functionShape(value);
    if (isArray(value)) return arrayShape(value);
    const kind = kindOf(value);
    const make = kind === undefined ? undefined : shapes[kind];
    try {
      return make === undefined ? objectShape(value) : make(value, state) ?? objectShape(value);
    } catch {
      return objectShape(value);
    }
  }

  function shape(head, open, close, short, entries) {
    return { __proto__: null, head, open, close, short, entries, plain: undefined, array: false, numbers: false };
  }

  function plainShape(text) {
    return { __proto__: null, plain: text };
  }

  // textShape is a text of its own, followed by members only if there are any.
  function textShape(text, value, skip) {
    if (memberKeys(value, skip).length === 0) return plainShape(text);
    return shape(text + ' ', '{', '}', text, (level, state) => members(value, memberKeys(value, skip), level, state));
  }

  function objectShape(value) {
    const name = prefix(value, 'Object');
    const head = name === 'Object ' ? '' : name;
    return shape(head, '{', '}', slice(name, 0, name.length - 1), (level, state) => members(value, memberKeys(value), level, state));
  }

  function arrayShape(value) {
    const name = prefix(value, 'Array', value.length);
    const head = name === 'Array(' + value.length + ') ' ? '' : name;
    const made = shape(head, '[', ']', head === '' ? 'Array' : slice(name, 0, name.length - 1), (level, state) => items(value, level, state));
    made.array = true;
    made.numbers = allNumbers(value);
    return made;
  }

  function allNumbers(value) {
    for (let i = 0; i < value.length; i++) {
      const found = getOwnPropertyDescriptor(value, i);
      if (found === undefined || (typeof found.value !== 'number' && typeof found.value !== 'bigint')) return false;
      if (i > 100) break;
    }
    return true;
  }

  function functionShape(value) {
    const text = functionText(value);
    const name = nameOf(value);
    if (startsWith(text, 'class')) return textShape(classText(value, name), value);
    const kind = constructorName(value) || 'Function';
    return textShape('[' + kind + (name === '' ? ' (anonymous)' : ': ' + name) + ']', value);
  }

  function classText(value, name) {
    const parent = getPrototypeOf(value);
    const parentName = typeof parent === 'function' ? nameOf(parent) : '';
    return '[class ' + (name === '' ? '(anonymous)' : name) + (parentName === '' ? '' : ' extends ' + parentName) + ']';
  }

  const shapes = {
    __proto__: null,
    Map: (value) => {
      const pairs = list();
      mapEach(value, (item, key) => { push(pairs, key); push(pairs, item); });
      return shape(prefix(value, 'Map', pairs.length / 2), '{', '}', constructorName(value) || 'Map', (level, state) => mapEntries(value, pairs, level, state));
    },
    Set: (value) => {
      const found = collect(setEach, value);
      return shape(prefix(value, 'Set', found.length), '{', '}', constructorName(value) || 'Set', (level, state) => setEntries(value, found, level, state));
    },
    Date: (value) => textShape(dateValue(value) - dateValue(value) === 0 ? dateISO(value) : 'Invalid Date', value),
    RegExp: (value) => textShape(regExpText(value), value),
    Error: errorShape,
    Promise: (value) => shape(prefix(value, 'Promise'), '{', '}', 'Promise', () => one('<await it to see its value>')),
    WeakMap: (value) => shape(prefix(value, 'WeakMap'), '{', '}', 'WeakMap', () => one('<items unknown>')),
    WeakSet: (value) => shape(prefix(value, 'WeakSet'), '{', '}', 'WeakSet', () => one('<items unknown>')),
    Number: (value) => textShape('[Number: ' + numberText(numberValue(value)) + ']', value),
    Boolean: (value) => textShape('[Boolean: ' + booleanValue(value) + ']', value),
    BigInt: (value) => textShape('[BigInt: ' + bigintValue(value) + 'n]', value),
    String: (value) => textShape('[String: ' + quote(stringValue(value)) + ']', value, indexes),
    TypedArray: typedArrayShape,
    ArrayBuffer: bufferShape,
  };

  function one(text) {
    const entries = list();
    push(entries, text);
    return entries;
  }

  function typedArrayShape(value) {
    if (typedArrayName(value) === undefined) return undefined;
    const length = typedArrayLength(value);
    const made = shape(prefix(value, typedArrayName(value), length), '[', ']', typedArrayName(value), (level, state) => typedItems(value, length, level, state));
    made.array = true;
    made.numbers = true;
    return made;
  }

  function bufferShape(value) {
    const bytes = new classes.Uint8Array(value);
    const length = typedArrayLength(bytes);
    return shape(prefix(value, 'ArrayBuffer'), '{', '}', 'ArrayBuffer', () => {
      let text = '';
      for (let i = 0; i < length && i < 50; i++) text += (i === 0 ? '' : ' ') + hexByte(bytes[i]);
      const entries = one('[Uint8Contents]: <' + text + (length > 50 ? ' ... ' + (length - 50) + ' more byte' + (length > 51 ? 's' : '') : '') + '>');
      push(entries, 'byteLength: ' + length);
      return entries;
    });
  }

  function hexByte(byte) {
    return '0123456789abcdef'[byte >> 4] + '0123456789abcdef'[byte & 15];
  }

  // Errors show name, message and the script's frames, then what else they hold.
  const errorParts = { __proto__: null, stack: true, message: true, name: true };

  function errorShape(value, state) {
    const name = textOf(value, 'name', 'Error');
    const message = textOf(value, 'message', '');
    const frames = scriptFrames(stackOf(value));
    const title = message === '' ? name : name + ': ' + message;
    const text = frames === '' ? '[' + title + ']' : title + '\n' + slice(frames, 0, frames.length - 1);
    const indented = state.indent === 0 ? text : join(split(text, '\n'), '\n' + spaces(state.indent));
    return textShape(indented, value, errorParts);
  }

  // indexes stands for the keys that are places in a text.
  const indexes = { __proto__: null };

  // Entries.

  function memberKeys(value, skip) {
    const keys = ownKeys(value);
    const kept = list();
    for (let i = 0; i < keys.length; i++) {
      if (skip !== undefined && typeof keys[i] === 'string' && (skip === indexes ? isIndex(keys[i]) : skip[keys[i]])) continue;
      const found = getOwnPropertyDescriptor(value, keys[i]);
      const hiddenCause = skip !== undefined && (keys[i] === 'cause' || keys[i] === 'errors');
      if (found !== undefined && (found.enumerable || hiddenCause)) push(kept, keys[i]);
    }
    return kept;
  }

  function members(value, keys, level, state) {
    const entries = list();
    addMembers(entries, value, keys, level, state);
    return entries;
  }

  function addMembers(entries, value, keys, level, state) {
    for (let i = 0; i < keys.length; i++) {
      if (++state.entries > maxEntries) return void push(entries, '... ' + (keys.length - i) + ' more');
      push(entries, member(value, keys[i], level, state));
    }
  }

  function member(value, key, level, state) {
    const found = getOwnPropertyDescriptor(value, key);
    const text = found === undefined ? 'undefined' : propertyText(found, level, state);
    return keyText(key, found) + ': ' + text;
  }

  function propertyText(found, level, state) {
    if (hasOwn(found, 'value')) return nested(found.value, level, state);
    if (found.get === undefined) return found.set === undefined ? 'undefined' : '[Setter]';
    return found.set === undefined ? '[Getter]' : '[Getter/Setter]';
  }

  function nested(value, level, state) {
    state.indent += 2;
    const text = write(value, level + 1, state);
    state.indent -= 2;
    return text;
  }

  function keyText(key, found) {
    if (typeof key === 'symbol') return '[' + classes.String(key) + ']';
    if (key === '__proto__') return "['__proto__']";
    const text = isName(key) ? key : quote(key);
    return found !== undefined && !found.enumerable ? '[' + text + ']' : text;
  }

  function isName(key) {
    for (let i = 0; i < key.length; i++) {
      const code = charCodeAt(key, i);
      const letter = (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
      if (!letter && !(i > 0 && code >= 48 && code <= 57)) return false;
    }
    return key !== '';
  }

  function items(value, level, state) {
    const entries = list();
    let i = 0;
    while (i < value.length && entries.length < state.maxArrayLength && state.entries < maxEntries) {
      state.entries++;
      if (hasOwn(value, i)) push(entries, propertyText(getOwnPropertyDescriptor(value, i++), level, state));
      else i = holes(entries, value, i);
    }
    more(entries, value.length - i, state);
    addMembers(entries, value, extraKeys(value), level, state);
    return entries;
  }

  function holes(entries, value, from) {
    let to = from;
    while (to < value.length && to - from < 100000 && !hasOwn(value, to)) to++;
    if (to - from === 100000) to = value.length;
    push(entries, '<' + (to - from) + ' empty item' + (to - from > 1 ? 's' : '') + '>');
    return to;
  }

  function more(entries, rest) {
    if (rest <= 0) return;
    push(entries, '... ' + rest + ' more item' + (rest > 1 ? 's' : ''));
    entries.more = true;
  }

  function extraKeys(value) {
    const kept = list();
    const keys = ownKeys(value);
    for (let i = keys.length - 1; i >= 0; i--) {
      if (isIndex(keys[i])) break;
      const found = getOwnPropertyDescriptor(value, keys[i]);
      if (found !== undefined && found.enumerable) push(kept, keys[i]);
    }
    return reversed(kept);
  }

  function reversed(items) {
    const turned = list();
    for (let i = items.length - 1; i >= 0; i--) push(turned, items[i]);
    return turned;
  }

  function isIndex(key) {
    return typeof key === 'string' && key !== '' && charCodeAt(key, 0) >= 48 && charCodeAt(key, 0) <= 57;
  }

  function typedItems(value, length, level, state) {
    const entries = list();
    for (let i = 0; i < length && i < state.maxArrayLength; i++) push(entries, write(value[i], level, state));
    more(entries, length - entries.length);
    return entries;
  }

  function mapEntries(value, pairs, level, state) {
    const entries = list();
    for (let i = 0; i < pairs.length && entries.length < state.maxArrayLength && ++state.entries < maxEntries; i += 2) {
      push(entries, nested(pairs[i], level, state) + ' => ' + nested(pairs[i + 1], level, state));
    }
    more(entries, pairs.length / 2 - entries.length);
    addMembers(entries, value, memberKeys(value), level, state);
    return entries;
  }

  function setEntries(value, found, level, state) {
    const entries = list();
    for (let i = 0; i < found.length && i < state.maxArrayLength && ++state.entries < maxEntries; i++) push(entries, nested(found[i], level, state));
    more(entries, found.length - entries.length);
    addMembers(entries, value, memberKeys(value), level, state);
    return entries;
  }

  // textOfObject is what %s makes of an object: its own toString if it has one.
  function textOfObject(value) {
    try {
      const method = value.toString;
      if (typeof method === 'function' && method !== classes.Object.prototype.toString && method !== classes.Array.prototype.toString && kindOf(value) === undefined || kindOf(value) === 'Date') {
        return kindOf(value) === 'Date' ? inspect(value) : '' + apply(method, value, []);
      }
    } catch {
      // Shown like any other object.
    }
    return inspect(value, { __proto__: null, depth: 0 });
  }

  return { __proto__: null, inspect, textOfObject };
})
