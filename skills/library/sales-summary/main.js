// Summarizes the sales of a period as a Markdown report; see SKILL.md.
// The database adds up in whole cents, so that totals are exact.

const DAY = 24 * 60 * 60 * 1000;
const MONTHS = ['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August',
  'September', 'October', 'November', 'December'];

module.exports = async function salesSummary(input) {
  const wanted = input || {};
  const query = await findDatabase();
  const filter = nameFilter(wanted.names);
  const all = await totals(query, filter);
  if (all.sales === 0) {
    throw new Error(filter === '1=1' ? 'The table sales is empty, so there is nothing to summarize.'
      : 'No sales match the names in quotes; use names of products, categories or regions.');
  }
  const period = choosePeriod(wanted, all);
  const before = periodBefore(period);
  const limit = Math.min(Math.max(Math.trunc(wanted.limit) || 5, 1), 100);
  const [now, then, byCategory, byRegion, topProducts] = await Promise.all([
    totals(query, `${filter} AND ${within(period)}`),
    totals(query, `${filter} AND ${within(before)}`),
    groups(query, 'category', `${filter} AND ${within(period)}`, 100),
    groups(query, 'region', `${filter} AND ${within(period)}`, 100),
    groups(query, 'product', `${filter} AND ${within(period)}`, limit),
  ]);
  const result = {
    period, totals: inUnits(now), previous: { period: before, totals: inUnits(then) },
    change: then.cents > 0 ? Math.round((now.cents - then.cents) * 1000 / then.cents) / 10 : null,
    byCategory: byCategory.map(inUnits), byRegion: byRegion.map(inUnits), topProducts: topProducts.map(inUnits),
    allData: { from: all.first, to: all.last, ...inUnits(all) },
  };
  const file = `sales-summary-${period.from}-to-${period.to}.md`;
  result.report = write(result, { now, then, byCategory, byRegion, topProducts, all }, file, wanted);
  await fs.writeFile(`/artifacts/${file}`, result.report);
  result.artifacts = [file];
  return result;
};

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

async function totals(query, where) {
  const [row] = await query(`SELECT COUNT(*) AS sales, ${SUMS}, MIN(date) AS first, MAX(date) AS last FROM sales WHERE ${where}`);
  return measured(row);
}

async function groups(query, column, where, limit) {
  const rows = await query(`SELECT ${column} AS label, COUNT(*) AS sales, ${SUMS} FROM sales WHERE ${where} `
    + `GROUP BY ${column} ORDER BY cents DESC, label LIMIT ${limit}`);
  return rows.map(measured);
}

const SUMS = 'COALESCE(SUM(CAST(ROUND(amount * 100) AS INTEGER)), 0) AS cents, COALESCE(SUM(quantity), 0) AS units';

function measured(row) {
  const m = { ...row, sales: Number(row.sales), cents: Number(row.cents), units: Number(row.units) };
  if (![m.sales, m.cents, m.units].every(Number.isSafeInteger)) throw new Error('The database returned sums that are not whole numbers.');
  return m;
}

function inUnits({ label, sales, cents, units }) {
  const average = sales > 0 ? Math.round(cents / sales) / 100 : 0;
  return { ...(label === undefined ? {} : { label }), revenue: cents / 100, sales, units, averageSale: average };
}

function nameFilter(names) {
  if (!Array.isArray(names) || names.length === 0) return '1=1';
  const list = names.map((n) => `'${String(n).toLowerCase().replace(/'/g, "''")}'`).join(', ');
  return `(lower(product) IN (${list}) OR lower(category) IN (${list}) OR lower(region) IN (${list}))`;
}

const within = ({ from, to }) => `substr(date, 1, 10) BETWEEN '${from}' AND '${to}'`;
const iso = (ms) => new Date(ms).toISOString().slice(0, 10);
const monthEnd = (year, month) => iso(Date.UTC(year, month, 0)); // month counts from 1

