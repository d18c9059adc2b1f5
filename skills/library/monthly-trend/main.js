// Shows revenue by month, quarter or year as CSV and report; see SKILL.md. The
// database adds up in whole cents, so that totals are exact.

module.exports = async function monthlyTrend(input) {
  const wanted = input || {};
  const by = wanted.by || 'month';
  if (!(by in STEPS)) throw new Error('by must be month, quarter or year.');
  const query = await findDatabase();
  const rows = await query(`SELECT substr(date, 1, 7) AS month, COUNT(*) AS sales, COALESCE(SUM(quantity), 0) AS units, `
    + `COALESCE(SUM(CAST(ROUND(amount * 100) AS INTEGER)), 0) AS cents, MIN(date) AS first, MAX(date) AS last `
    + `FROM sales WHERE ${within(wanted)} AND ${nameFilter(wanted.names)} GROUP BY month ORDER BY month`);
  if (rows.length === 0) throw new Error('There are no sales that match, so there is no trend to show.');
  const periods = collect(rows, by, wanted);
  const total = periods.reduce((t, p) => ({ cents: t.cents + p.cents, sales: t.sales + p.sales, units: t.units + p.units }), { cents: 0, sales: 0, units: 0 });
  const [csv, file] = [`${NAMES[by]}-trend.csv`, `${NAMES[by]}-trend.md`];
  await fs.writeFile(`/artifacts/${csv}`, toCSV(by, periods));
  const report = write(by, periods, total, [csv, file], wanted.names);
  await fs.writeFile(`/artifacts/${file}`, report);
  return {
    report, by,
    periods: periods.map(({ period, cents, sales, units, change, complete }) => ({ period, revenue: cents / 100, sales, units, change, complete })),
    total: { revenue: total.cents / 100, sales: total.sales, units: total.units },
    artifacts: [csv, file],
  };
};

const STEPS = { month: 1, quarter: 3, year: 12 };
const NAMES = { month: 'monthly', quarter: 'quarterly', year: 'yearly' };

// findDatabase returns a function that runs SQL by whatever tool can.
async function findDatabase() {
  const names = (await list_mcp_tools()).map((t) => (typeof t === 'string' ? t : t.name));
  const name = names.includes('database__query') ? 'database__query' : names.find((n) => n.endsWith('__query'));
  if (!name) {
    throw new Error('No database server is connected: there is no tool named ..__query. Add one to catalog.json, such as the built-in "database".');
  }
  const { inputSchema } = await get_mcp_tool_details(name);
  const known = (inputSchema && inputSchema.properties) || {};
  const key = ['query', 'sql', 'statement'].find((k) => k in known) || 'query';
  return async (sql) => {
    const answer = await callMCPTool(name, { [key]: sql });
    const rows = Array.isArray(answer) ? answer : answer && answer.rows;
    if (!Array.isArray(rows)) throw new Error(`${name} did not answer with rows.`);
    return rows;
  };
}

function within({ from, to }) {
  for (const date of [from, to]) {
    if (date !== undefined && (!/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(Date.parse(date)))) {
      throw new Error('from and to must be days such as 2025-03-31.');
    }
  }
  return `substr(date, 1, 10) >= '${from || '0000-01-01'}' AND substr(date, 1, 10) <= '${to || '9999-12-31'}'`;
}

function nameFilter(names) {
  if (!Array.isArray(names) || names.length === 0) return '1=1';
  const list = names.map((n) => `'${String(n).toLowerCase().replace(/'/g, "''")}'`).join(', ');
  return `(lower(product) IN (${list}) OR lower(category) IN (${list}) OR lower(region) IN (${list}))`;
}

function whole(value) {
  const n = Number(value);
  if (!Number.isSafeInteger(n)) throw new Error('The database returned a sum that is not a whole number.');
  return n;
}

