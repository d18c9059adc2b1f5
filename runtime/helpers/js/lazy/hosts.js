// Percent-encoding and the hosts of URLs, after the WHATWG URL Standard.
// International domain names are lower-cased, normalized (NFKC) and written in
// Punycode; the standard's full mapping table is left out.
(function (core) {
  'use strict';
  const { TextEncoder, TextDecoder } = core.load('encoding');
  const utf8 = new TextEncoder();
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  const forbiddenHost = '\0\t\n\r #/:<>?@[\\]^|';

  function percent(text, set) {
    let out = '';
    for (const character of text) {
      const code = character.codePointAt(0);
      if (code >= 0x20 && code <= 0x7e && !set.includes(character)) out += character;
      else for (const byte of utf8.encode(character)) out += `%${byte < 16 ? '0' : ''}${byte.toString(16).toUpperCase()}`;
    }
    return out;
  }

  function percentDecode(text) {
    const bytes = [];
    const raw = utf8.encode(text);
    for (let i = 0; i < raw.length; i++) {
      const pair = raw[i] === 0x25 ? String.fromCharCode(raw[i + 1] ?? 0, raw[i + 2] ?? 0) : '';
      if (/^[0-9a-f]{2}$/i.test(pair)) {
        bytes.push(parseInt(pair, 16));
        i += 2;
      } else {
        bytes.push(raw[i]);
      }
    }
    return Uint8Array.from(bytes);
  }

  class Invalid extends Error {}

  function bad() {
    throw new Invalid();
  }

  // Hosts.

  function parseHost(text, special) {
    if (text[0] === '[') {
      if (!text.endsWith(']')) bad();
      return `[${writeIPv6(parseIPv6(text.slice(1, -1)))}]`;
    }
    if (!special) {
      if ([...text].some((character) => forbiddenHost.includes(character))) bad();
      return percent(text, '');
    }
    const domain = toASCII(decoder.decode(percentDecode(text)));
    if (domain === '' || [...domain].some((character) => character <= ' ' || character === '\x7f' || character === '%' || forbiddenHost.includes(character))) bad();
    return endsInNumber(domain) ? writeIPv4(parseIPv4(domain)) : domain;
  }

  function toASCII(domain) {
    const plain = domain.normalize('NFKC').toLowerCase().replace(/[\u3002\uff0e\uff61]/g, '.').replace(/\u00ad|\u200b|\u2060|\ufeff/g, '').normalize('NFC');
    return plain.split('.').map((label) => (/[^\0-\x7f]/.test(label) ? `xn--${punycode(label)}` : label)).join('.');
  }

  // punycode writes a label as RFC 3492 has it; the constants are its own.
  function punycode(label) {
    const points = Array.from(label, (character) => character.codePointAt(0));
    const basic = points.filter((point) => point < 128);
    let out = String.fromCharCode(...basic) + (basic.length > 0 ? '-' : '');
    let n = 128;
    let delta = 0;
    let bias = 72;
    for (let handled = basic.length; handled < points.length; n++, delta++) {
      const next = Math.min(...points.filter((point) => point >= n));
      delta += (next - n) * (handled + 1);
      n = next;
      for (const point of points) {
        if (point < n) delta++;
        if (point !== n) continue;
        out += variableLength(delta, bias);
        bias = adapt(delta, handled + 1, handled === basic.length);
        delta = 0;
        handled++;
      }
    }
    return out;
  }

  function variableLength(delta, bias) {
    let out = '';
    for (let k = 36; ; k += 36) {
      const threshold = k <= bias ? 1 : k >= bias + 26 ? 26 : k - bias;
      if (delta < threshold) return out + digit(delta);
      out += digit(threshold + (delta - threshold) % (36 - threshold));
      delta = Math.floor((delta - threshold) / (36 - threshold));
    }
  }

  function digit(value) {
    return String.fromCharCode(value < 26 ? 97 + value : 22 + value);
  }

  function adapt(delta, count, first) {
    let rest = Math.floor(first ? delta / 700 : delta / 2);
    rest += Math.floor(rest / count);
    let k = 0;
    for (; rest > 455; k += 36) rest = Math.floor(rest / 35);
    return k + Math.floor(36 * rest / (rest + 38));
  }

  function endsInNumber(domain) {
    const parts = domain.split('.');
    if (parts.at(-1) === '' && parts.length > 1) parts.pop();
    return /^[0-9]+$/.test(parts.at(-1)) || /^0x[0-9a-f]*$/i.test(parts.at(-1));
  }

  function parseIPv4(text) {
    const parts = text.split('.');
    if (parts.at(-1) === '' && parts.length > 1) parts.pop();
    if (parts.length > 4) bad();
    const numbers = parts.map(parseIPv4Part);
    const last = numbers.pop();
    if (numbers.some((number) => number > 255) || last >= 256 ** (4 - numbers.length)) bad();
    return numbers.reduce((sum, number, i) => sum + number * 256 ** (3 - i), last);
  }

  function parseIPv4Part(part) {
    if (part === '') bad();
    const radix = /^0x/i.test(part) ? 16 : part.length > 1 && part[0] === '0' ? 8 : 10;
    const digits = radix === 16 ? part.slice(2) : radix === 8 ? part.slice(1) : part;
    if (digits === '') return 0;
    if (!{ 16: /^[0-9a-f]+$/i, 10: /^[0-9]+$/, 8: /^[0-7]+$/ }[radix].test(digits)) bad();
    return parseInt(digits, radix);
  }

  function writeIPv4(number) {
    return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
  }

  function parseIPv6(text) {
    const halves = text.split('::');
    if (halves.length > 2) bad();
    const [head, tail] = halves.map((half, i) => piecesOf(half, i === halves.length - 1));
    if (tail === undefined) return head.length === 8 ? head : bad();
    const gap = 8 - head.length - tail.length;
    if (gap < 1) bad();
    return [...head, ...Array(gap).fill(0), ...tail];
  }

  function piecesOf(half, mayHoldIPv4) {
    if (half === '') return [];
    const texts = half.split(':');
    const pieces = [];
    texts.forEach((text, i) => {
      if (text.includes('.') && mayHoldIPv4 && i === texts.length - 1) pieces.push(...ipv4Pieces(text));
      else if (/^[0-9a-f]{1,4}$/i.test(text)) pieces.push(parseInt(text, 16));
      else bad();
    });
    return pieces;
  }

  function ipv4Pieces(text) {
    const parts = text.split('.');
    if (parts.length !== 4 || !parts.every((part) => /^(0|[1-9][0-9]{0,2})$/.test(part) && part < 256)) bad();
    return [parts[0] * 256 + +parts[1], parts[2] * 256 + +parts[3]];
  }

  // writeIPv6 shortens the longest run of two or more zeros.
  function writeIPv6(pieces) {
    let best = { start: -1, length: 1 };
    for (let i = 0; i < 8; i++) {
      let length = 0;
      while (pieces[i + length] === 0) length++;
      if (length > best.length) best = { start: i, length };
    }
    const hex = (part) => part.map((piece) => piece.toString(16)).join(':');
    if (best.start < 0) return hex(pieces);
    return `${hex(pieces.slice(0, best.start))}::${hex(pieces.slice(best.start + best.length))}`;
  }

  return { __proto__: null, percent, percentDecode, decoder, parseHost, Invalid, bad };
})
