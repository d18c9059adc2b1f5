// process: the few things scripts look at; there is no process of theirs.
(function (core) {
  'use strict';
  const { print, now, define, apply, load, Error } = core;

  function stream(name) {
    return { write(text) { print(name, `${text}`); return true; }, isTTY: false, columns: 80 };
  }

  function refuse(what, hint) {
    const error = new Error(`${what} is not available`);
    throw define(error, 'hint', hint);
  }

  const process = {
    env: {},
    argv: ['airlock', 'script'],
    platform: 'linux',
    arch: 'wasm32',
    version: 'v20.0.0',
    versions: {},
    pid: 1,
    exitCode: undefined,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    cwd: () => '/workspace',
    uptime: () => now() / 1000,
    memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
    hrtime: Object.assign(hrtime, { bigint: () => BigInt(Math.round(now() * 1e6)) }),
    nextTick(callback, ...args) { queueMicrotask(() => apply(callback, undefined, args)); },
    on() { return process; },
    once() { return process; },
    off() { return process; },
    emitWarning(warning) { load('console').console.warn(`Warning: ${warning}`); },
    exit() { refuse('process.exit', 'end the script with return'); },
    chdir() { refuse('process.chdir', 'use absolute paths under /workspace'); },
    kill() { refuse('process.kill', 'end the script with return'); },
  };

  function hrtime(previous) {
    const total = now() * 1e6;
    const seconds = Math.floor(total / 1e9) - (previous?.[0] ?? 0);
    const nanos = Math.round(total % 1e9) - (previous?.[1] ?? 0);
    return nanos < 0 ? [seconds - 1, nanos + 1e9] : [seconds, nanos];
  }

  return { __proto__: null, process };
})