// collect joins months into periods, without gaps, and compares each with the one
// before. Months are counted from year 0.
function collect(rows, by, { from, to }) {
  const step = STEPS[by];
  const at = (date) => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1;
  const slot = (date) => Math.floor(at(date) / step);
  const [first, last] = [from || rows[0].first, to || rows[rows.length - 1].last].map((d) => String(d).slice(0, 10));
  const periods = [];
  for (let n = slot(first); n <= slot(last); n += 1) {
    const end = new Date(Date.UTC(0, 0, 1));
    end.setUTCFullYear(Math.floor((n * step + step) / 12), (n * step + step) % 12, 0);
    const start = `${String(Math.floor((n * step) / 12)).padStart(4, '0')}-${String((n * step) % 12 + 1).padStart(2, '0')}-01`;
    // The data's own beginning cuts a month, but not its first sale of many days.
    const complete = last >= end.toISOString().slice(0, 10) && (!from || first <= start) && (step === 1 || first.slice(0, 7) <= start.slice(0, 7));
    periods.push({ period: label(n, by), cents: 0, sales: 0, units: 0, change: null, complete });
  }
  for (const row of rows) {
    const p = periods[slot(row.month) - slot(first)];
    p.cents += whole(row.cents);
    p.sales += whole(row.sales);
    p.units += whole(row.units);
  }
  periods.forEach((p, i) => {
    const before = periods[i - 1];
    if (before && before.cents > 0 && before.complete && p.complete) p.change = Math.round((p.cents - before.cents) * 1000 / before.cents) / 10;
  });
  return periods;
}

function label(n, by) {
  if (by === 'year') return String(n).padStart(4, '0');
  if (by === 'quarter') return `${Math.floor(n / 4)}-Q${n % 4 + 1}`;
  return `${String(Math.floor(n / 12)).padStart(4, '0')}-${String(n % 12 + 1).padStart(2, '0')}`;
}

const plain = (cents) => `${cents < 0 ? '-' : ''}${Math.trunc(Math.abs(cents) / 100)}.${String(Math.abs(cents) % 100).padStart(2, '0')}`;
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+(\.|$))/g, ',');
const money = (cents) => plain(cents).replace(/^(-?)(\d+)/, (_, sign, digits) => sign + grouped(digits));
const percent = (change) => (change === null ? '' : `${change > 0 ? '+' : ''}${change.toFixed(1)} %`);

function toCSV(by, periods) {
  const lines = periods.map((p) => [p.period, plain(p.cents), p.sales, p.units, p.change === null ? '' : p.change.toFixed(1), p.complete].join(','));
  return [`${by},revenue,sales,units,change_percent,complete`, ...lines, ''].join('\n');
}

function write(by, periods, total, files, names) {
  const full = periods.filter((p) => p.complete);
  const lines = [`# ${NAMES[by][0].toUpperCase()}${NAMES[by].slice(1)} trend: ${periods[0].period} to ${periods[periods.length - 1].period}`, ''];
  if (Array.isArray(names) && names.length > 0) lines.push(`Only: ${names.join(', ')}`, '');
  lines.push(`- Revenue of all: **${money(total.cents)}** in ${grouped(total.sales)} sales`);
  if (full.length > 0) {
    const [best, worst] = [(a, b) => b.cents > a.cents, (a, b) => b.cents < a.cents].map((better) => full.reduce((a, b) => (better(a, b) ? b : a)));
    const average = Math.round(full.reduce((sum, p) => sum + p.cents, 0) / full.length);
    lines.push(`- Best ${by}: ${best.period} (${money(best.cents)})`, `- Weakest ${by}: ${worst.period} (${money(worst.cents)})`, `- Average of a ${by}: ${money(average)}`);
    const [newest, year] = [full[full.length - 1], 12 / STEPS[by]];
    const earlier = full[full.length - 1 - year];
    if (earlier && earlier.cents > 0) {
      lines.push(`- ${newest.period} against ${earlier.period}: ${percent(Math.round((newest.cents - earlier.cents) * 1000 / earlier.cents) / 10)}`);
    }
  }
  const most = Math.max(...periods.map((p) => p.cents), 1);
  const bar = (cents) => '█'.repeat(Math.max(0, Math.round(cents * 20 / most)));
  lines.push('', `| ${by[0].toUpperCase()}${by.slice(1)} | Revenue | Change | Sales | |`, '|---|---:|---:|---:|---|',
    ...periods.map((p) => `| ${p.period}${p.complete ? '' : ' (incomplete)'} | ${money(p.cents)} | ${percent(p.change)} | ${grouped(p.sales)} | ${bar(p.cents)} |`),
    '', `Saved as ${files.join(' and ')}.`, '');
  return lines.join('\n');
}
