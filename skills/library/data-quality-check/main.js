// Looks for flaws in every table of the database; see SKILL.md. The database
// counts, so that no rows are loaded.

module.exports = async function dataQualityCheck(input) {
  const only = Array.isArray(input && input.names) ? input.names.map((n) => String(n).toLowerCase()) : [];
  const db = await findDatabase();
  let tables = (await db.call('list_tables', {})).filter((t) => t.type !== 'view').map((t) => t.name || t);
  if (only.length > 0) tables = tables.filter((name) => only.includes(String(name).toLowerCase()));
  if (tables.length === 0) throw new Error(only.length > 0 ? 'None of the tables named in quotes exists.' : 'The database has no tables to check.');
  const checked = await Promise.all(tables.map((name) => checkTable(db, name)));
  const findings = checked.flatMap((t) => t.findings);
  const file = 'data-quality.md';
  const report = write(checked, findings, file);
  await fs.writeFile(`/artifacts/${file}`, report);
  return { report, tables: checked.map((t) => ({ table: t.table, rows: t.rows, findings: t.findings.length })), findings, artifacts: [file] };
};

// findDatabase finds a server that can list, describe and query tables.
async function findDatabase() {
  const names = (await list_mcp_tools()).map((t) => (typeof t === 'string' ? t : t.name));
  const able = (server) => ['query', 'list_tables', 'describe_table'].every((tool) => names.includes(`${server}__${tool}`));
  const servers = names.filter((n) => n.endsWith('__query')).map((n) => n.slice(0, -'__query'.length));
  const server = able('database') ? 'database' : servers.find(able);
  if (!server) {
    throw new Error('No database server is connected that has the tools query, list_tables and describe_table. Add one to catalog.json, such as the built-in "database".');
  }
  const call = async (tool, args) => {
    const answer = await callMCPTool(`${server}__${tool}`, args);
    return answer && answer.rows && !answer.columns ? answer.rows : answer;
  };
  return { call, query: (sql) => call('query', { query: sql }) };
}

const id = (name) => `"${String(name).replace(/"/g, '""')}"`;
const blank = (c) => `(${id(c)} IS NULL OR trim(CAST(${id(c)} AS TEXT)) = '')`;
const isText = (c) => /char|text|clob|^$/i.test(c.type || '');
const isDate = (c) => isText(c) && /(^|_)(date|day|at)$|^date/i.test(c.name);
const isEmail = (c) => isText(c) && /e_?mail/i.test(c.name);
const isAmount = (c) => !isText(c) && /quantity|amount|price|stock|total|cost/i.test(c.name);

// checkTable counts each flaw that the table's columns can have, all in one query.
async function checkTable(db, table) {
  const { columns, foreignKeys = [] } = await db.call('describe_table', { table });
  const today = new Date().toISOString().slice(0, 10);
  const tests = [];
  const test = (column, check, condition) => tests.push({ column, check, condition });
  for (const c of columns) {
    const name = id(c.name);
    if (!c.primaryKey) test(c.name, 'missing', blank(c.name));
    if (isText(c)) test(c.name, 'spaces around the value', `${name} <> trim(${name})`);
    if (isDate(c)) {
      test(c.name, 'not a date (YYYY-MM-DD)', `NOT ${blank(c.name)} AND (date(${name}) IS NULL OR date(${name}) <> substr(${name}, 1, 10))`);
      test(c.name, 'date in the future', `date(${name}) > '${today}'`);
    }
    if (isEmail(c)) test(c.name, 'not an e-mail address', `NOT ${blank(c.name)} AND (${name} NOT LIKE '%_@_%._%' OR ${name} LIKE '% %' OR ${name} LIKE '%@%@%')`);
    if (isAmount(c)) test(c.name, 'negative', `${name} < 0`);
    if (/^quantity$/i.test(c.name)) test(c.name, 'zero', `${name} = 0`);
  }
  const has = (...names) => names.every((n) => columns.some((c) => c.name === n));
  if (has('amount', 'quantity', 'unit_price')) {
    test('amount', 'is not quantity × unit_price', 'abs(amount - quantity * unit_price) >= 0.005');
  }
  for (const key of foreignKeys) {
    const to = /^"?([^".(]+)"?[.(]"?([^")]+)"?\)?$/.exec(key.references || '');
    if (to) test(key.column, `refers to no row of ${to[1]}`, `${id(key.column)} IS NOT NULL AND ${id(key.column)} NOT IN (SELECT ${id(to[2])} FROM ${id(to[1])})`);
  }
  const counts = tests.map((t, i) => `, COALESCE(SUM(CASE WHEN ${t.condition} THEN 1 ELSE 0 END), 0) AS n${i}`).join('');
  const [row] = await db.query(`SELECT COUNT(*) AS n${counts} FROM ${id(table)}`);
  const rows = Number(row.n);
  const findings = tests.map((t, i) => ({ table, column: t.column, check: t.check, count: Number(row[`n${i}`]), rows })).filter((f) => f.count > 0);
  findings.push(...await duplicates(db, table, columns, rows));
  return { table, rows, columns: columns.length, tests: tests.length, findings };
}

