// Objects that are more than their members: how each becomes JSON.

let kinds;

// kindOf names the built-in class an object comes from, by its prototypes.
function kindOf(value) {
  kinds ??= collectKinds();
  for (let step = getPrototypeOf(value); step !== null; step = getPrototypeOf(step)) {
    const kind = mapGet(kinds, step);
    if (kind !== undefined) return kind;
  }
  return undefined;
}

function collectKinds() {
  const found = new Map();
  const names = ['Map', 'Set', 'Date', 'Error', 'Promise', 'RegExp', 'WeakMap', 'WeakSet', 'WeakRef', 'Number', 'String', 'Boolean', 'BigInt', 'Symbol', 'ArrayBuffer'];
  for (let i = 0; i < names.length; i++) mapSet(found, classes[names[i]].prototype, names[i]);
  mapSet(found, TypedArray.prototype, 'TypedArray');
  mapSet(found, iteratorPrototype, 'Iterator');
  mapSet(found, asyncGeneratorPrototype, 'Iterator');
  return found;
}

// The classes themselves are captured; their prototype properties are read-only.
const classes = {
  __proto__: null, Object, Array, Map, Set, Date, Error, Promise, Number, String, Symbol, RegExp,
  WeakMap, WeakSet, WeakRef, Boolean, BigInt, ArrayBuffer, Uint8Array,
};
const asyncGeneratorPrototype = getPrototypeOf(getPrototypeOf(async function* () {}.prototype));

// encodeSpecial returns undefined for objects that are only their members.
function encodeSpecial(value, state) {
  const kind = kindOf(value);
  switch (kind) {
    case 'Promise': throw unfit(state, 'is a Promise', 'await it first');
    case 'Iterator': throw unfit(state, 'is an iterator', 'collect it with Array.from() or [...it]');
    case 'WeakMap': case 'WeakSet': case 'WeakRef': case 'Symbol':
      throw unfit(state, 'is a ' + kind, 'use plain data');
    case undefined: return undefined;
  }
  if (typeof value.toJSON === 'function' && kind !== 'Date') return undefined;
  return encoders[kind](value, state);
}

const encoders = {
  __proto__: null,
  Map: encodeMap,
  Set: (value, state) => encodeList(collect(setEach, value), state),
  Date: (value) => (dateValue(value) - dateValue(value) === 0 ? '"' + dateISO(value) + '"' : 'null'),
  Error: encodeError,
  RegExp: (value) => jsonStringify(regExpText(value)),
  Number: (value, state) => encodeValue(numberValue(value), state),
  String: (value) => jsonStringify(stringValue(value)),
  Boolean: (value) => (booleanValue(value) ? 'true' : 'false'),
  BigInt: (value, state) => state.writeBigInt(bigintValue(value)),
  TypedArray: (value, state) => encodeItems(value, typedArrayLength(value), state),
  ArrayBuffer: (value, state) => encoders.TypedArray(new classes.Uint8Array(value), state),
};

function collect(each, container) {
  const items = list();
  each(container, (item) => push(items, item));
  return items;
}

function encodeList(items, state) {
  return encodeItems(items, items.length, state);
}

// encodeMap writes an object when all keys are strings or numbers, otherwise
// a list of pairs.
function encodeMap(map, state) {
  const keys = list();
  const values = list();
  let simple = true;
  mapEach(map, (value, key) => {
    simple &&= typeof key === 'string' || typeof key === 'number';
    push(keys, key);
    push(values, value);
  });
  return simple ? encodeEntries(keys, values, state) : encodePairs(keys, values, state);
}

function encodeEntries(keys, values, state) {
  let text = '';
  for (let i = 0; i < keys.length; i++) {
    const member = encodeAt(values[i], '' + keys[i], state);
    if (member !== undefined) text += (text === '' ? '' : ',') + jsonStringify('' + keys[i]) + ':' + member;
  }
  return '{' + text + '}';
}

function encodePairs(keys, values, state) {
  let text = '';
  for (let i = 0; i < keys.length; i++) {
    const key = encodeAt(keys[i], i, state) ?? 'null';
    text += (i === 0 ? '' : ',') + '[' + key + ',' + (encodeAt(values[i], i, state) ?? 'null') + ']';
  }
  return '[' + text + ']';
}

function encodeError(error, state) {
  const members = encodeMembers(error, state);
  const head = '"name":' + jsonStringify(textOf(error, 'name', 'Error')) + ',"message":' + jsonStringify(textOf(error, 'message', ''));
  return members === '{}' ? '{' + head + '}' : '{' + head + ',' + slice(members, 1);
}

// textOf reads a property that ought to be a string from an object that may lie.
function textOf(object, key, fallback) {
  try {
    const value = object[key];
    return typeof value === 'string' ? value : fallback;
  } catch {
    return fallback;
  }
}
