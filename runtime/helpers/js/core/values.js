// Small operations on values that no pollution can redirect.

// own reads a property that the object itself has; inherited ones do not count.
function own(object, key) {
  return object !== null && typeof object === 'object' && hasOwn(object, key) ? object[key] : undefined;
}

// define sets a property of a script's object, past setters on its prototypes.
function define(object, key, value, enumerable = true) {
  defineProperty(object, key, { __proto__: null, value, enumerable, writable: true, configurable: true });
  return object;
}

// list makes an array for the helpers' own use; index and length are all it has.
function list() {
  const items = [];
  setPrototypeOf(items, null);
  return items;
}

function push(items, item) {
  items[items.length] = item;
}

function join(items, separator) {
  let text = '';
  for (let i = 0; i < items.length; i++) text += i === 0 ? items[i] : separator + items[i];
  return text;
}

// copy makes an array for the script from a list.
function copy(items) {
  const array = [];
  for (let i = 0; i < items.length; i++) define(array, i, items[i]);
  return array;
}

function startsWith(text, start) {
  return slice(text, 0, start.length) === start;
}

function endsWith(text, end) {
  return text.length >= end.length && slice(text, text.length - end.length) === end;
}

function contains(text, part) {
  return indexOf(text, part) >= 0;
}

function split(text, separator) {
  const parts = list();
  let from = 0;
  for (let at = indexOf(text, separator); at >= 0; at = indexOf(text, separator, from)) {
    push(parts, slice(text, from, at));
    from = at + separator.length;
  }
  push(parts, slice(text, from));
  return parts;
}

function cut(text, max) {
  return text.length <= max ? text : slice(text, 0, max) + '… (' + (text.length - max) + ' more characters)';
}

// trusted makes a promise of ours safe to await: without a constructor of its
// own, await would ask Promise.prototype, which scripts can change.
function trusted(promise) {
  return define(promise, 'constructor', Promise, false);
}

// describe says what a value is, for error messages.
function describe(value) {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'the string ' + jsonStringify(cut(value, 60));
  if (typeof value === 'object') return isArray(value) ? 'an array' : 'an object';
  if (typeof value === 'undefined') return 'undefined';
  return typeof value === 'function' || typeof value === 'symbol' ? 'a ' + (typeof value) : 'the ' + (typeof value) + ' ' + String(value);
}
