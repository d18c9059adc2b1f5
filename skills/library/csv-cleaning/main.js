// Cleans a CSV file and reports every kind of change; see SKILL.md.
const csv = require('../csv-profile/csv.js');

const EMPTY = /^(?:n\/?a|null|none|nil|-+|\?+|undefined|nan|#n\/a)$/i;

module.exports = async function dataCleaning(input) {
  const { file, head, rows } = await csv.open((input || {}).file);
  const changes = { trimmed: 0, emptied: 0, dates: 0, numbers: 0, duplicates: 0, blankRows: 0, renamed: 0 };
  const names = cleanNames(head, changes);
  const kinds = head.map((_, i) => csv.kind(rows.map((r) => blank(r[i].trim()))));
  const seen = new Set();
  const kept = [];
  for (const row of rows) {
    const cleaned = row.map((v, i) => cleanValue(v, kinds[i], changes));
    const key = JSON.stringify(cleaned);
    if (cleaned.every((v) => v === '')) changes.blankRows += 1;
    else if (seen.has(key)) changes.duplicates += 1;
    else { seen.add(key); kept.push(cleaned); }
  }
  const base = file.replace(/\.[^.]+$/, '');
  const saved = `${base}-clean.csv`;
  await fs.writeFile(`/artifacts/${saved}`, csv.write([names, ...kept]));
  const result = { file, rowsBefore: rows.length, rowsAfter: kept.length, changes, artifacts: [saved] };
  result.report = write(result, saved);
  return result;
};

function cleanNames(head, changes) {
  const used = new Map();
  return head.map((name, i) => {
    const plain = name.trim().replace(/\s+/g, ' ') || `column ${i + 1}`;
    const n = (used.get(plain.toLowerCase()) || 0) + 1;
    used.set(plain.toLowerCase(), n);
    const clean = n === 1 ? plain : `${plain} ${n}`;
    if (clean !== name) changes.renamed += 1;
    return clean;
  });
}

const blank = (v) => (EMPTY.test(v) ? '' : v);

function cleanValue(value, kind, changes) {
  let v = value.replace(/[\u00A0\u200B\uFEFF]/g, ' ').replace(/\s+/g, ' ').trim();
  if (v !== value) changes.trimmed += 1;
  if (blank(v) !== v) { changes.emptied += 1; return ''; }
  if (kind === 'number' && !Number.isNaN(csv.number(v)) && v.includes(',')) { v = v.replace(/,/g, ''); changes.numbers += 1; }
  if (kind === 'date') {
    const iso = isoDate(v);
    if (iso !== v) { v = iso; changes.dates += 1; }
  }
  return v;
}

// isoDate turns 31.3.2025 into 2025-03-31, and 3/31/2025 too, as only that order
// makes sense there. Where either order does, the value stays as it is.
function isoDate(v) {
  const m = /^(\d{1,2})([./])(\d{1,2})\2(\d{4})$/.exec(v);
  if (!m) return v;
  const [a, b] = [Number(m[1]), Number(m[3])];
  let day;
  let month;
  if (m[2] === '.' || a > 12) [day, month] = [a, b];
  else if (b > 12) [month, day] = [a, b];
  if (!day || month < 1 || month > 12 || day > 31) return v;
  return `${m[4]}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

const SAID = {
  duplicates: 'duplicate rows removed', blankRows: 'blank rows removed', trimmed: 'values without surplus spaces', emptied: 'placeholders such as "n/a" emptied',
  dates: 'dates written as 2025-03-31', numbers: 'numbers without thousands separators', renamed: 'column names put right',
};

function write({ file, rowsBefore, rowsAfter, changes }, saved) {
  const lines = Object.keys(SAID).filter((k) => changes[k] > 0).map((k) => `- ${changes[k]} ${SAID[k]}`);
  return [`# Cleaned ${file}`, '', `${rowsBefore} rows before, ${rowsAfter} after.`, '',
    ...(lines.length > 0 ? lines : ['Nothing had to be changed.']), '', `The cleaned file is ${saved}; the original stays as it is.`, ''].join('\n');
}
