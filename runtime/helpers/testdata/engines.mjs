// The two engines the prelude is tested in: a bare context of Node, and the
// engine that airlock embeds.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import vm from 'node:vm';
import { inside, watcher } from './host.mjs';

// Our own sources are the same in every engine, so they are compiled once.
const isOurs = (filename) => filename.startsWith('airlock:');
const compiled = new Map();

function once(key, make) {
  if (!compiled.has(key)) compiled.set(key, make());
  return compiled.get(key);
}

function scriptOf(source, filename) {
  const make = () => new vm.Script(source, { filename });
  return isOurs(filename) ? once(filename, make) : make();
}

// evaluateIn evaluates our sources from bytecode, as a driver should do it: that
// takes a tenth of the time.
function evaluateIn(engine, source, filename) {
  if (!isOurs(filename)) return engine.evalCode(source, filename);
  return engine.evalBytecode(once(filename, () => engine.compile(source, filename, 0, stripSource)));
}

// runInNode runs a script in a fresh context of Node.
export async function runInNode(prelude, script, host) {
  const context = vm.createContext(Object.defineProperty({}, 'queueMicrotask', { value: queueMicrotask, writable: true, configurable: true }));
  const evaluate = (source, filename) => scriptOf(source, filename).runInContext(context);
  const make = evaluate('((status, body) => ({__proto__: null, status, body}))', 'host');
  const promise = evaluate('((Promise) => (start) => new Promise(start))(Promise)', 'host');
  const compile = (source, filename) => {
    try {
      return { __proto__: null, failed: false, value: evaluate(source, filename) };
    } catch (value) {
      return { __proto__: null, failed: true, value };
    }
  };
  const call = (method, path, body) => promise((resolve) => {
    const { status, body: text } = host.answer(method, path, body);
    host.after(1, () => resolve(make(status, text)));
  });
  const timer = (milliseconds) => promise((resolve) => host.after(milliseconds, resolve));
  const watch = evaluate(watcher, 'host');
  const made = evaluate(inside, 'host')((...args) => host.print(...args), () => host.now(), (count) => host.random(count), (...args) => host.access(...args), call, timer, compile);
  const hooks = evaluate(prelude, 'airlock:prelude')(made);
  const rejections = [];
  const unhandled = (error) => rejections.push(error);
  process.on('unhandledRejection', unhandled);
  try {
    return { ...await settle(watch, evaluate(wrap(script), 'script'), host, hooks), unhandled: rejections.map((error) => JSON.parse(hooks.error(error))) };
  } catch (error) {
    return { error: JSON.parse(hooks.error(error)), unhandled: [] };
  } finally {
    process.off('unhandledRejection', unhandled);
  }
}

function wrap(script) {
  return `(async()=>{${script}\n})()`;
}

async function settle(watch, promise, host, hooks) {
  let outcome;
  watch(promise, (value) => (outcome = { value }), (error) => (outcome = { error }));
  do await new Promise((resolve) => setImmediate(resolve)); while (outcome === undefined && host.next());
  if (outcome === undefined) return { stuck: true };
  if ('error' in outcome) return { error: JSON.parse(hooks.error(outcome.error)) };
  try {
    return { result: hooks.result(outcome.value) };
  } catch (error) {
    return { error: JSON.parse(hooks.error(error)) };
  }
}

const engine = createRequire(new URL('../../wasm/engine/package.json', import.meta.url));
let stripSource;

async function newEngine(options) {
  let file;
  try {
    file = engine.resolve('quickjs-wasi/quickjs.wasm');
  } catch {
    throw new Error('the embedded engine is not installed; run make deps');
  }
  const { QuickJS, CompileFlags } = await import(engine.resolve('quickjs-wasi'));
  stripSource = CompileFlags.STRIP_SOURCE;
  const wasm = await once('wasm', () => WebAssembly.compile(readFileSync(file)));
  return QuickJS.create({ wasm, memoryLimit: 256 << 20, maxStackSize: 512 << 10, ...options });
}

// runInQuickJS runs a script in a fresh embedded engine.
export async function runInQuickJS(prelude, script, host) {
  const unhandled = new Map();
  const engine = await newEngine({ unhandledRejectionHandler: () => {} });
  try {
    const hooks = install(engine, prelude, host);
    return { ...drive(engine, hooks, script, host), unhandled: [...unhandled.values()] };
  } finally {
    engine.dispose();
  }
}

function install(engine, prelude, host) {
  const text = (name, answer) => engine.newFunction(name, (...args) => engine.newString(answer(...args.map((one) => one.toString()))));
  const print = text('print', (...args) => host.print(...args) ?? '');
  const now = engine.newFunction('now', () => engine.newNumber(host.now()));
  const random = text('random', (count) => host.random(+count));
  const access = text('access', (...args) => host.access(...args));
  const blank = engine.evalCode('(() => ({__proto__: null, failed: false, value: undefined}))', 'host');
  const makeAnswer = engine.evalCode('((status, body) => ({__proto__: null, status, body}))', 'host');
  const answerOf = ({ status, body }) => engine.callFunction(makeAnswer, engine.undefined, engine.newNumber(status), engine.newString(body));
  const call = engine.newFunction('call', (method, path, body) => {
    const answer = host.answer(method.toString(), path.toString(), body.toString());
    const deferred = engine.newPromise();
    host.after(1, () => deferred.resolve(answerOf(answer)));
    return deferred.handle;
  });
  const timer = engine.newFunction('timer', (milliseconds) => {
    const deferred = engine.newPromise();
    host.after(milliseconds.toNumber(), () => deferred.resolve(engine.undefined));
    return deferred.handle;
  });
  const compile = engine.newFunction('compile', (source, filename) => {
    const outcome = engine.callFunction(blank, engine.undefined);
    try {
      engine.setProp(outcome, 'value', evaluateIn(engine, source.toString(), filename.toString()));
    } catch (error) {
      engine.setProp(outcome, 'failed', engine.true);
      engine.setProp(outcome, 'value', error.handle);
    }
    return outcome;
  });
  const made = engine.callFunction(engine.evalCode(inside, 'host'), engine.undefined, print, now, random, access, call, timer, compile);
  const hooks = engine.callFunction(evaluateIn(engine, prelude, 'airlock:prelude'), engine.undefined, made);
  return { hooks, watch: engine.evalCode(watcher, 'host') };
}

function drive(engine, { hooks, watch }, script, host) {
  let outcome;
  const ask = (name, value) => engine.callFunction(hooks.getProp(name), engine.undefined, value);
  const report = (value) => ({ error: JSON.parse(ask('error', value).toString()) });
  try {
    const promise = engine.evalCode(wrap(script), 'script');
    engine.callFunction(watch, engine.undefined, promise,
      engine.newFunction('resolved', (value) => { outcome = { value: value.dup() }; return engine.undefined; }),
      engine.newFunction('rejected', (value) => { outcome = { error: value.dup() }; return engine.undefined; }));
  } catch (error) {
    return report(error.handle);
  }
  do engine.executePendingJobs(); while (outcome === undefined && host.next());
  if (outcome === undefined) return { stuck: true };
  if (outcome.error !== undefined) return report(outcome.error);
  try {
    const result = ask('result', outcome.value);
    return { result: result.isUndefined ? undefined : result.toString() };
  } catch (error) {
    return report(error.handle);
  }
}
