// Dates as en-US writes them: what toLocaleString and Intl.DateTimeFormat need.
// The time zones are the local one, UTC and fixed offsets; there is no table of
// the others.
(function () {
  'use strict';

  const months = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October', 'November', 'December'];
  const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

  const styles = {
    full: { weekday: 'long', year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'long' },
    long: { year: 'numeric', month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
    medium: { year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' },
    short: { year: '2-digit', month: 'numeric', day: 'numeric', hour: 'numeric', minute: '2-digit' },
  };
  const dateFields = ['weekday', 'year', 'month', 'day', 'era'];
  const timeFields = ['hour', 'minute', 'second', 'fractionalSecondDigits', 'dayPeriod'];
  const allowed = {
    weekday: ['long', 'short', 'narrow'], year: ['numeric', '2-digit'], month: ['numeric', '2-digit', 'long', 'short', 'narrow'], day: ['numeric', '2-digit'], era: ['long', 'short', 'narrow'],
    hour: ['numeric', '2-digit'], minute: ['numeric', '2-digit'], second: ['numeric', '2-digit'], timeZoneName: ['long', 'short', 'shortOffset', 'longOffset', 'shortGeneric', 'longGeneric'],
    dateStyle: Object.keys(styles), timeStyle: Object.keys(styles), hourCycle: ['h11', 'h12', 'h23', 'h24'],
  };

  // settle fills in what the options leave open; required and fill are "date",
  // "time" or "any", as the methods of Date differ in them.
  function settle(options = {}, required = 'any', fill = 'date') {
    options ??= {};
    for (const [name, values] of Object.entries(allowed)) {
      if (options[name] !== undefined && !values.includes(options[name])) throw new RangeError(`Value ${options[name]} out of range for Intl.DateTimeFormat options property ${name}`);
    }
    const fields = options.dateStyle === undefined && options.timeStyle === undefined ? chosen(options, required, fill) : styled(options);
    const twelve = options.hour12 ?? (options.hourCycle === undefined ? true : options.hourCycle === 'h11' || options.hourCycle === 'h12');
    return { locale: 'en-US', calendar: 'gregory', numberingSystem: 'latn', ...zoneOf(options.timeZone), fields, twelve, midnight24: options.hour12 === false || options.hourCycle === 'h24', dateStyle: options.dateStyle, timeStyle: options.timeStyle };
  }

  function styled({ dateStyle, timeStyle }) {
    const fields = {};
    if (dateStyle !== undefined) for (const name of dateFields) fields[name] = styles[dateStyle][name];
    if (timeStyle !== undefined) for (const name of [...timeFields, 'timeZoneName']) fields[name] = styles[timeStyle][name];
    return fields;
  }

  function chosen(options, required, fill) {
    const fields = {};
    for (const name of [...dateFields, ...timeFields, 'timeZoneName']) if (options[name] !== undefined) fields[name] = options[name];
    const looked = required === 'date' ? ['weekday', 'year', 'month', 'day'] : required === 'time' ? timeFields : ['weekday', 'year', 'month', 'day', ...timeFields];
    if (looked.some((name) => fields[name] !== undefined)) return fields;
    if (fill !== 'time') Object.assign(fields, { year: 'numeric', month: 'numeric', day: 'numeric' });
    if (fill !== 'date') Object.assign(fields, { hour: 'numeric', minute: '2-digit', second: '2-digit' });
    return fields;
  }

  // zoneOf returns the minutes east of UTC, or undefined for local time.
  function zoneOf(name) {
    if (name === undefined) return { timeZone: localZone(), offset: undefined };
    if (/^(utc|gmt|etc\/utc|etc\/gmt|etc\/uct|zulu|universal)$/i.test(name)) return { timeZone: 'UTC', offset: 0 };
    const fixed = /^([+-])(\d\d):?(\d\d)?$/.exec(name);
    if (fixed === null) throw new RangeError(`Time zone "${name}" is not available in scripts; use "UTC" or an offset such as "+02:00"`);
    const minutes = +fixed[2] * 60 + +(fixed[3] ?? 0);
    return { timeZone: name, offset: fixed[1] === '-' ? -minutes : minutes };
  }

  function localZone() {
    const minutes = -new Date().getTimezoneOffset();
    return minutes === 0 ? 'UTC' : offsetText(minutes);
  }

  function offsetText(minutes) {
    const size = Math.abs(minutes);
    return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  }

  function two(number) {
    return number < 10 ? `0${number}` : `${number}`;
  }

  function parts(date, settled) {
    const time = date === undefined ? Date.now() : +date;
    if (time !== time) throw new RangeError('Invalid time value');
    const minutes = settled.offset ?? -new Date(time).getTimezoneOffset();
    const local = new Date(time + minutes * 60000);
    const day = dateParts(local, settled.fields);
    const clock = clockParts(local, minutes, settled);
    if (day.length === 0 || clock.length === 0) return [...day, ...clock];
    return [...day, literal(between(settled)), ...clock];
  }

  function literal(value) {
    return { type: 'literal', value };
  }

  // between is what stands between a date and a time.
  function between({ fields, dateStyle }) {
    if (fields.month === 'long' || dateStyle === 'full' || dateStyle === 'long') return ' at ';
    return fields.weekday !== undefined && fields.month === undefined && fields.year === undefined ? ' ' : ', ';
  }

  function dateParts(local, fields) {
    const weekday = fields.weekday && { type: 'weekday', value: shortened(weekdays[local.getUTCDay()], fields.weekday) };
    const year = fields.year && { type: 'year', value: yearText(local.getUTCFullYear(), fields) };
    const day = fields.day && { type: 'day', value: fields.day === '2-digit' ? two(local.getUTCDate()) : `${local.getUTCDate()}` };
    const named = fields.month !== undefined && fields.month !== 'numeric' && fields.month !== '2-digit';
    const month = fields.month && { type: 'month', value: monthText(local.getUTCMonth(), fields.month) };
    const era = fields.era && { type: 'era', value: eraText(local.getUTCFullYear(), fields.era) };
    const date = named ? namedDate(month, day, year) : plainDate(month, day, year);
    const dated = weekday === undefined ? date : withWeekday(weekday, date, month, day);
    return era === undefined ? dated : [...dated, ...(dated.length > 0 ? [literal(' ')] : []), era];
  }

  function shortened(name, width) {
    return width === 'long' ? name : name.slice(0, width === 'short' ? 3 : 1);
  }

  function monthText(month, width) {
    if (width === 'numeric') return `${month + 1}`;
    return width === '2-digit' ? two(month + 1) : shortened(months[month], width);
  }

  function yearText(year, fields) {
    const shown = year <= 0 ? 1 - year : year;
    return fields.year === '2-digit' ? two(shown % 100) : `${shown}`;
  }

  function eraText(year, width) {
    if (width === 'long') return year > 0 ? 'Anno Domini' : 'Before Christ';
    return year > 0 ? (width === 'narrow' ? 'A' : 'AD') : width === 'narrow' ? 'B' : 'BC';
  }

  function namedDate(month, day, year) {
    const found = day === undefined ? [month] : [month, literal(' '), day];
    if (year !== undefined) found.push(literal(day === undefined ? ' ' : ', '), year);
    return found;
  }

  function plainDate(month, day, year) {
    if (month === undefined && day !== undefined && year !== undefined) return [year, literal(' (day: '), day, literal(')')];
    const found = [];
    for (const part of [month, day, year]) {
      if (part === undefined) continue;
      if (found.length > 0) found.push(literal('/'));
      found.push(part);
    }
    return found;
  }

  // withWeekday puts the weekday before a whole date and behind a lone part.
  function withWeekday(weekday, date, month, day) {
    if (date.length === 0) return [weekday];
    if (month !== undefined && day !== undefined) return [weekday, literal(', '), ...date];
    return [...date, literal(' '), weekday];
  }

  function clockParts(local, minutes, settled) {
    const { fields, twelve, midnight24 } = settled;
    const found = [];
    const add = (separator, type, value) => found.push(...(found.length > 0 ? [literal(separator)] : []), { type, value });
    if (fields.hour !== undefined) add('', 'hour', hourText(local.getUTCHours(), fields.hour, twelve, midnight24));
    const together = fields.hour !== undefined || fields.second !== undefined;
    if (fields.minute !== undefined) add(':', 'minute', together ? two(local.getUTCMinutes()) : `${local.getUTCMinutes()}`);
    if (fields.second !== undefined) add(':', 'second', fields.minute === undefined ? `${local.getUTCSeconds()}` : two(local.getUTCSeconds()));
    if (fields.fractionalSecondDigits !== undefined) add('.', 'fractionalSecond', `${local.getUTCMilliseconds()}`.padStart(3, '0').slice(0, fields.fractionalSecondDigits));
    if (fields.hour !== undefined && twelve) add(' ', 'dayPeriod', local.getUTCHours() < 12 ? 'AM' : 'PM');
    if (fields.timeZoneName !== undefined) add(' ', 'timeZoneName', zoneName(minutes, fields.timeZoneName));
    return found;
  }

  function hourText(hour, width, twelve, midnight24) {
    const shown = twelve ? hour % 12 || 12 : hour === 0 && midnight24 ? 24 : hour;
    return width === '2-digit' || !twelve ? two(shown) : `${shown}`;
  }

  function zoneName(minutes, width) {
    if (minutes === 0) return width === 'long' ? 'Coordinated Universal Time' : width.endsWith('Offset') || width.endsWith('Generic') ? 'GMT' : 'UTC';
    const size = Math.abs(minutes);
    const sign = minutes < 0 ? '-' : '+';
    if (width.startsWith('long')) return `GMT${offsetText(minutes)}`;
    return `GMT${sign}${Math.floor(size / 60)}${size % 60 === 0 ? '' : `:${two(size % 60)}`}`;
  }

  function format(date, settled) {
    return parts(date, settled).map((part) => part.value).join('');
  }

  return { __proto__: null, settle, parts, format };
})