// choosePeriod takes what was asked for, or else the last month that is complete.
function choosePeriod({ from, to }, all) {
  const [first, last] = [all.first.slice(0, 10), all.last.slice(0, 10)];
  for (const day of [from, to]) {
    if (day !== undefined && (!/^\d{4}-\d{2}-\d{2}$/.test(day) || Number.isNaN(Date.parse(day)))) {
      throw new Error('from and to must be days such as 2025-03-31.');
    }
  }
  if (from || to) {
    const period = { from: from || first, to: to || last };
    if (period.from > period.to) throw new Error('from must not be after to.');
    return period;
  }
  let [year, month] = last.split('-').map(Number);
  if (last !== monthEnd(year, month)) [year, month] = month === 1 ? [year - 1, 12] : [year, month - 1];
  const start = iso(Date.UTC(year, month - 1, 1));
  // Data of less than a month has no full one: take all of it.
  return monthEnd(year, month) < first ? { from: first, to: last } : { from: start, to: monthEnd(year, month) };
}

function isMonth({ from, to }) {
  const [year, month] = from.split('-').map(Number);
  return from.endsWith('-01') && to === monthEnd(year, month);
}

function periodBefore(period) {
  const start = Date.parse(period.from);
  const to = iso(start - DAY);
  if (isMonth(period)) return { from: `${to.slice(0, 7)}-01`, to };
  return { from: iso(start - DAY - (Date.parse(period.to) - start)), to };
}

function title(period) {
  if (!isMonth(period)) return `${period.from} to ${period.to}`;
  return `${MONTHS[Number(period.from.slice(5, 7)) - 1]} ${period.from.slice(0, 4)}`;
}

const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
function money(cents) {
  const whole = Math.trunc(Math.abs(cents) / 100);
  return `${cents < 0 ? '-' : ''}${grouped(whole)}.${String(Math.abs(cents) % 100).padStart(2, '0')}`;
}

function table(heading, label, rows, total) {
  const cell = (s) => String(s === null ? '(none)' : s).replace(/\|/g, '\\|').replace(/\s+/g, ' ');
  const line = (r) => `| ${cell(r.label)} | ${money(r.cents)} | ${total > 0 ? (r.cents * 100 / total).toFixed(1) : '0.0'} % | ${grouped(r.sales)} | ${grouped(r.units)} |`;
  return [`## ${heading}`, '', `| ${label} | Revenue | Share | Sales | Units |`, '|---|---:|---:|---:|---:|', ...rows.map(line), ''];
}

function write(result, { now, then, byCategory, byRegion, topProducts, all }, file, wanted) {
  const { period, previous, change } = result;
  const average = now.sales > 0 ? Math.round(now.cents / now.sales) : 0;
  const lines = [`# Sales summary: ${title(period)}`, ''];
  if (Array.isArray(wanted.names) && wanted.names.length > 0) lines.push(`Only: ${wanted.names.join(', ')}`, '');
  if (now.sales === 0) lines.push('There are no sales in this period.', '');
  lines.push(`- Revenue: **${money(now.cents)}**`, `- Sales: **${grouped(now.sales)}**`, `- Units: ${grouped(now.units)}`,
    `- Average sale: ${money(average)}`,
    change === null ? `- No sales in the period before (${title(previous.period)})`
      : `- Change from ${title(previous.period)}: ${change > 0 ? '+' : ''}${change.toFixed(1)} % (revenue was ${money(then.cents)})`,
    `- All data, ${all.first.slice(0, 10)} to ${all.last.slice(0, 10)}: revenue **${money(all.cents)}** in ${grouped(all.sales)} sales`, '');
  if (now.sales > 0) {
    lines.push(...table('By category', 'Category', byCategory, now.cents), ...table('By region', 'Region', byRegion, now.cents), ...table('Top products', 'Product', topProducts, now.cents));
  }
  lines.push(`Saved as ${file}.`, '');
  return lines.join('\n');
}
