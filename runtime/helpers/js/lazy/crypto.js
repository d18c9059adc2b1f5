// Randomness, all of it from the host: the engine's own generator starts from
// the clock and repeats itself in engines copied from one template.
(function (core) {
  'use strict';
  const { random, typedArrayName, typedArrayLength, classes, TypeError, RangeError, Error, imul } = core;

  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const hex = '0123456789abcdef';
  const values = { __proto__: null };
  for (let i = 0; i < 64; i++) values[digits[i]] = i;

  // randomBytes returns count bytes from the host.
  function randomBytes(count) {
    const text = random(count);
    const bytes = new classes.Uint8Array(count);
    for (let i = 0, from = 0; i < count; i += 3, from += 4) {
      const group = values[text[from]] << 18 | values[text[from + 1]] << 12 | (values[text[from + 2]] ?? 0) << 6 | (values[text[from + 3]] ?? 0);
      bytes[i] = group >> 16;
      if (i + 1 < count) bytes[i + 1] = group >> 8 & 255;
      if (i + 2 < count) bytes[i + 2] = group & 255;
    }
    return bytes;
  }

  const integers = { __proto__: null, Int8Array: 1, Uint8Array: 1, Uint8ClampedArray: 1, Int16Array: 1, Uint16Array: 1, Int32Array: 1, Uint32Array: 1, BigInt64Array: 1, BigUint64Array: 1 };

  function getRandomValues(array) {
    if (integers[typedArrayName(array)] === undefined) throw new TypeError('crypto.getRandomValues needs an integer typed array');
    const bytes = new classes.Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    const count = typedArrayLength(bytes);
    if (count > 65536) throw new RangeError('crypto.getRandomValues fills at most 65536 bytes, not ' + count);
    const fresh = randomBytes(count);
    for (let i = 0; i < count; i++) bytes[i] = fresh[i];
    return array;
  }

  // randomUUID makes a version 4 UUID (RFC 9562).
  function randomUUID() {
    const bytes = randomBytes(16);
    bytes[6] = bytes[6] & 15 | 64;
    bytes[8] = bytes[8] & 63 | 128;
    let text = '';
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
      text += hex[bytes[i] >> 4] + hex[bytes[i] & 15];
    }
    return text;
  }

  // nextRandom is Math.random: xoshiro128** (Blackman and Vigna), 53 bits from
  // two steps, seeded by the host at its first use.
  let a, b, c, d;
  let seeded = false;

  function seed() {
    const words = new classes.Uint8Array(randomBytes(16));
    const word = (i) => words[i] | words[i + 1] << 8 | words[i + 2] << 16 | words[i + 3] << 24;
    a = word(0); b = word(4); c = word(8); d = word(12) | 1;
    seeded = true;
  }

  function step() {
    let out = imul(b, 5);
    out = imul(out << 7 | out >>> 25, 9);
    const t = b << 9;
    c ^= a; d ^= b; b ^= c; a ^= d; c ^= t;
    d = d << 11 | d >>> 21;
    return out >>> 0;
  }

  function nextRandom() {
    if (!seeded) seed();
    return ((step() >>> 5) * 67108864 + (step() >>> 6)) / 9007199254740992;
  }

  function randomInt(low, high) {
    const from = high === undefined ? 0 : low;
    const to = high === undefined ? low : high;
    return from + core.floor(nextRandom() * (to - from));
  }

  function missing(name) {
    const error = new Error('crypto.' + name + ' is not available; of crypto there are randomUUID, getRandomValues, randomBytes and randomInt');
    throw error;
  }

  const crypto = {
    randomUUID,
    getRandomValues,
    randomInt,
    randomBytes: (count) => core.load('buffer').Buffer.from(randomBytes(count).buffer),
    createHash() { return missing('createHash'); },
    createHmac() { return missing('createHmac'); },
    get subtle() { return missing('subtle'); },
  };
  return { __proto__: null, crypto, nextRandom };
})
