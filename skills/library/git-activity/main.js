// Reports who changed what in a Git repository, and when; see SKILL.md.

module.exports = async function gitActivity(input) {
  const wanted = input || {};
  const { source, text } = wanted.file ? await fromFile(wanted.file) : await fromServer(wanted);
  const commits = parse(text).filter((c) => (!wanted.from || c.day >= wanted.from) && (!wanted.to || c.day <= wanted.to));
  const result = {
    source, commits: commits.length, authors: count(commits.map((c) => c.author)), days: count(commits.map((c) => c.day)),
    kinds: count(commits.map((c) => kind(c.message))), first: commits.map((c) => c.day).sort()[0], last: commits.map((c) => c.day).sort().pop(),
    latest: commits.slice(0, 10).map(({ day, author, message }) => ({ day, author, message })),
  };
  result.report = write(result);
  await fs.writeFile('/artifacts/git-activity.md', result.report);
  result.artifacts = ['git-activity.md'];
  return result;
};

async function fromFile(file) {
  const path = file.startsWith('/') ? file : `/workspace/${file}`;
  if (!(await fs.exists(path))) throw new Error('There is no such file in /workspace; it should hold what git log prints.');
  return { source: path.split('/').pop(), text: await fs.readFile(path) };
}

async function fromServer({ repository, names }) {
  const tools = (await list_mcp_tools()).map((t) => (typeof t === 'string' ? t : t.name));
  const tool = tools.find((t) => t.endsWith('__git_log'));
  if (!tool) throw new Error('No Git server is connected: there is no tool named ..__git_log. Enable "git" in catalog.json, or give a file with what git log prints.');
  const path = repository || (names || [])[0];
  if (!path) throw new Error('Name the repository by its path in quotes, as the Git server knows it.');
  const answer = await callMCPTool(tool, { repo_path: path, max_count: 1000 });
  return { source: path, text: typeof answer === 'string' ? answer : JSON.stringify(answer) };
}

// parse reads what git log prints, and what the Git server's tool answers.
function parse(text) {
  const commits = [];
  for (const block of text.split(/^(?=commit [0-9a-f]{7,}|Commit: )/m)) {
    const author = /^Author: *(.+)$/m.exec(block);
    const date = /^Date: *(.+)$/m.exec(block);
    if (!author || !date) continue;
    const message = (/^Message: *'?(.*?)'?$/m.exec(block) || /\n\n {4}(.+)/.exec(block) || ['', ''])[1];
    commits.push({ author: author[1].replace(/^<git\.Actor "|">$/g, '').trim(), day: dayOf(date[1]), message: message.replace(/\\n.*$/, '').trim() });
  }
  if (commits.length === 0) throw new Error('There are no commits in what was read.');
  return commits;
}

function dayOf(text) {
  const iso = /\d{4}-\d{2}-\d{2}/.exec(text);
  if (iso) return iso[0];
  const ms = Date.parse(text.replace(/^\w{3} /, ''));
  return Number.isNaN(ms) ? 'unknown' : new Date(ms).toISOString().slice(0, 10);
}

// kind is the part before the colon of "fix: ..." or "api: ...".
const kind = (message) => (/^([A-Za-z][\w/-]{0,30})(?:\([^)]*\))?!?:/.exec(message) || ['', '(other)'])[1].toLowerCase();

function count(values) {
  const counts = new Map();
  for (const v of values) counts.set(v, (counts.get(v) || 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name, n]) => ({ name, commits: n }));
}

function write({ source, commits, authors, days, kinds, first, last, latest }) {
  const cell = (v) => String(v).replace(/\|/g, '\\|').slice(0, 120);
  const table = (title, rows) => ['', `## ${title}`, '', '| | Commits |', '|---|---:|', ...rows.slice(0, 15).map((r) => `| ${cell(r.name)} | ${r.commits} |`)];
  if (commits === 0) return `# Activity in ${source}\n\nThere are no commits in this period.\n`;
  return `${[`# Activity in ${source}`, '', `${commits} commits by ${authors.length} authors on ${days.length} days, ${first} to ${last}.`,
    ...table('By author', authors), ...table('By kind', kinds), ...table('Busiest days', days), '', '## Latest', '',
    ...latest.map((c) => `- ${c.day} ${cell(c.message)}`)].join('\n')}\n`;
}
