// Node itself as the peer: what a real URL, structuredClone, toLocaleString or
// console makes of the same script.
import { format } from 'node:util';
import { createRequire } from 'node:module';

const AsyncFunction = (async () => {}).constructor;

export async function runInPeer(prelude, script, host) {
  const print = (stream) => (...args) => host.print(stream, `${format(...args)}\n`);
  const console = { log: print('stdout'), error: print('stderr'), table: tableTo(host) };
  try {
    const value = await new AsyncFunction('console', 'require', script)(console, createRequire(import.meta.url));
    return { result: JSON.stringify(value) };
  } catch (error) {
    return { error: { name: error?.name, message: error?.message } };
  }
}

function tableTo(host) {
  return (...args) => {
    const write = process.stdout.write;
    process.stdout.write = (text) => { host.print('stdout', text); return true; };
    try {
      globalThis.console.table(...args);
    } finally {
      process.stdout.write = write;
    }
  };
}
