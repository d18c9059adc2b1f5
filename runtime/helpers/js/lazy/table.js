// console.table: rows in a box, as Node draws it.
(function (core) {
  'use strict';
  const { list, push, isArray, objectKeys, own, load, mapEach, setEach, kindOf, contains } = core;

  const maxRows = 1000;

  function table(data, columns) {
    const rows = rowsOf(data);
    const heads = list();
    push(heads, rows.index);
    const chosen = isArray(columns) ? columns : columnNames(rows);
    for (let i = 0; i < chosen.length; i++) push(heads, '' + chosen[i]);
    const values = !isArray(columns) && hasPlain(rows);
    if (values) push(heads, 'Values');
    return draw(heads, cells(rows, chosen, values));
  }

  function rowsOf(data) {
    const rows = list();
    rows.index = '(index)';
    const kind = kindOf(data);
    if (kind === 'Map') return mapRows(rows, data);
    if (kind === 'Set') return setRows(rows, data);
    const keys = objectKeys(data);
    for (let i = 0; i < keys.length && i < maxRows; i++) push(rows, { __proto__: null, name: keys[i], value: data[keys[i]] });
    return rows;
  }

  function mapRows(rows, map) {
    rows.index = '(iteration index)';
    mapEach(map, (Values, Key) => push(rows, { __proto__: null, name: '' + rows.length, value: { Key, Values } }));
    return rows;
  }

  function setRows(rows, set) {
    rows.index = '(iteration index)';
    setEach(set, (value) => push(rows, { __proto__: null, name: '' + rows.length, value }));
    return rows;
  }

  function isRecord(value) {
    return value !== null && typeof value === 'object';
  }

  function columnNames(rows) {
    const seen = { __proto__: null };
    for (let i = 0; i < rows.length; i++) {
      const keys = isRecord(rows[i].value) ? objectKeys(rows[i].value) : [];
      for (let j = 0; j < keys.length; j++) seen[keys[j]] = true;
    }
    return objectKeys(seen);
  }

  function hasPlain(rows) {
    for (let i = 0; i < rows.length; i++) if (!isRecord(rows[i].value)) return true;
    return false;
  }

  function cells(rows, columns, values) {
    const lines = list();
    for (let i = 0; i < rows.length; i++) {
      const { name, value } = rows[i];
      const line = list();
      push(line, name);
      for (let j = 0; j < columns.length; j++) push(line, isRecord(value) && core.hasOwn(value, columns[j]) ? cell(value[columns[j]]) : '');
      if (values) push(line, isRecord(value) ? '' : cell(value));
      push(lines, line);
    }
    return lines;
  }

  // cell shows small objects and names the others.
  function cell(value) {
    const large = isRecord(value) && !isArray(value) && objectKeys(value).length > 2;
    return load('inspect').inspect(value, { __proto__: null, depth: large ? -1 : 0, breakLength: Infinity, maxArrayLength: 3 });
  }

  function draw(heads, lines) {
    const widths = list();
    for (let column = 0; column < heads.length; column++) {
      let width = heads[column].length;
      for (let i = 0; i < lines.length; i++) if (lines[i][column].length > width) width = lines[i][column].length;
      push(widths, width + 2);
    }
    let text = rule(widths, '┌', '┬', '┐') + '\n' + row(heads, widths) + '\n' + rule(widths, '├', '┼', '┤') + '\n';
    for (let i = 0; i < lines.length; i++) text += row(lines[i], widths) + '\n';
    return text + rule(widths, '└', '┴', '┘');
  }

  function rule(widths, left, middle, right) {
    let text = left;
    for (let i = 0; i < widths.length; i++) text += repeat('─', widths[i]) + (i === widths.length - 1 ? right : middle);
    return text;
  }

  function row(texts, widths) {
    let line = '│';
    for (let i = 0; i < widths.length; i++) {
      line += ' ' + texts[i] + repeat(' ', widths[i] - texts[i].length - 1) + '│';
    }
    return line;
  }

  function repeat(text, count) {
    let out = '';
    for (let i = 0; i < count; i++) out += text;
    return out;
  }

  return { __proto__: null, table };
})
