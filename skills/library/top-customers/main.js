// Ranks customers by revenue; see SKILL.md. The database adds up in whole cents,
// so that totals are exact.

module.exports = async function topCustomers(input) {
  const wanted = input || {};
  const query = await findDatabase();
  const limit = Math.min(Math.max(Math.trunc(wanted.limit) || 10, 1), 1000);
  const filter = `${within(wanted)} AND ${nameFilter(wanted.names)}`;
  const [total] = await query(`SELECT COUNT(*) AS sales, COUNT(DISTINCT customer_id) AS customers, ${CENTS}, `
    + `MIN(date) AS first, MAX(date) AS last FROM sales WHERE ${filter}`);
  if (Number(total.sales) === 0) throw new Error('There are no sales that match, so there is nobody to rank.');
  const known = await hasCustomers(query);
  const rows = await query(
    `SELECT s.customer_id AS id, ${known ? 'c.name AS name, c.email AS email,' : ''} s.sales AS sales, s.cents AS cents, s.last AS last `
    + `FROM (SELECT customer_id, COUNT(*) AS sales, ${CENTS}, MAX(date) AS last FROM sales WHERE ${filter} GROUP BY customer_id) s `
    + `${known ? 'LEFT JOIN customers c ON c.id = s.customer_id ' : ''}ORDER BY s.cents DESC, s.customer_id LIMIT ${limit}`);
  const all = whole(total.cents);
  const customers = rows.map((row, i) => ({
    rank: i + 1, id: row.id, name: row.name || '(unknown)', email: row.email || '', revenue: whole(row.cents) / 100,
    sales: whole(row.sales), share: all > 0 ? Math.round(whole(row.cents) * 1000 / all) / 10 : 0, lastPurchase: day(row.last),
  }));
  const shown = rows.reduce((sum, row) => sum + whole(row.cents), 0);
  const file = `top-customers-${wanted.from || day(total.first)}-to-${wanted.to || day(total.last)}.md`;
  const result = {
    period: { from: wanted.from || day(total.first), to: wanted.to || day(total.last) }, customers,
    total: { revenue: all / 100, sales: whole(total.sales), customers: whole(total.customers), shownRevenue: shown / 100 },
  };
  result.report = write(result, rows, { all, shown, file, names: wanted.names });
  await fs.writeFile(`/artifacts/${file}`, result.report);
  result.artifacts = [file];
  return result;
};

const CENTS = 'COALESCE(SUM(CAST(ROUND(amount * 100) AS INTEGER)), 0) AS cents';

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

// hasCustomers reports whether names can be looked up.
async function hasCustomers(query) {
  try {
    await query('SELECT id, name, email FROM customers LIMIT 1');
    return true;
  } catch (e) {
    if (/no such (table|column)|does not exist|unknown (table|column)/i.test(String(e && e.message))) return false;
    throw e;
  }
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

const day = (date) => String(date).slice(0, 10);
const grouped = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');
function money(cents) {
  const units = Math.trunc(Math.abs(cents) / 100);
  return `${cents < 0 ? '-' : ''}${grouped(units)}.${String(Math.abs(cents) % 100).padStart(2, '0')}`;
}

function write({ period, customers, total }, rows, { all, shown, file, names }) {
  const cell = (s) => String(s).replace(/\|/g, '\\|').replace(/\s+/g, ' ');
  const share = all > 0 ? (shown * 100 / all).toFixed(1) : '0.0';
  const lines = [`# Top ${customers.length} customers`, '', `Period: ${period.from} to ${period.to}`, ''];
  if (Array.isArray(names) && names.length > 0) lines.push(`Only sales of: ${names.join(', ')}`, '');
  lines.push('| # | Customer | E-mail | Revenue | Share | Sales | Last purchase |', '|---:|---|---|---:|---:|---:|---|',
    ...customers.map((c, i) => `| ${c.rank} | ${cell(c.name)} | ${cell(c.email)} | ${money(whole(rows[i].cents))} | ${c.share.toFixed(1)} % | ${grouped(c.sales)} | ${c.lastPurchase} |`),
    '', `These ${customers.length} of ${grouped(total.customers)} customers brought ${money(shown)} of ${money(all)} (${share} %) in ${grouped(total.sales)} sales of all.`,
    '', `Saved as ${file}.`, '');
  return lines.join('\n');
}
