// Reads and writes comma-separated values; see SKILL.md.

// parse returns the rows of a text, each an array of fields. The separator is the
// one of , ; tab and | that the first line holds most of. Quotes may hold
// separators and line breaks, a quote in them is doubled (RFC 4180).
exports.parse = function parse(text) {
  const body = text.replace(/^\uFEFF/, '');
  const firstLine = body.split('\n', 1)[0];
  const separator = [',', ';', '\t', '|']
    .map((s) => [firstLine.split(s).length, s]).reduce((best, c) => (c[0] > best[0] ? c : best))[1];
  const rows = [];
  let row = [];
  let field = '';
  let quoted = false;
  const endField = () => { row.push(field); field = ''; };
  const endRow = () => {
    endField();
    if (row.length > 1 || row[0] !== '') rows.push(row);
    row = [];
  };
  for (let i = 0; i < body.length; i += 1) {
    const c = body[i];
    if (quoted) {
      if (c === '"' && body[i + 1] === '"') { field += '"'; i += 1; } else if (c === '"') quoted = false; else field += c;
    } else if (c === '"' && field === '') quoted = true;
    else if (c === separator) endField();
    else if (c === '\n') endRow();
    else if (c !== '\r') field += c;
  }
  if (quoted) throw new Error('A quote in the file has no end, so its last rows cannot be told apart.');
  if (field !== '' || row.length > 0) endRow();
  return rows;
};

// write returns the text of rows, with commas.
exports.write = function write(rows) {
  const quote = (v) => (/[",\r\n]/.test(v) ? `"${v.replace(/"/g, '""')}"` : v);
  return rows.map((row) => `${row.map((v) => quote(String(v))).join(',')}\n`).join('');
};

// open reads the file that was asked for, or else the only one in /workspace, and
// returns its name, head and rows of equal length.
exports.open = async function open(wanted) {
  let file = wanted;
  if (!file) {
    const all = (await fs.listFiles('/workspace')).map((f) => (typeof f === 'string' ? f : f.name)).filter((f) => /\.(csv|tsv)$/i.test(f));
    if (all.length !== 1) throw new Error(all.length === 0 ? 'There is no CSV file in /workspace; upload one with the task.' : `Name one of the files in /workspace: ${all.slice(0, 10).join(', ')}.`);
    [file] = all;
  }
  const path = file.startsWith('/') ? file : `/workspace/${file}`;
  if (!(await fs.exists(path))) throw new Error('There is no such file in /workspace; upload it with the task.');
  const rows = exports.parse(await fs.readFile(path));
  if (rows.length === 0) throw new Error('The file is empty.');
  const [head, ...body] = rows;
  return { file: path.split('/').pop(), head, rows: body.map((r) => head.map((_, i) => (r[i] === undefined ? '' : r[i]))), ragged: body.filter((r) => r.length !== head.length).length };
};

const DATE = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}.*)?$|^\d{1,2}[./]\d{1,2}[./]\d{4}$/;
const NUMBER = /^[-+]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?(?:e[-+]?\d+)?$/i;

// number reads "1,234.5"; NaN for anything else.
exports.number = (v) => (NUMBER.test(v) ? Number(v.replace(/,/g, '')) : NaN);

// kind tells what a column's filled values are: number, date, boolean or text.
exports.kind = function kind(values) {
  const filled = values.filter((v) => v.trim() !== '');
  const share = (test) => filled.length > 0 && filled.filter((v) => test(v.trim())).length / filled.length >= 0.95;
  if (share((v) => /^(true|false|yes|no)$/i.test(v))) return 'boolean';
  if (share((v) => NUMBER.test(v))) return 'number';
  return share((v) => DATE.test(v)) ? 'date' : 'text';
};
