// The order of texts in English: marks before digits before letters, letters
// without regard to accents and case, which decide only between equals.
(function () {
  'use strict';

  const marks = '\t\n\v\f\r _-,;:!?.\'"()[]{}@*/\\&#%\x60^+<=>|~$';

  // weight orders single characters; letters of other scripts by code point.
  function weight(character) {
    const mark = marks.indexOf(character);
    if (mark >= 0) return mark;
    return character >= '0' && character <= '9' ? 1000 + +character : 2000 + character.codePointAt(0);
  }

  function withoutAccents(text) {
    return /^[\0-\x7f]*$/.test(text) ? text : text.normalize('NFD').replace(/[\u0300-\u036f]/g, '');
  }

  function fold(text) {
    return withoutAccents(text).toLowerCase().replaceAll('\u00df', 'ss').replaceAll('\u00e6', 'ae').replaceAll('\u00f8', 'o').replaceAll('\u0142', 'l');
  }

  // The weights of ASCII, capital letters as small ones.
  const weights = Array.from({ length: 128 }, (_, code) => weight(String.fromCharCode(code).toLowerCase()));

  // compareASCII returns undefined for texts that are not all ASCII.
  function compareASCII(a, b) {
    let inCase = 0;
    const length = a.length < b.length ? a.length : b.length;
    for (let i = 0; i < length; i++) {
      const x = a.charCodeAt(i);
      const y = b.charCodeAt(i);
      if (x > 127 || y > 127) return undefined;
      if (x === y) continue;
      if (weights[x] !== weights[y]) return weights[x] < weights[y] ? -1 : 1;
      inCase ||= x > y ? -1 : 1;
    }
    if (a.length === b.length) return inCase;
    return a.length < b.length ? -1 : 1;
  }

  function compareStrings(a, b, options) {
    if (a === b) return 0;
    const quick = options === undefined ? compareASCII(a, b) : undefined;
    if (quick !== undefined) return quick;
    const sensitivity = options?.sensitivity ?? 'variant';
    const base = compareBase(fold(a), fold(b), Boolean(options?.numeric));
    if (base !== 0 || sensitivity === 'base') return base;
    const accents = sensitivity === 'case' ? 0 : compareCodes(a.normalize('NFD').toLowerCase(), b.normalize('NFD').toLowerCase());
    return accents !== 0 || sensitivity === 'accent' ? accents : compareCase(a, b);
  }

  function compareBase(a, b, numeric) {
    let i = 0;
    let k = 0;
    while (i < a.length && k < b.length) {
      const runs = numeric ? [/^\d+/.exec(a.slice(i)), /^\d+/.exec(b.slice(k))] : [null, null];
      if (runs[0] !== null && runs[1] !== null) {
        const [x, y] = [BigInt(runs[0][0]), BigInt(runs[1][0])];
        if (x !== y) return x < y ? -1 : 1;
        i += runs[0][0].length;
        k += runs[1][0].length;
        continue;
      }
      const difference = weight(a[i++]) - weight(b[k++]);
      if (difference !== 0) return Math.sign(difference);
    }
    return Math.sign(a.length - i - (b.length - k));
  }

  function compareCodes(a, b) {
    return a < b ? -1 : a > b ? 1 : 0;
  }

  // compareCase puts lower case first.
  function compareCase(one, other) {
    const [a, b] = [withoutAccents(one), withoutAccents(other)];
    for (let i = 0; i < a.length && i < b.length; i++) {
      if (a[i] !== b[i]) return a[i] === a[i].toLowerCase() ? -1 : 1;
    }
    return 0;
  }

  return { __proto__: null, compareStrings };
})
