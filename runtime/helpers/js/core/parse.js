// Reading JSON without losing digits.

const maxSafe = 9007199254740991;

// parseJSON is JSON.parse, except that whole numbers beyond 2^53, which a
// JavaScript number cannot hold, become strings of their digits. BigInt(text)
// makes a number of them again, and a BigInt among a tool's arguments is sent
// as a bare number.
function parseJSON(text) {
  const value = jsonParse(text);
  return holdsUnsafeNumber(value) ? jsonParse(text, keepDigits) : value;
}

function keepDigits(key, value, context) {
  if (typeof value !== 'number' || !isUnsafe(value)) return value;
  const source = own(context, 'source');
  return typeof source === 'string' && isInteger(source) ? source : value;
}

function isUnsafe(number) {
  return number > maxSafe || number < -maxSafe;
}

function isInteger(source) {
  for (let i = source[0] === '-' ? 1 : 0; i < source.length; i++) {
    const code = charCodeAt(source, i);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

// holdsUnsafeNumber keeps its own stack: text may nest deeper than calls can.
function holdsUnsafeNumber(root) {
  const open = list();
  if (look(open, root)) return true;
  while (open.length > 0) {
    const value = open[open.length - 1];
    open.length--;
    const keys = isArray(value) ? undefined : objectKeys(value);
    const count = keys === undefined ? value.length : keys.length;
    for (let i = 0; i < count; i++) {
      if (look(open, value[keys === undefined ? i : keys[i]])) return true;
    }
  }
  return false;
}

// look tells whether a value is an unsafe number, and leaves what has members for
// later.
function look(open, value) {
  if (typeof value === 'number') return isUnsafe(value);
  if (typeof value === 'object' && value !== null) push(open, value);
  return false;
}
