// Writing JSON: results of scripts and arguments of tools. Unlike
// JSON.stringify it refuses what would vanish silently, names the place, keeps
// the digits of a BigInt, and knows Map, Set, Error and typed arrays.

const maxDepth = 128;
const maxNodes = 1000000;

// encode returns the JSON of value, or undefined for undefined. root names the
// value in errors; writeBigInt decides how a BigInt looks.
function encode(value, root, writeBigInt) {
  return encodeValue(value, { __proto__: null, path: list(), open: list(), nodes: 0, root, writeBigInt });
}

function encodeValue(value, state) {
  if (++state.nodes > maxNodes) throw unfit(state, 'is beyond the first ' + maxNodes + ' values', 'write the data to a file in /workspace and use a summary');
  switch (typeof value) {
    case 'string': return jsonStringify(value);
    case 'number': return value - value === 0 ? '' + value : 'null';
    case 'boolean': return value ? 'true' : 'false';
    case 'bigint': return state.writeBigInt(value);
    case 'undefined': return undefined;
    case 'object': return value === null ? 'null' : encodeObject(value, state);
    default: throw unfit(state, 'is a ' + (typeof value), 'use plain data');
  }
}

function encodeObject(value, state) {
  enter(value, state);
  const text = encodeOpen(value, state);
  state.open.length--;
  return text;
}

// enter checks the depth and that value is not inside itself.
function enter(value, state) {
  for (let i = 0; i < state.open.length; i++) {
    if (state.open[i] === value) throw unfit(state, 'refers back to ' + placeOf(state, i), 'JSON has no cycles');
  }
  if (state.open.length >= maxDepth) throw unfit(state, 'is nested more than ' + maxDepth + ' levels deep', 'flatten it');
  push(state.open, value);
}

function encodeOpen(value, state) {
  if (isArray(value)) return encodeItems(value, value.length, state);
  const prototype = getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    const special = encodeSpecial(value, state);
    if (special !== undefined) return special;
  }
  const toJSON = value.toJSON;
  if (typeof toJSON === 'function' && toJSON !== Object.prototype.toJSON) return encodeStandIn(apply(toJSON, value, ['']), state);
  return encodeMembers(value, state);
}

// encodeStandIn writes what toJSON gave instead of the object; giving undefined
// is as good as null.
function encodeStandIn(value, state) {
  return encodeValue(value, state) ?? 'null';
}

function encodeItems(items, length, state) {
  let text = '[';
  for (let i = 0; i < length; i++) {
    const item = encodeAt(items[i], i, state) ?? 'null';
    text += i === 0 ? item : ',' + item;
  }
  return text + ']';
}

function encodeMembers(value, state) {
  const keys = objectKeys(value);
  let text = '';
  for (let i = 0; i < keys.length; i++) {
    const member = encodeAt(value[keys[i]], keys[i], state);
    if (member !== undefined) text += (text === '' ? '' : ',') + jsonStringify(keys[i]) + ':' + member;
  }
  return '{' + text + '}';
}

// encodeAt writes a member. Texts and numbers, which most members are, need no
// path.
function encodeAt(value, key, state) {
  if (typeof value === 'string' && ++state.nodes <= maxNodes) return jsonStringify(value);
  if (typeof value === 'number' && ++state.nodes <= maxNodes) return value - value === 0 ? '' + value : 'null';
  push(state.path, key);
  const text = encodeValue(value, state);
  state.path.length--;
  return text;
}

function unfit(state, what, advice) {
  return new TypeError(placeOf(state, state.path.length) + ' ' + what + ' and cannot become JSON; ' + advice);
}

// placeOf writes the first steps of the path as a script would: rows[3].name.
function placeOf(state, steps) {
  let text = state.root;
  for (let i = 0; i < steps && i < state.path.length; i++) {
    const step = state.path[i];
    text += typeof step === 'number' ? '[' + step + ']' : '.' + cut(step, 60);
  }
  return text;
}

function bigintAsString(value) {
  return '"' + value + '"';
}

function bigintAsNumber(value) {
  return '' + value;
}
