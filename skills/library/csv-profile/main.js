// Describes every column of a CSV file; see SKILL.md.
const csv = require('./csv.js');

module.exports = async function csvProfile(input) {
  const { file, head, rows, ragged } = await csv.open((input || {}).file);
  const columns = head.map((name, i) => profile(name, rows.map((r) => r[i])));
  const seen = new Set(rows.map((r) => JSON.stringify(r)));
  const result = { file, rows: rows.length, duplicates: rows.length - seen.size, ragged, columns };
  result.report = write(result);
  const saved = `${file.replace(/\.[^.]+$/, '')}-profile.md`;
  await fs.writeFile(`/artifacts/${saved}`, result.report);
  result.artifacts = [saved];
  return result;
};

function profile(name, values) {
  const filled = values.map((v) => v.trim()).filter((v) => v !== '');
  const counts = new Map();
  for (const v of filled) counts.set(v, (counts.get(v) || 0) + 1);
  const column = { name, type: csv.kind(values), missing: values.length - filled.length, distinct: counts.size };
  if (column.type === 'number') Object.assign(column, numbers(filled));
  else if (column.type === 'date' && filled.length > 0) Object.assign(column, range(filled));
  column.top = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 3).map(([value, count]) => ({ value, count }));
  return column;
}

function numbers(values) {
  const n = values.map(csv.number).filter((v) => !Number.isNaN(v)).sort((a, b) => a - b);
  if (n.length === 0) return {};
  const sum = n.reduce((a, b) => a + b, 0);
  const middle = n.length >> 1;
  return {
    min: n[0], max: n[n.length - 1], mean: round(sum / n.length), sum: round(sum),
    median: n.length % 2 ? n[middle] : round((n[middle - 1] + n[middle]) / 2),
  };
}

function range(values) {
  const sorted = [...values].sort();
  return { min: sorted[0], max: sorted[sorted.length - 1] };
}

const round = (v) => Math.round(v * 1e6) / 1e6;
const cell = (v) => String(v === undefined ? '' : v).replace(/\|/g, '\\|').replace(/\s+/g, ' ').slice(0, 60);

function write({ file, rows, duplicates, ragged, columns }) {
  const lines = [`# Profile of ${file}`, '', `${rows} rows, ${columns.length} columns.`];
  if (duplicates > 0) lines.push(`${duplicates} rows are duplicates of others.`);
  if (ragged > 0) lines.push(`${ragged} rows have more or fewer fields than the head.`);
  lines.push('', '| Column | Type | Missing | Distinct | Min | Median | Mean | Max | Most frequent |', '|---|---|---:|---:|---:|---:|---:|---:|---|');
  for (const c of columns) {
    const top = c.top.map((t) => `${cell(t.value)} (${t.count})`).join(', ');
    lines.push(`| ${[c.name, c.type, c.missing, c.distinct, c.min, c.median, c.mean, c.max, top].map(cell).join(' | ')} |`);
  }
  return `${lines.join('\n')}\n`;
}
