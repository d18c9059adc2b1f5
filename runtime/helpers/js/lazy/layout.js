// How inspect lays out what an object holds: on one line if the object is small
// and shallow, else a line each, longer arrays of short items in columns.
(function (core) {
  'use strict';
  const { list, push, join, contains, round, sqrt, floor } = core;

  function spaces(count) {
    let text = '';
    while (text.length < count) text += ' ';
    return text;
  }

  function lay(made, entries, level, state) {
    const { head, open, close } = made;
    if (entries.length === 0) return head + open + close;
    const rows = made.array && entries.length > 6 ? columns(entries, made.numbers, state) : entries;
    if (rows === entries && state.level - level < 3 && fits(head + open, rows, state)) {
      const line = join(rows, ', ');
      if (!contains(line, '\n')) return head + open + ' ' + line + ' ' + close;
    }
    const indent = '\n' + spaces(state.indent);
    return head + open + indent + '  ' + join(rows, ',' + indent + '  ') + indent + close;
  }

  function fits(head, rows, state) {
    let total = 2 * rows.length + state.indent + head.length + 10;
    if (total + rows.length > state.breakLength) return false;
    for (let i = 0; i < rows.length; i++) total += rows[i].length;
    return total <= state.breakLength && !contains(head, '\n');
  }

  function columns(entries, numbers, state) {
    const count = entries.more ? entries.length - 1 : entries.length;
    let total = 0;
    let longest = 0;
    for (let i = 0; i < count; i++) {
      total += entries[i].length + 2;
      if (entries[i].length > longest) longest = entries[i].length;
    }
    const widest = longest + 2;
    if (widest * 3 + state.indent >= state.breakLength || (total / widest <= 5 && longest > 6)) return entries;
    const across = columnCount(entries.length, widest, total, state);
    return across <= 1 ? entries : rowsOf(entries, count, across, numbers);
  }

  // columnCount aims at a block about two and a half times as wide as high; the
  // numbers are Node's, found by comparing.
  function columnCount(count, widest, total, state) {
    const typical = widest - 3 - sqrt(widest - total / count);
    const biased = typical > 1 ? typical : 1;
    let best = round(sqrt(2.5 * biased * count) / biased);
    const room = floor((state.breakLength - state.indent) / widest);
    if (room < best) best = room;
    return best < 12 ? best : 12;
  }

  function rowsOf(entries, count, across, numbers) {
    const widths = list();
    for (let column = 0; column < across; column++) {
      let width = 0;
      for (let i = column; i < count; i += across) if (entries[i].length > width) width = entries[i].length;
      push(widths, width + 2);
    }
    const rows = list();
    for (let i = 0; i < count; i += across) push(rows, rowOf(entries, i, i + across < count ? i + across : count, widths, numbers));
    if (count < entries.length) push(rows, entries[count]);
    return rows;
  }

  function rowOf(entries, from, to, widths, numbers) {
    let row = '';
    for (let i = from; i < to; i++) {
      const last = i === to - 1;
      const text = last ? entries[i] : entries[i] + ', ';
      const pad = spaces(widths[i - from] - text.length - (last ? 2 : 0));
      row += numbers ? pad + text : last ? text : text + pad;
    }
    return row;
  }

  return { __proto__: null, lay, spaces };
})
