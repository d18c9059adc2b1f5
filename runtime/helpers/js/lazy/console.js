// console: one line of text per call, as Node writes it.
(function (core) {
  'use strict';
  const { print, load, list, push, join, split, slice, indexOf, cut, now, mapGet, mapSet, mapDelete, classes, scriptFrames, stackOf, round, Error } = core;

  const maxLine = 1048576;
  const maxIndent = 80;
  const counts = new classes.Map();
  const starts = new classes.Map();
  let indent = '';

  // format joins arguments as console.log does: %s, %d, %i, %f, %j, %o, %O, %c
  // and %% in a leading string, the rest separated by spaces.
  function format(args) {
    const first = args[0];
    const state = { __proto__: null, used: 0 };
    let text = '';
    if (typeof first === 'string') {
      state.used = 1;
      text = args.length > 1 && indexOf(first, '%') >= 0 ? fillIn(first, args, state) : first;
    }
    for (let i = state.used; i < args.length; i++) {
      text += (i === 0 ? '' : ' ') + (typeof args[i] === 'string' ? args[i] : shown(args[i]));
    }
    return text;
  }

  function fillIn(pattern, args, state) {
    let text = '';
    let from = 0;
    for (let i = indexOf(pattern, '%'); i >= 0 && i + 1 < pattern.length; i = indexOf(pattern, '%', from)) {
      const directive = pattern[i + 1];
      text += slice(pattern, from, i);
      from = i + 2;
      if (directive === '%') text += '%';
      else if (state.used < args.length && directives[directive] !== undefined) text += directives[directive](args[state.used++]);
      else text += '%' + directive;
    }
    return text + slice(pattern, from);
  }

  const directives = {
    __proto__: null,
    s: asText,
    d: (value) => asNumber(value, (text) => classes.Number(text)),
    i: (value) => asNumber(value, core.parseInt),
    f: (value) => (typeof value === 'symbol' ? 'NaN' : numberText(core.parseFloat(value))),
    j: asJSON,
    o: (value) => load('inspect').inspect(value, { __proto__: null, depth: 4, showHidden: true }),
    O: (value) => load('inspect').inspect(value, { __proto__: null, depth: 4 }),
    c: () => '',
  };

  function asText(value) {
    if (typeof value === 'string') return value;
    if (typeof value === 'bigint') return value + 'n';
    if (typeof value === 'number') return numberText(value);
    if (typeof value === 'object' && value !== null) return load('inspect').textOfObject(value);
    return classes.String(value);
  }

  function asNumber(value, convert) {
    if (typeof value === 'bigint') return value + 'n';
    if (typeof value === 'symbol' || (typeof value === 'object' && value !== null)) return 'NaN';
    return numberText(convert(value));
  }

  function numberText(number) {
    return number === 0 && 1 / number < 0 ? '-0' : '' + number;
  }

  function asJSON(value) {
    try {
      return core.jsonStringify(value);
    } catch (error) {
      return core.contains(core.textOf(error, 'message', ''), 'circular') ? '[Circular]' : '[not JSON]';
    }
  }

  // shown never throws: what cannot be read is said to be so.
  function shown(value) {
    switch (typeof value) {
      case 'number': return numberText(value);
      case 'bigint': return value + 'n';
      case 'boolean': case 'undefined': case 'symbol': return classes.String(value);
      default: return value === null ? 'null' : load('inspect').inspect(value);
    }
  }

  function write(stream, args) {
    let text;
    try {
      text = cut(format(args), maxLine);
    } catch {
      text = '[a value that cannot be shown]';
    }
    print(stream, (indent === '' ? text : indented(text)) + '\n');
  }

  function indented(text) {
    return indent + join(split(text, '\n'), '\n' + indent);
  }

  function label(name) {
    return name === undefined ? 'default' : asText(name);
  }

  function elapsed(name) {
    const start = mapGet(starts, name);
    return start === undefined ? undefined : name + ': ' + duration(now() - start);
  }

  function duration(milliseconds) {
    if (milliseconds >= 1000) return round(milliseconds) / 1000 + 's';
    return round(milliseconds * 1000) / 1000 + 'ms';
  }

  const console = {
    log(...args) { write('stdout', args); },
    info(...args) { write('stdout', args); },
    debug(...args) { write('stdout', args); },
    warn(...args) { write('stderr', args); },
    error(...args) { write('stderr', args); },
    dir(value, options) { print('stdout', indented(cut(load('inspect').inspect(value, options), maxLine)) + '\n'); },
    dirxml(...args) { write('stdout', args); },
    table(data, columns) {
      if (data === null || typeof data !== 'object') return write('stdout', [data]);
      print('stdout', indented(cut(load('table').table(data, columns), maxLine)) + '\n');
    },
    assert(condition, ...args) {
      if (condition) return;
      const text = args.length === 0 ? '' : ': ' + format(args);
      write('stderr', ['Assertion failed' + text]);
    },
    trace(...args) {
      write('stderr', ['Trace' + (args.length === 0 ? '' : ': ') + format(args) + '\n' + scriptFrames(stackOf(new Error()))]);
    },
    count(name) {
      const key = label(name);
      mapSet(counts, key, (mapGet(counts, key) ?? 0) + 1);
      write('stdout', [key + ': ' + mapGet(counts, key)]);
    },
    countReset(name) { mapDelete(counts, label(name)); },
    time(name) { mapSet(starts, label(name), now()); },
    timeLog(name, ...args) {
      const text = elapsed(label(name));
      if (text !== undefined) write('stdout', [text + (args.length === 0 ? '' : ' ' + format(args))]);
    },
    timeEnd(name) {
      const text = elapsed(label(name));
      if (text !== undefined) write('stdout', [text]);
      mapDelete(starts, label(name));
    },
    group(...args) {
      if (args.length > 0) write('stdout', args);
      if (indent.length < maxIndent) indent += '  ';
    },
    groupCollapsed(...args) {
      if (args.length > 0) write('stdout', args);
      if (indent.length < maxIndent) indent += '  ';
    },
    groupEnd() { indent = slice(indent, 2); },
    clear() {},
  };

  return { __proto__: null, console, format };
})
