// Runs cases read from standard input and writes their outcomes:
// {prelude, engine: "node"|"quickjs", cases: [{script, files?, bridge?, real?}]}.
// A case with "real" is run in this Node itself instead, as the peer.
import { readFileSync } from 'node:fs';
import { FakeHost } from './host.mjs';
import { runInNode, runInQuickJS } from './engines.mjs';
import { runInPeer } from './peer.mjs';

const { prelude, engine, cases } = JSON.parse(readFileSync(0, 'utf8'));
const run = { node: runInNode, quickjs: runInQuickJS, peer: runInPeer }[engine];
const outcomes = [];
for (const one of cases) {
  const host = new FakeHost(one);
  let outcome;
  try {
    outcome = await run(prelude, one.script, host);
  } catch (error) {
    outcome = { error: { name: 'HarnessError', message: `${error.stack ?? error}` } };
  }
  const files = Object.fromEntries([...host.files].map(([path, data]) => [path, data.toString()]));
  outcomes.push({ ...outcome, ...host.output, calls: host.calls, files });
}
process.stdout.write(JSON.stringify(outcomes));