// duplicates finds whole rows that are there twice, and e-mail addresses that
// several rows share.
async function duplicates(db, table, columns, rows) {
  const found = [];
  const compared = columns.filter((c) => !c.primaryKey).map((c) => id(c.name));
  if (compared.length > 1) {
    const [row] = await db.query(`SELECT COALESCE(SUM(n - 1), 0) AS extra FROM (SELECT COUNT(*) AS n FROM ${id(table)} GROUP BY ${compared.join(', ')} HAVING COUNT(*) > 1)`);
    if (Number(row.extra) > 0) found.push({ table, column: '(whole row)', check: 'duplicate of another row', count: Number(row.extra), rows });
  }
  for (const c of columns.filter(isEmail)) {
    const shared = `FROM ${id(table)} WHERE NOT ${blank(c.name)} GROUP BY lower(trim(${id(c.name)})) HAVING COUNT(*) > 1`;
    const [row] = await db.query(`SELECT COALESCE(SUM(n - 1), 0) AS extra FROM (SELECT COUNT(*) AS n ${shared})`);
    if (Number(row.extra) === 0) continue;
    const examples = await db.query(`SELECT MIN(${id(c.name)}) AS email, COUNT(*) AS n ${shared} ORDER BY n DESC, email LIMIT 5`);
    found.push({ table, column: c.name, check: 'shared with another row', count: Number(row.extra), rows, examples: examples.map((e) => `${e.email} (${e.n} times)`) });
  }
  return found;
}

function write(tables, findings, file) {
  const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
  const share = (f) => (f.count * 1000 < f.rows ? 'below 0.1 %' : `${(f.count * 100 / f.rows).toFixed(1)} %`);
  const total = tables.reduce((sum, t) => sum + t.rows, 0);
  const lines = ['# Data quality', '', `Checked ${tables.length} tables with ${grouped(total)} rows.`, '',
    findings.length === 0 ? '**No flaws were found.**' : `**${findings.length} kinds of flaws were found.**`, '',
    '| Table | Rows | Columns | Findings |', '|---|---:|---:|---:|',
    ...tables.map((t) => `| ${t.table} | ${grouped(t.rows)} | ${t.columns} | ${t.findings.length} |`), ''];
  if (findings.length > 0) {
    lines.push('## Findings', '', '| Table | Column | Flaw | Rows | Share |', '|---|---|---|---:|---:|',
      ...findings.map((f) => `| ${f.table} | ${f.column} | ${f.check} | ${grouped(f.count)} | ${share(f)} |`), '');
  }
  for (const f of findings.filter((x) => x.examples)) lines.push(`## ${f.table}.${f.column}: ${f.check}`, '', ...f.examples.map((e) => `- ${e}`), '');
  lines.push(`Saved as ${file}.`, '');
  return lines.join('\n');
}
