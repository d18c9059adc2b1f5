// The parts of the language that the helpers stand on, taken before any script
// runs. Scripts may redefine or pollute everything they can reach; the helpers
// keep working because they call these and look nothing up on a prototype.
//
// House rules that follow from it, for everything under core/ and for the
// helpers (console, fs, require, timers) under lazy/: records have a null
// prototype; lists are walked by index; no spread, no array destructuring, no
// for-of, no regular expression methods, no instanceof, no template literals (the
// embedded engine runs them through String.prototype.concat); promises are awaited
// through trusted().
const { apply, ownKeys, getPrototypeOf, setPrototypeOf, defineProperty, getOwnPropertyDescriptor } = Reflect;
const { Object, Array, String, Number, Symbol, Date, Map, Set, Promise, Error, TypeError, RangeError, SyntaxError, Proxy, parseInt, parseFloat } = globalThis;
const { round, floor, sqrt, imul } = Math;
const { keys: objectKeys, hasOwn } = Object;
const { isArray } = Array;
const { stringify: jsonStringify, parse: jsonParse } = JSON;
const { encodeURIComponent } = globalThis;

const dateNow = Date.now;
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
const slice = uncurry(String.prototype.slice);
const indexOf = uncurry(String.prototype.indexOf);
const charCodeAt = uncurry(String.prototype.charCodeAt);
const inherits = uncurry(Object.prototype.isPrototypeOf);
const dateValue = uncurry(Date.prototype.getTime);
const dateISO = uncurry(Date.prototype.toISOString);
const mapGet = uncurry(Map.prototype.get);
const mapSet = uncurry(Map.prototype.set);
const mapDelete = uncurry(Map.prototype.delete);
const mapEach = uncurry(Map.prototype.forEach);
const setEach = uncurry(Set.prototype.forEach);
const regExpText = uncurry(RegExp.prototype.toString);
const functionText = uncurry(Function.prototype.toString);
const numberValue = uncurry(Number.prototype.valueOf);
const stringValue = uncurry(String.prototype.valueOf);
const booleanValue = uncurry(Boolean.prototype.valueOf);
const bigintValue = uncurry(BigInt.prototype.valueOf);
const TypedArray = getPrototypeOf(Uint8Array);
const typedArrayName = uncurry(getOwnPropertyDescriptor(TypedArray.prototype, Symbol.toStringTag).get);
const typedArrayLength = uncurry(getOwnPropertyDescriptor(TypedArray.prototype, 'length').get);
const iteratorPrototype = getPrototypeOf(getPrototypeOf([][Symbol.iterator]()));

// Setting this would hand scripts the helpers' own functions, frame by frame.
defineProperty(Error, 'prepareStackTrace', { __proto__: null, get() {}, set() {}, configurable: false });
