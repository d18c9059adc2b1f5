// TextEncoder and TextDecoder after the WHATWG Encoding Standard, for UTF-8,
// UTF-16LE and windows-1252, which the web also calls latin1 and ascii.
(function () {
  'use strict';

  // The embedded engine does nothing byte by byte as fast as it converts base64,
  // so where it can, UTF-8 goes that way: percent-encoding makes the bytes, and
  // unescape makes characters of them that btoa takes.
  const { atob, btoa, escape, unescape } = globalThis;
  const canUseBase64 = typeof Uint8Array.fromBase64 === 'function' && typeof btoa === 'function' && typeof escape === 'function';

  // quickUTF8 returns undefined for bytes that are not UTF-8.
  function quickUTF8(bytes) {
    try {
      const characters = atob(bytes.toBase64());
      return /[\x80-\xff]/.test(characters) ? decodeURIComponent(escape(characters)) : characters;
    } catch {
      return undefined;
    }
  }

  class TextEncoder {
    get encoding() { return 'utf-8'; }

    encode(text = '') {
      const string = `${text}`;
      if (canUseBase64) return Uint8Array.fromBase64(btoa(unescape(encodeURIComponent(string.toWellFormed()))));
      const bytes = new Uint8Array(string.length * 3);
      return bytes.slice(0, writeUTF8(string, bytes).written);
    }

    encodeInto(text, bytes) {
      return writeUTF8(`${text}`, bytes);
    }
  }

  // writeUTF8 fills bytes as far as whole characters fit.
  function writeUTF8(text, bytes) {
    let read = 0;
    let written = 0;
    while (read < text.length) {
      let code = text.codePointAt(read);
      const units = code > 0xffff ? 2 : 1;
      if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
      const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
      if (written + size > bytes.length) break;
      if (size === 1) bytes[written] = code;
      else writeLong(bytes, written, code, size);
      read += units;
      written += size;
    }
    return { read, written };
  }

  function writeLong(bytes, at, code, size) {
    for (let i = size - 1; i > 0; i--) {
      bytes[at + i] = 0x80 | code & 0x3f;
      code >>= 6;
    }
    bytes[at] = (0xf00 >> size & 0xff) | code;
  }

  const labels = {
    __proto__: null,
    'utf-8': 'utf-8', utf8: 'utf-8', 'unicode-1-1-utf-8': 'utf-8',
    'utf-16le': 'utf-16le', 'utf-16': 'utf-16le', ucs2: 'utf-16le', 'ucs-2': 'utf-16le', unicode: 'utf-16le',
    'windows-1252': 'windows-1252', latin1: 'windows-1252', 'iso-8859-1': 'windows-1252', 'iso8859-1': 'windows-1252', ascii: 'windows-1252', 'us-ascii': 'windows-1252', cp1252: 'windows-1252',
  };

  class TextDecoder {
    #encoding; #fatal; #ignoreBOM;
    #pending = [];
    #started = false;

    constructor(label = 'utf-8', options = {}) {
      this.#encoding = labels[`${label}`.trim().toLowerCase()];
      if (this.#encoding === undefined) throw new RangeError(`The "${label}" encoding is not supported; use utf-8, utf-16le or latin1`);
      this.#fatal = Boolean(options?.fatal);
      this.#ignoreBOM = Boolean(options?.ignoreBOM);
    }

    get encoding() { return this.#encoding; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#ignoreBOM; }

    decode(input, options) {
      const stream = Boolean(options?.stream);
      const bytes = this.#pending.length === 0 ? bytesOf(input) : Uint8Array.of(...this.#pending, ...bytesOf(input));
      const quick = canUseBase64 && !stream && this.#encoding === 'utf-8' ? quickUTF8(bytes) : undefined;
      if (quick !== undefined) {
        this.#pending = [];
        return this.#withoutBOM(quick, stream);
      }
      const out = new Output();
      const read = decoders[this.#encoding](bytes, out, this.#fatal, stream);
      this.#pending = [...bytes.subarray(read)];
      return this.#withoutBOM(out.text(), stream);
    }

    #withoutBOM(text, stream) {
      const strip = !this.#started && !this.#ignoreBOM && this.#encoding !== 'windows-1252' && text[0] === '\ufeff';
      this.#started = stream && (this.#started || text !== '');
      return strip ? text.slice(1) : text;
    }
  }

  function bytesOf(input) {
    if (input === undefined) return new Uint8Array(0);
    if (ArrayBuffer.isView(input)) return new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    if (input instanceof ArrayBuffer) return new Uint8Array(input);
    throw new TypeError('TextDecoder.decode needs an ArrayBuffer or a typed array');
  }

  // Output collects characters and makes text of them a piece at a time.
  class Output {
    #text = '';
    #codes = [];

    push(code) {
      this.#codes.push(code);
      if (this.#codes.length === 4096) this.#flush();
    }

    #flush() {
      this.#text += String.fromCodePoint(...this.#codes);
      this.#codes = [];
    }

    text() {
      this.#flush();
      return this.#text;
    }
  }

  function invalid(out, fatal, encoding) {
    if (fatal) throw Object.assign(new TypeError(`The encoded data was not valid for encoding ${encoding}`), { code: 'ERR_ENCODING_INVALID_ENCODED_DATA' });
    out.push(0xfffd);
  }

  // decodeUTF8 returns how many bytes it used; when more may follow it leaves
  // the beginning of a character.
  function decodeUTF8(bytes, out, fatal, stream) {
    let i = 0;
    while (i < bytes.length) {
      const first = bytes[i];
      if (first < 0x80) {
        out.push(first);
        i++;
        continue;
      }
      const size = first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
      const good = size === 0 ? 0 : goodBytes(bytes, i, first, size);
      if (good < size && i + good === bytes.length && stream) return i;
      if (good === size && size > 0) out.push(join(bytes, i, first, size));
      else invalid(out, fatal, 'utf-8');
      i += good || 1;
    }
    return i;
  }

  // goodBytes counts the bytes from i on that may begin one character.
  function goodBytes(bytes, i, first, size) {
    const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    let good = 1;
    while (good < size && i + good < bytes.length) {
      const byte = bytes[i + good];
      if (byte < (good === 1 ? low : 0x80) || byte > (good === 1 ? high : 0xbf)) break;
      good++;
    }
    return good;
  }

  function join(bytes, i, first, size) {
    let code = first & (0x7f >> size);
    for (let k = 1; k < size; k++) code = code << 6 | bytes[i + k] & 0x3f;
    return code;
  }

  function decodeUTF16(bytes, out, fatal, stream) {
    let i = 0;
    for (; i + 1 < bytes.length; i += 2) {
      const unit = bytes[i] | bytes[i + 1] << 8;
      if (unit < 0xd800 || unit > 0xdfff) {
        out.push(unit);
        continue;
      }
      if (unit < 0xdc00 && i + 3 >= bytes.length && stream) return i;
      const next = i + 3 < bytes.length ? bytes[i + 2] | bytes[i + 3] << 8 : 0;
      if (unit < 0xdc00 && next >= 0xdc00 && next <= 0xdfff) {
        out.push(0x10000 + ((unit & 0x3ff) << 10 | next & 0x3ff));
        i += 2;
      } else {
        invalid(out, fatal, 'utf-16le');
      }
    }
    if (i < bytes.length && !stream) {
      invalid(out, fatal, 'utf-16le');
      i = bytes.length;
    }
    return i;
  }

  // What windows-1252 has in place of the C1 controls.
  const high1252 = '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

  function decode1252(bytes, out) {
    for (const byte of bytes) out.push(byte >= 0x80 && byte < 0xa0 ? high1252.charCodeAt(byte - 0x80) : byte);
    return bytes.length;
  }

  const decoders = { __proto__: null, 'utf-8': decodeUTF8, 'utf-16le': decodeUTF16, 'windows-1252': decode1252 };

  return { __proto__: null, TextEncoder, TextDecoder };
})
