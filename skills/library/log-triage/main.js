// Groups the lines of a log by what they say and ranks the groups; see SKILL.md.

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'];
const LEVEL = /\b(FATAL|CRITICAL|PANIC|EMERG|ERROR|ERR|SEVERE|WARN(?:ING)?|NOTICE|INFO|DEBUG|TRACE)\b/i;
const SAME = { critical: 'fatal', panic: 'fatal', emerg: 'fatal', err: 'error', severe: 'error', warning: 'warn', notice: 'info' };
const TIME = /\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2})?/;

module.exports = async function logTriage(input) {
  const { file, text } = await read((input || {}).file);
  const limit = Math.min(Math.max(Math.trunc((input || {}).limit) || 10, 1), 100);
  const groups = new Map();
  const levels = {};
  const minutes = new Map();
  let lines = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '' || /^\s+(at |\.\.\.|File ")/.test(line)) continue; // parts of a stack trace
    lines += 1;
    const level = levelOf(line);
    levels[level] = (levels[level] || 0) + 1;
    const at = (TIME.exec(line) || [''])[0];
    add(groups, level, line, at);
    if (at && (level === 'error' || level === 'fatal')) minutes.set(at.slice(0, 16), (minutes.get(at.slice(0, 16)) || 0) + 1);
  }
  if (lines === 0) throw new Error('The log is empty.');
  const ranked = [...groups.values()].sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || b.count - a.count);
  const result = { file, lines, levels, groups: ranked.slice(0, limit), more: Math.max(ranked.length - limit, 0), worstMinute: worst(minutes) };
  result.report = write(result);
  const saved = `${file.replace(/\.[^.]+$/, '')}-triage.md`;
  await fs.writeFile(`/artifacts/${saved}`, result.report);
  result.artifacts = [saved];
  return result;
};

async function read(wanted) {
  let file = wanted;
  if (!file) {
    const all = (await fs.listFiles('/workspace')).map((f) => (typeof f === 'string' ? f : f.name)).filter((f) => /\.(log|txt)$/i.test(f));
    if (all.length !== 1) throw new Error(all.length === 0 ? 'There is no log in /workspace; upload one with the task.' : `Name one of the logs in /workspace: ${all.slice(0, 10).join(', ')}.`);
    [file] = all;
  }
  const path = file.startsWith('/') ? file : `/workspace/${file}`;
  if (!(await fs.exists(path))) throw new Error('There is no such log in /workspace; upload it with the task.');
  return { file: path.split('/').pop(), text: await fs.readFile(path) };
}

function levelOf(line) {
  const m = LEVEL.exec(line);
  if (!m) return /\b(?:exception|failed|failure|traceback)\b/i.test(line) ? 'error' : 'info';
  const word = m[1].toLowerCase();
  return SAME[word] || word;
}

// template is what lines of one kind have in common: what differs from one to the
// next is left out.
function template(line) {
  return line
    .replace(TIME, '').replace(/^\S*\s*/, (s) => (/^[\d:.,TZ+[\]-]+\s*$/.test(s) ? '' : s))
    .replace(/\[[A-Z][A-Z0-9_]*_\d+_[a-z0-9]{5}\]/gi, '<value>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b0x[0-9a-f]+\b|\b[0-9a-f]{12,}\b/gi, '<id>')
    .replace(/"[^"]*"|'[^']*'/g, '<text>')
    .replace(/\d+(?:\.\d+)*/g, '<n>').replace(/\s+/g, ' ').trim().slice(0, 160);
}

function add(groups, level, line, at) {
  const key = `${level} ${template(line)}`;
  const group = groups.get(key) || { level, template: template(line), count: 0, first: at, last: at, example: line.trim().slice(0, 300) };
  group.count += 1;
  if (at) { group.first = group.first || at; group.last = at; }
  groups.set(key, group);
}

function worst(minutes) {
  const [at, count] = [...minutes].reduce((best, m) => (m[1] > best[1] ? m : best), ['', 0]);
  return count > 1 ? { at, errors: count } : null;
}

function write({ file, lines, levels, groups, more, worstMinute }) {
  const cell = (v) => String(v).replace(/\|/g, '\\|');
  const out = [`# Triage of ${file}`, '', `${lines} lines: ${LEVELS.filter((l) => levels[l]).map((l) => `${levels[l]} ${l}`).join(', ')}.`];
  if (worstMinute) out.push(`Most errors in one minute: ${worstMinute.errors}, at ${worstMinute.at}.`);
  out.push('', '| Level | Count | First | Last | Message |', '|---|---:|---|---|---|');
  for (const g of groups) out.push(`| ${g.level} | ${g.count} | ${g.first} | ${g.last} | ${cell(g.template)} |`);
  if (more > 0) out.push('', `${more} more kinds of messages are left out.`);
  return `${out.join('\n')}\n`;
}
