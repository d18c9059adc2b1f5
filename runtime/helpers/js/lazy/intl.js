// Intl for en-US, and the methods of Number, Date and String that stand on it.
// Other locales are accepted and treated as en-US; what is not here says so.
(function (core) {
  'use strict';
  const numbers = core.load('numbers');
  const dates = core.load('dates');
  const { compareStrings } = core.load('collation');

  const plain = numbers.settle();

  function numberToLocale(value, locales, options) {
    return numbers.format(value.valueOf(), options === undefined ? plain : numbers.settle(options));
  }

  function dateText(date, options, required, fill) {
    const time = date.getTime();
    return time === time ? dates.format(date, dates.settle(options, required, fill)) : 'Invalid Date';
  }

  function boundFormat(object, format) {
    Object.defineProperty(object, 'format', { value: format, writable: true, configurable: true });
  }

  const supportedLocalesOf = (locales) => [locales ?? []].flat().filter((locale) => /^en(-|$)/i.test(locale));

  class NumberFormat {
    #settled;
    constructor(locales, options) {
      this.#settled = numbers.settle(options);
      boundFormat(this, (value) => numbers.format(value, this.#settled));
    }
    formatToParts(value) { return numbers.parts(value, this.#settled); }
    formatRange(from, to) { return `${this.format(from)} \u2013 ${this.format(to)}`; }
    resolvedOptions() {
      const { before, usual, compactRounding, ...options } = JSON.parse(JSON.stringify(this.#settled));
      return options;
    }
    static supportedLocalesOf(locales) { return supportedLocalesOf(locales); }
  }

  class DateTimeFormat {
    #settled;
    constructor(locales, options) {
      this.#settled = dates.settle(options);
      boundFormat(this, (date) => dates.format(date, this.#settled));
    }
    formatToParts(date) { return dates.parts(date, this.#settled); }
    formatRange(from, to) { return `${this.format(from)} \u2013 ${this.format(to)}`; }
    resolvedOptions() {
      const { locale, calendar, numberingSystem, timeZone, fields } = this.#settled;
      return { locale, calendar, numberingSystem, timeZone, ...fields };
    }
    static supportedLocalesOf(locales) { return supportedLocalesOf(locales); }
  }

  class Collator {
    constructor(locales, options) {
      Object.defineProperty(this, 'compare', { value: (a, b) => compareStrings(`${a}`, `${b}`, options) });
    }
    resolvedOptions() { return { locale: 'en-US', usage: 'sort', sensitivity: 'variant' }; }
  }

  class PluralRules {
    #ordinal;
    constructor(locales, options) { this.#ordinal = options?.type === 'ordinal'; }
    select(number) {
      if (!this.#ordinal) return number === 1 ? 'one' : 'other';
      const teen = number % 100 >= 11 && number % 100 <= 13;
      return teen ? 'other' : { 1: 'one', 2: 'two', 3: 'few' }[number % 10] ?? 'other';
    }
  }

  class ListFormat {
    #word;
    #narrow;
    constructor(locales, options) {
      this.#word = { disjunction: 'or', unit: '' }[options?.type] ?? (options?.style === 'short' ? '&' : options?.style === 'narrow' ? '' : 'and');
      this.#narrow = options?.type === 'unit' && options?.style === 'narrow';
    }
    format(items) {
      const list = [...items];
      if (this.#narrow) return list.join(' ');
      const word = this.#word === '' ? '' : ` ${this.#word}`;
      if (list.length === 2) return list.join(word === '' ? ', ' : `${word} `);
      return list.length < 3 ? list.join('') : `${list.slice(0, -1).join(', ')},${word} ${list.at(-1)}`;
    }
  }

  // absent makes a class that only says what to use.
  function absent(name) {
    return { [name]: class { constructor() { throw new Error(`Intl.${name} is not available in scripts; of Intl there are NumberFormat, DateTimeFormat, Collator, PluralRules and ListFormat for en-US`); } } }[name];
  }

  const Intl = { NumberFormat: callable(NumberFormat), DateTimeFormat: callable(DateTimeFormat), Collator: callable(Collator), PluralRules, ListFormat, getCanonicalLocales: (locales) => [locales ?? []].flat() };
  for (const name of ['RelativeTimeFormat', 'DisplayNames', 'Segmenter', 'DurationFormat', 'Locale']) Intl[name] = absent(name);

  // callable lets a class be called without new, as three of Intl may be.
  function callable(Class) {
    return new Proxy(Class, { apply: (target, self, args) => new Class(...args) });
  }

  return {
    __proto__: null,
    Intl,
    numberToLocale,
    dateTimeToLocale: (date, locales, options) => dateText(date, options, 'any', 'all'),
    dateToLocale: (date, locales, options) => dateText(date, options, 'date', 'date'),
    timeToLocale: (date, locales, options) => dateText(date, options, 'time', 'time'),
    compareInLocale: (a, b, locales, options) => compareStrings(`${a}`, `${b}`, options),
  };
})
