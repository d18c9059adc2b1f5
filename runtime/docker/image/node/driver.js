// Runs one JavaScript script in this Node, which was started before the script was
// known. Descriptor 3 is the supervisor: down comes the job, up goes the result, as
// supervisor/control.py says. The script runs in the realm called script, this file
// in another; it gets the same helpers as in the embedded engine, the prelude over a
// host made of Node's parts.
'use strict';
const fs = require('fs');
const net = require('net');
const vm = require('vm');
const path = require('path');
const { Bridge } = require('./bridge');
const { openFiles } = require('./files');
const { openModules } = require('./modules');
const { awaitImports } = require('./imports');
const { wrap, locate, locateSyntax } = require('./position');

const noValue = 0xffffffff;
const bridgeSocket = '/bridge/bridge.sock';
const rehearsalTime = 500;
const folders = ['/workspace', '/artifacts', '/skills', '/tools'];
const { randomBytes } = require('crypto');
const supervisor = new net.Socket({ fd: 3, readable: true, writable: true });

// SIGUSR1 would open Node's debugger.
process.on('SIGUSR1', () => {});

const SyntaxErrorOfScripts = script.SyntaxError;
let bridge;
let importFrom;
let done = false;

const host = {
  __proto__: null,
  print: (stream, text) => writeAll(stream === 'stderr' ? 2 : 1, text),
  call: (method, target, body) => bridge.call(method, target, body),
  file: openFiles(folders),
  timer: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  now: () => Number(process.hrtime.bigint() - begun) / 1e6,
  random: (count) => randomBytes(count).toString('base64'),
  compile,
};
let begun = process.hrtime.bigint();

// writeAll waits for the reader: what is printed before a script is ended counts.
function writeAll(fd, text) {
  let data = Buffer.from(text, 'utf8');
  while (data.length > 0) {
    try {
      data = data.subarray(fs.writeSync(fd, data));
    } catch (error) {
      if (error.code !== 'EAGAIN') return;
    }
  }
}

function compile(source, filename) {
  const options = filename.startsWith('airlock:') ? { filename } : { filename, importModuleDynamically: (specifier) => importFrom(filename, specifier) };
  return new vm.Script(source, options).runInThisContext();
}

// start evaluates the prelude, before there is a script.
function start() {
  const hooks = compile(fs.readFileSync(path.join(__dirname, 'prelude.js'), 'utf8'), 'airlock:prelude')(host);
  hooks.warm();
  importFrom = openModules(host.file, hooks.require);
  return hooks;
}

// run runs the script and reports how it ended.
async function run(hooks, job) {
  begun = process.hrtime.bigint();
  bridge = new Bridge(job.socket, job.token);
  await bridge.open();
  const { code, name, nonce } = job;
  const size = job.limits.resultBytes;
  const report = (end, value, error) => finish(nonce, end, value, error);
  const failed = (error) => report('error', undefined, describe(hooks, error, name, code));
  process.on('beforeExit', () => report('error', undefined, neverSettles()));
  process.on('uncaughtException', failed);
  process.on('unhandledRejection', (error) => unhandled(hooks, error));
  let promise;
  try {
    promise = evaluate(code, name);
  } catch (error) {
    return report('error', undefined, unreadable(hooks, error, name, code));
  }
  try {
    const value = hooks.result(await promise);
    if (value === undefined) return report('ok');
    const data = Buffer.from(value, 'utf8');
    if (data.length > size) return report('error', undefined, tooLarge(data.length, size));
    report('ok', data);
  } catch (error) {
    failed(error);
  }
}

// evaluate runs a script's code and returns the promise of its result.
function evaluate(code, name) {
  try {
    return compile(wrap(code), name);
  } catch (error) {
    if (!isImport(error)) throw error;
  }
  return compile(wrap(awaitImports(code)), name);
}

// isImport tells whether a script could not be read for an import declaration in it.
function isImport(error) {
  return error instanceof SyntaxErrorOfScripts && error.message.startsWith('Cannot use import statement');
}

function describe(hooks, error, name, code) {
  return locate(JSON.parse(hooks.error(error)), name, code);
}

// unreadable describes a script that could not be compiled, or that broke out of
// its function and threw at once.
function unreadable(hooks, error, name, code) {
  const described = JSON.parse(hooks.error(error));
  const stack = error instanceof SyntaxErrorOfScripts && typeof error.stack === 'string' ? error.stack : '';
  return stack.startsWith(`${name}:`) ? locateSyntax(described, stack, name, code) : locate(described, name, code);
}

function unhandled(hooks, error) {
  const { name, message } = JSON.parse(hooks.error(error));
  writeAll(2, `Unhandled rejection of a promise (await it): ${name}: ${message}\n`);
}

function neverSettles() {
  return { name: 'NeverSettles', message: 'the script waits for a promise that nothing will settle', hint: 'look for a new Promise whose resolve is never called' };
}

function tooLarge(size, limit) {
  return {
    name: 'ResultTooLarge', message: `the result is ${size} bytes of JSON, the limit is ${limit}`,
    hint: 'return a summary, and write the whole to a file in /artifacts or /workspace',
  };
}

// finish sends the result; the supervisor then ends this process.
function finish(nonce, end, value, error) {
  if (done) return;
  done = true;
  if (bridge.pending > 0) writeAll(2, `${bridge.pending} tool calls were still under way when the script ended, and were cancelled: await them.\n`);
  const head = Buffer.from(JSON.stringify({ nonce, end, error: error ?? null }), 'utf8');
  const lengths = [Buffer.alloc(4), Buffer.alloc(4)];
  lengths[0].writeUInt32BE(head.length);
  lengths[1].writeUInt32BE(value === undefined ? noValue : value.length);
  writeAll(3, Buffer.concat([lengths[0], head, lengths[1], value ?? Buffer.alloc(0)]));
  process.exit(0);
}

// receive waits for the job, and then leaves the socket alone. Who asks meanwhile
// whether this process lives is told so.
function receive(then) {
  let data = Buffer.alloc(0);
  supervisor.on('data', (part) => {
    data = Buffer.concat([data, part]);
    for (; data.length >= 4 && data.readUInt32BE(0) === 0; data = data.subarray(4)) writeAll(3, '+');
    if (data.length < 4 || data.length < 4 + data.readUInt32BE(0)) return;
    supervisor.removeAllListeners('data');
    supervisor.pause();
    supervisor.unref();
    then(JSON.parse(data.subarray(4).toString('utf8')));
  });
  supervisor.on('close', () => process.exit(0));
  supervisor.on('error', () => process.exit(0));
}

// rehearse goes once the way that a script's first call goes, so that what is on it
// is compiled before there is a script. The gateway refuses this path itself: another
// script may be running, whose bridge must not hear of it.
async function rehearse(hooks) {
  bridge = new Bridge(bridgeSocket, '');
  const late = new Promise((resolve) => setTimeout(resolve, rehearsalTime).unref());
  await Promise.race([late, bridge.open().then(() => bridge.call('GET', '/rehearsal', ''))]);
  bridge.close();
  hooks.result(await compile(wrap('return { a: [1, "b"] }'), 'rehearsal'));
}

const hooks = start();
const rehearsed = rehearse(hooks).catch(() => {});
receive((job) => void rehearsed.then(() => run(hooks, job)));
