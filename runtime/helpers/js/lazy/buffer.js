// The part of Node's Buffer that scripts use: making, joining, comparing and
// reading bytes, and text in the common encodings.
(function (core) {
  'use strict';
  const { TextEncoder, TextDecoder } = core.load('encoding');
  const encoder = new TextEncoder();

  const names = {
    __proto__: null,
    utf8: 'utf8', 'utf-8': 'utf8', hex: 'hex', base64: 'base64', base64url: 'base64url',
    latin1: 'latin1', binary: 'latin1', ascii: 'ascii', utf16le: 'utf16le', 'utf-16le': 'utf16le', ucs2: 'utf16le', 'ucs-2': 'utf16le',
  };

  function encodingName(encoding) {
    const name = names[`${encoding ?? 'utf8'}`.toLowerCase()];
    if (name === undefined) throw Object.assign(new TypeError(`Unknown encoding: ${encoding}`), { code: 'ERR_UNKNOWN_ENCODING' });
    return name;
  }

  const readers = {
    __proto__: null,
    utf8: (text) => encoder.encode(text),
    hex: bytesOfHex,
    base64: bytesOfBase64,
    base64url: bytesOfBase64,
    latin1: unitsOf,
    ascii: unitsOf,
    utf16le: (text) => new Uint8Array(Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i)).buffer),
  };

  const writers = {
    __proto__: null,
    utf8: (bytes) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes),
    hex: (bytes) => Array.from(bytes, (byte) => (byte < 16 ? '0' : '') + byte.toString(16)).join(''),
    base64: base64Of,
    base64url: (bytes) => base64Of(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
    latin1: (bytes) => charactersOf(bytes, 0xff),
    ascii: (bytes) => charactersOf(bytes, 0x7f),
    utf16le: (bytes) => charactersOf(new Uint16Array(bytes.slice(0, bytes.length & ~1).buffer), 0xffff),
  };

  function unitsOf(text) {
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  function charactersOf(codes, mask) {
    let text = '';
    for (const code of codes) text += String.fromCharCode(code & mask);
    return text;
  }

  function bytesOfHex(text) {
    const bytes = [];
    for (let i = 0; i + 1 < text.length; i += 2) {
      const pair = text.slice(i, i + 2);
      if (!/^[0-9a-f]{2}$/i.test(pair)) break;
      bytes.push(parseInt(pair, 16));
    }
    return Uint8Array.from(bytes);
  }

  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const sextets = { __proto__: null, '-': 62, _: 63 };
  for (let i = 0; i < 64; i++) sextets[alphabet[i]] = i;

  // bytesOfBase64 takes both alphabets and passes over what is in neither.
  function bytesOfBase64(text) {
    try {
      if (typeof Uint8Array.fromBase64 === 'function') return Uint8Array.fromBase64(text);
    } catch {
      // Not quite base64: the characters are looked at one by one.
    }
    const bytes = new Uint8Array(Math.ceil(text.length * 3 / 4));
    let bits = 0;
    let held = 0;
    let length = 0;
    for (const character of text) {
      if (character === '=') break;
      const sextet = sextets[character];
      if (sextet === undefined) continue;
      bits = (bits << 6 | sextet) & 0xffffff;
      held += 6;
      if (held < 8) continue;
      held -= 8;
      bytes[length++] = bits >> held;
    }
    return bytes.slice(0, length);
  }

  // base64Of writes any bytes: typed arrays, DataView, ArrayBuffer.
  function base64Of(data) {
    const bytes = viewOf(data);
    if (typeof bytes.toBase64 === 'function') return bytes.toBase64();
    let text = '';
    for (let i = 0; i < bytes.length; i += 3) {
      const group = bytes[i] << 16 | (bytes[i + 1] ?? 0) << 8 | (bytes[i + 2] ?? 0);
      const rest = bytes.length - i;
      text += alphabet[group >> 18] + alphabet[group >> 12 & 63] + (rest > 1 ? alphabet[group >> 6 & 63] : '=') + (rest > 2 ? alphabet[group & 63] : '=');
    }
    return text;
  }

  function viewOf(data) {
    return ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  }

  class Buffer extends Uint8Array {
    static from(value, encodingOrOffset, length) {
      if (typeof value === 'string') return own(readers[encodingName(encodingOrOffset)](value));
      if (value instanceof ArrayBuffer) return new Buffer(value, encodingOrOffset, length);
      if (value?.type === 'Buffer' && Array.isArray(value.data)) return Buffer.from(value.data);
      if (value === null || typeof value !== 'object') throw Object.assign(new TypeError(`Buffer.from needs a string, bytes or an array, not ${core.describe(value)}`), { code: 'ERR_INVALID_ARG_TYPE' });
      return own(Uint8Array.from(value));
    }

    static of(...bytes) { return Buffer.from(bytes); }

    static alloc(size, fill, encoding) {
      const buffer = new Buffer(size);
      return fill === undefined ? buffer : buffer.fill(fill, 0, size, encoding);
    }

    static allocUnsafe(size) { return new Buffer(size); }
    static isBuffer(value) { return value instanceof Buffer; }
    static isEncoding(name) { return names[`${name}`.toLowerCase()] !== undefined; }
    static byteLength(value, encoding) { return typeof value === 'string' ? readers[encodingName(encoding)](value).length : value.byteLength; }
    static compare(a, b) { return compareBytes(a, b); }

    static concat(parts, total = parts.reduce((sum, part) => sum + part.length, 0)) {
      const joined = Buffer.alloc(total);
      let at = 0;
      for (const part of parts) {
        joined.set(part.subarray(0, Math.max(0, total - at)), Math.min(at, total));
        at += part.length;
      }
      return joined;
    }

    toString(encoding, start = 0, end = this.length) {
      return writers[encodingName(encoding)](viewOf(this.subarray(start, end)));
    }

    toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
    equals(other) { return compareBytes(this, other) === 0; }
    compare(other) { return compareBytes(this, other); }
    slice(start, end) { return this.subarray(start, end); }

    write(text, offset = 0, length = this.length - offset, encoding = 'utf8') {
      if (typeof offset === 'string') return this.write(text, 0, this.length, offset);
      if (typeof length === 'string') return this.write(text, offset, this.length - offset, length);
      const bytes = readers[encodingName(encoding)](text).subarray(0, Math.min(length, this.length - offset));
      this.set(bytes, offset);
      return bytes.length;
    }

    fill(value, start = 0, end = this.length, encoding = 'utf8') {
      if (typeof value !== 'string') return super.fill(value, start, end);
      const bytes = readers[encodingName(encoding)](value);
      for (let i = start; i < end; i++) this[i] = bytes.length === 0 ? 0 : bytes[(i - start) % bytes.length];
      return this;
    }

    copy(target, targetStart = 0, start = 0, end = this.length) {
      const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
      target.set(part, targetStart);
      return part.length;
    }

    indexOf(value, from = 0, encoding = 'utf8') {
      if (typeof value === 'number') return super.indexOf(value & 255, from);
      const wanted = typeof value === 'string' ? readers[encodingName(encoding)](value) : value;
      for (let i = from; i + wanted.length <= this.length; i++) {
        if (wanted.every((byte, k) => this[i + k] === byte)) return i;
      }
      return -1;
    }

    includes(value, from, encoding) { return this.indexOf(value, from, encoding) >= 0; }

    [Symbol.for('nodejs.util.inspect.custom')]() {
      const shown = Array.from(this.subarray(0, 50), (byte) => (byte < 16 ? '0' : '') + byte.toString(16)).join(' ');
      const rest = this.length - 50;
      return `<Buffer ${shown}${rest > 0 ? ` ... ${rest} more byte${rest > 1 ? 's' : ''}` : ''}>`;
    }
  }

  // own makes a Buffer of fresh bytes without copying them.
  function own(bytes) {
    return new Buffer(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  function compareBytes(a, b) {
    for (let i = 0; i < a.length && i < b.length; i++) {
      if (a[i] !== b[i]) return a[i] < b[i] ? -1 : 1;
    }
    return Math.sign(a.length - b.length);
  }

  // Numbers: readUInt16LE and its family, by way of DataView.
  const numbers = { Int8: 1, Uint8: 1, Int16: 2, Uint16: 2, Int32: 4, Uint32: 4, Float32: 4, Float64: 8, BigInt64: 8, BigUint64: 8 };
  const nodeNames = { __proto__: null, Uint8: 'UInt8', Uint16: 'UInt16', Uint32: 'UInt32', Float32: 'Float', Float64: 'Double', BigUint64: 'BigUInt64' };

  function addNumber(type, size, ending, little) {
    const name = (nodeNames[type] ?? type) + ending;
    const add = (key, value) => Object.defineProperty(Buffer.prototype, key, { value, writable: true, configurable: true });
    add(`read${name}`, function (offset = 0) {
      return dataView(this, offset, size)[`get${type}`](offset, little);
    });
    add(`write${name}`, function (value, offset = 0) {
      dataView(this, offset, size)[`set${type}`](offset, value, little);
      return offset + size;
    });
  }

  function dataView(buffer, offset, size) {
    if (!(offset >= 0 && offset + size <= buffer.length)) {
      throw Object.assign(new RangeError(`The offset ${offset} is outside the Buffer of ${buffer.length} bytes`), { code: 'ERR_OUT_OF_RANGE' });
    }
    return new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }

  for (const [type, size] of Object.entries(numbers)) {
    if (size === 1) {
      addNumber(type, size, '', true);
    } else {
      addNumber(type, size, 'LE', true);
      addNumber(type, size, 'BE', false);
    }
  }

  return { __proto__: null, Buffer, base64Of };
})
