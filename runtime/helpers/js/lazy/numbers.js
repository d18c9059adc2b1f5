// Numbers as en-US writes them: what toLocaleString and Intl.NumberFormat need.
// Values are rounded as decimal text, half away from zero, so that 1.005 gives
// 1.01 as it does elsewhere.
(function () {
  'use strict';

  // decimalOf splits a number or BigInt into its digits and the place of the
  // point: 12.5 is digits "125", point 2.
  function decimalOf(value) {
    const [mantissa, exponent = '0'] = `${value}`.replace(/^-/, '').split('e');
    const [whole, fraction = ''] = mantissa.split('.');
    const digits = (whole + fraction).replace(/^0+/, '');
    return { digits, point: whole.length + +exponent - (whole.length + fraction.length - digits.length) };
  }

  // keep rounds to so many digits before and after the point, counted from the
  // first digit.
  function keep({ digits, point }, count) {
    if (count >= digits.length) return { digits, point };
    if (count < 0) return { digits: '', point: 0 };
    const kept = digits.slice(0, count);
    if (digits[count] < '5') return { digits: kept.replace(/0+$/, ''), point };
    const up = `${BigInt(`0${kept}`) + 1n}`.padStart(count, '0');
    return { digits: up.replace(/0+$/, ''), point: point + up.length - count };
  }

  // fixed writes a decimal with a number of fraction digits between two limits.
  function fixed(decimal, minimum, maximum, minimumInteger = 1) {
    const { digits, point } = keep(decimal, decimal.point + maximum);
    const padded = point > 0 ? digits.padEnd(point, '0') : digits.padStart(digits.length - point, '0');
    const whole = point > 0 ? padded.slice(0, point) : '';
    const fraction = point > 0 ? padded.slice(point) : padded;
    return { whole: whole.padStart(minimumInteger, '0'), fraction: digits === '' ? ''.padEnd(minimum, '0') : fraction.padEnd(minimum, '0') };
  }

  function significant(decimal, minimum, maximum) {
    const rounded = keep(decimal, maximum);
    const fraction = Math.max(0, minimum - Math.max(rounded.point, rounded.digits === '' ? 1 : rounded.point));
    return fixed(rounded, fraction, Math.max(fraction, rounded.digits.length - rounded.point, 0));
  }

  function grouped(whole, grouping) {
    if (grouping === false || (grouping === 'min2' && whole.length < 5)) return whole;
    return whole.replace(/\B(?=(\d{3})+$)/g, ',');
  }

  // Symbols and fraction digits that differ from "code" and two (ISO 4217, CLDR).
  const symbols = {
    __proto__: null, USD: '$', EUR: '\u20ac', GBP: '\u00a3', JPY: '\u00a5', INR: '\u20b9', CNY: 'CN\u00a5', KRW: '\u20a9', BRL: 'R$', CAD: 'CA$', AUD: 'A$', NZD: 'NZ$', MXN: 'MX$',
    HKD: 'HK$', TWD: 'NT$', ILS: '\u20aa', VND: '\u20ab', PHP: '\u20b1', XAF: 'FCFA', XOF: 'F\u202fCFA', XPF: 'CFPF', XCD: 'EC$',
  };
  const narrow = { __proto__: null, CAD: '$', AUD: '$', NZD: '$', MXN: '$', HKD: '$', TWD: '$', SGD: '$', CNY: '\u00a5', RUB: '\u20bd', TRY: '\u20ba', UAH: '\u20b4', PLN: 'z\u0142', SEK: 'kr', NOK: 'kr', DKK: 'kr', CZK: 'K\u010d' };
  const names = {
    __proto__: null, USD: 'US dollar', EUR: 'euro', GBP: 'British pound', JPY: 'Japanese yen', CNY: 'Chinese yuan', INR: 'Indian rupee', CAD: 'Canadian dollar', AUD: 'Australian dollar',
    CHF: 'Swiss franc', MXN: 'Mexican peso', BRL: 'Brazilian real', KRW: 'South Korean won', SEK: 'Swedish krona', NOK: 'Norwegian krone', DKK: 'Danish krone', PLN: 'Polish zloty', NZD: 'New Zealand dollar', SGD: 'Singapore dollar', HKD: 'Hong Kong dollar',
  };
  const unchanged = { __proto__: null, JPY: 1, CNY: 1, KRW: 1, 'Swedish krona': 'Swedish kronor', 'Norwegian krone': 'Norwegian kroner', 'Danish krone': 'Danish kroner', 'Polish zloty': 'Polish zlotys', 'Brazilian real': 'Brazilian reals' };
  const fractionDigits = { __proto__: null, BIF: 0, CLP: 0, DJF: 0, GNF: 0, ISK: 0, JPY: 0, KMF: 0, KRW: 0, PYG: 0, RWF: 0, UGX: 0, VND: 0, VUV: 0, XAF: 0, XOF: 0, XPF: 0, BHD: 3, IQD: 0, JOD: 3, KWD: 3, LYD: 3, OMR: 3, TND: 3 };

  function digitOption(options, name, low, high, fallback) {
    const value = options[name];
    if (value === undefined) return fallback;
    if (!(value >= low && value <= high)) throw new RangeError(`${name} value is out of range.`);
    return Math.floor(value);
  }

  // settle fills in what the options leave open.
  function settle(options = {}) {
    const style = choice(options, 'style', ['decimal', 'percent', 'currency'], 'decimal');
    const currency = options.currency === undefined ? undefined : `${options.currency}`.toUpperCase();
    if (style === 'currency' && currency === undefined) throw new TypeError('Currency code is required with currency style.');
    if (currency !== undefined && !/^[A-Z]{3}$/.test(currency)) throw new RangeError(`Invalid currency code : ${options.currency}`);
    const notation = choice(options, 'notation', ['standard', 'compact'], 'standard');
    const usual = style === 'currency' ? fractionDigits[currency] ?? 2 : 0;
    const most = style === 'decimal' ? 3 : usual;
    const settled = {
      locale: 'en-US', numberingSystem: 'latn', style, currency, notation,
      currencyDisplay: choice(options, 'currencyDisplay', ['symbol', 'narrowSymbol', 'code', 'name'], 'symbol'),
      currencySign: choice(options, 'currencySign', ['standard', 'accounting'], 'standard'),
      compactDisplay: choice(options, 'compactDisplay', ['short', 'long'], 'short'),
      signDisplay: choice(options, 'signDisplay', ['auto', 'always', 'never', 'exceptZero', 'negative'], 'auto'),
      useGrouping: options.useGrouping === undefined ? (notation === 'compact' ? 'min2' : 'auto') : groupingOf(options.useGrouping),
      minimumIntegerDigits: digitOption(options, 'minimumIntegerDigits', 1, 21, 1),
    };
    return settleDigits(settled, options, usual, most);
  }

  function groupingOf(value) {
    return value === false || value === 'false' ? false : value === 'min2' ? 'min2' : 'auto';
  }

  function choice(options, name, allowed, fallback) {
    const value = options[name];
    if (value === undefined) return fallback;
    if (!allowed.includes(value)) throw new RangeError(`Value ${value} out of range for Intl.NumberFormat options property ${name}; here it can be ${allowed.join(', ')}`);
    return value;
  }

  function settleDigits(settled, options, usual, most) {
    if (options.minimumSignificantDigits !== undefined || options.maximumSignificantDigits !== undefined) {
      settled.minimumSignificantDigits = digitOption(options, 'minimumSignificantDigits', 1, 21, 1);
      settled.maximumSignificantDigits = digitOption(options, 'maximumSignificantDigits', settled.minimumSignificantDigits, 21, 21);
      return settled;
    }
    const minimum = digitOption(options, 'minimumFractionDigits', 0, 100, undefined);
    const maximum = digitOption(options, 'maximumFractionDigits', 0, 100, undefined);
    if (minimum > maximum) throw new RangeError('maximumFractionDigits value is out of range.');
    settled.compactRounding = settled.notation === 'compact' && minimum === undefined && maximum === undefined;
    const low = settled.notation === 'compact' && settled.style !== 'currency' ? 0 : usual;
    settled.minimumFractionDigits = minimum ?? Math.min(settled.notation === 'compact' ? 0 : low, maximum ?? low);
    settled.maximumFractionDigits = maximum ?? Math.max(settled.notation === 'compact' ? 0 : most, settled.minimumFractionDigits);
    return settled;
  }

  // format returns the parts of a number's text.
  function parts(value, settled) {
    const number = typeof value === 'bigint' ? value : Number(value);
    const negative = number < 0 || Object.is(number, -0);
    const body = digitsOf(number, settled);
    const zero = body.every((part) => !/^(integer|fraction)$/.test(part.type) || /^0*$/.test(part.value)) && number === number && number !== Infinity && number !== -Infinity;
    return withUnit(body, signOf(negative, zero, number, settled.signDisplay), settled);
  }

  function signOf(negative, zero, number, display) {
    if (number !== number) return display === 'always' ? '+' : '';
    switch (display) {
      case 'never': return '';
      case 'always': return negative ? '-' : '+';
      case 'exceptZero': return zero ? '' : negative ? '-' : '+';
      case 'negative': return negative && !zero ? '-' : '';
      default: return negative ? '-' : '';
    }
  }

  function digitsOf(number, settled) {
    if (number !== number) return [{ type: 'nan', value: 'NaN' }];
    if (number === Infinity || number === -Infinity) return [{ type: 'infinity', value: '\u221e' }];
    const decimal = decimalOf(number);
    if (settled.style === 'percent' && decimal.digits !== '') decimal.point += 2;
    if (settled.notation === 'compact') return compactDigits(decimal, settled);
    return numberParts(roundTo(decimal, settled), settled);
  }

  function roundTo(decimal, settled) {
    if (settled.maximumSignificantDigits !== undefined) return significant(decimal, settled.minimumSignificantDigits, settled.maximumSignificantDigits);
    if (settled.compactRounding) return fixed(keep(decimal, Math.max(2, decimal.point)), 0, Math.max(0, 2 - decimal.point));
    return fixed(decimal, settled.minimumFractionDigits, settled.maximumFractionDigits, settled.minimumIntegerDigits);
  }

  function numberParts({ whole, fraction }, settled) {
    const found = [];
    grouped(whole.padStart(settled.minimumIntegerDigits, '0'), settled.useGrouping).split(',').forEach((group, i) => {
      if (i > 0) found.push({ type: 'group', value: ',' });
      found.push({ type: 'integer', value: group });
    });
    if (fraction !== '') found.push({ type: 'decimal', value: '.' }, { type: 'fraction', value: fraction });
    return found;
  }

  const steps = { short: ['', 'K', 'M', 'B', 'T'], long: ['', 'thousand', 'million', 'billion', 'trillion'] };

  function compactDigits(decimal, settled) {
    let step = Math.min(4, Math.max(0, Math.floor((decimal.point - 1) / 3)));
    let rounded = roundTo({ digits: decimal.digits, point: decimal.point - 3 * step }, settled);
    if (rounded.whole.length > 3 && step < 4 && rounded.whole.startsWith('1000')) {
      step++;
      rounded = roundTo({ digits: '1', point: 1 }, settled);
    }
    const found = numberParts(rounded, settled);
    const name = steps[settled.compactDisplay][step];
    if (name !== '' && settled.compactDisplay === 'long') found.push({ type: 'literal', value: ' ' });
    if (name !== '') found.push({ type: 'compact', value: name });
    return found;
  }

  function withUnit(body, sign, settled) {
    const signed = sign === '' ? [] : [{ type: sign === '-' ? 'minusSign' : 'plusSign', value: sign }];
    if (settled.style === 'percent') return [...signed, ...body, { type: 'percentSign', value: '%' }];
    if (settled.style !== 'currency') return [...signed, ...body];
    if (settled.currencyDisplay === 'name') return [...signed, ...body, { type: 'literal', value: ' ' }, { type: 'currency', value: currencyName(settled.currency, body) }];
    const symbol = currencySymbol(settled);
    const money = [{ type: 'currency', value: symbol }];
    if (/[A-Z]$/i.test(symbol) && body[0].type === 'integer') money.push({ type: 'literal', value: '\u00a0' });
    if (sign === '-' && settled.currencySign === 'accounting') return [{ type: 'literal', value: '(' }, ...money, ...body, { type: 'literal', value: ')' }];
    return [...signed, ...money, ...body];
  }

  function currencySymbol({ currency, currencyDisplay }) {
    if (currencyDisplay === 'code') return currency;
    return (currencyDisplay === 'narrowSymbol' ? narrow[currency] : undefined) ?? symbols[currency] ?? currency;
  }

  function currencyName(currency, body) {
    const name = names[currency];
    if (name === undefined) return currency;
    const one = body.length === 1 && body[0].value === '1';
    if (one || unchanged[currency] === 1) return name;
    return unchanged[name] ?? `${name}s`;
  }

  // quick writes the usual case without making parts of it.
  function quick(value, settled) {
    const { whole, fraction } = fixed(decimalOf(value), settled.minimumFractionDigits, settled.maximumFractionDigits, settled.minimumIntegerDigits);
    const sign = value < 0 || Object.is(value, -0) ? '-' : '';
    return sign + settled.before + grouped(whole, settled.useGrouping) + (fraction === '' ? '' : '.') + fraction;
  }

  // isUsual tells whether quick will do: no units behind the number, no special
  // signs, and a currency's symbol that stands close to the number.
  function isUsual(settled) {
    const { style, notation, signDisplay, currencySign, currencyDisplay, maximumSignificantDigits } = settled;
    if (notation !== 'standard' || signDisplay !== 'auto' || maximumSignificantDigits !== undefined) return false;
    settled.before = style === 'currency' ? currencySymbol(settled) : '';
    return style === 'decimal' || (style === 'currency' && currencySign === 'standard' && currencyDisplay !== 'name' && !/[A-Z]$/i.test(settled.before));
  }

  function format(value, settled) {
    settled.usual ??= isUsual(settled);
    if (settled.usual && typeof value === 'number' && value - value === 0) return quick(value, settled);
    return parts(value, settled).map((part) => part.value).join('');
  }

  return { __proto__: null, settle, parts, format };
})
