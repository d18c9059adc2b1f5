// A fake host for the prelude: files in memory, a bridge of canned answers, and
// a clock that jumps to the next timer whenever nothing else can happen.

const fail = (code, message) => ({ code, message });

export class FakeHost {
  constructor({ files = {}, bridge = {} }) {
    this.files = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
    this.bridge = bridge;
    this.output = { stdout: '', stderr: '' };
    this.calls = [];
    this.timers = [];
    this.clock = 0;
  }

  // access is file as a text: "=" and the answer, or "!", the code and a message.
  access(op, path, data) {
    const answer = this.file(op, path, data);
    return answer.code === undefined ? `=${answer.text}` : `!${answer.code} ${answer.message}`;
  }

  print(stream, text) {
    this.output[stream] += text;
  }

  now() {
    return this.clock;
  }

  random(count) {
    return Buffer.from(Array.from({ length: count }, (_, i) => (i * 37 + ++this.clock) & 255)).toString('base64');
  }

  file(op, path, data) {
    if (!/^\/(workspace|artifacts|skills|tools)(\/|$)/.test(path)) return fail('EACCES', `${path} is outside the folders`);
    const file = this.files.get(path);
    const below = [...this.files.keys()].filter((name) => name.startsWith(path.replace(/\/$/, '') + '/'));
    switch (op) {
      case 'write': return void this.files.set(path, Buffer.from(data)) ?? { text: '' };
      case 'writeBase64': return void this.files.set(path, Buffer.from(data, 'base64')) ?? { text: '' };
      case 'list': return below.length === 0 ? fail('ENOENT', `${path} does not exist`) : { text: JSON.stringify(this.entries(path, below)) };
    }
    if (file === undefined && below.length === 0) return fail('ENOENT', `${path} does not exist`);
    if (op === 'stat') return { text: JSON.stringify(this.entry(path, file)) };
    if (file === undefined) return fail('EISDIR', `${path} is a folder`);
    if (op === 'remove') return void this.files.delete(path) ?? { text: '' };
    return { text: file.toString(op === 'readBase64' ? 'base64' : 'utf8') };
  }

  entries(path, below) {
    const names = new Set(below.map((name) => name.slice(path.length).replace(/^\//, '').split('/')[0]));
    return [...names].sort().map((name) => this.entry(`${path}/${name}`, this.files.get(`${path}/${name}`)));
  }

  entry(path, file) {
    return { name: path.split('/').pop(), isDirectory: file === undefined, size: file?.length ?? 0, mtimeMs: 1700000000000 };
  }

  // answer is what the bridge says to a request.
  answer(method, path, body) {
    this.calls.push({ method, path, body });
    const canned = this.bridge[`${method} ${path}`] ?? this.bridge[`${method} *`];
    if (canned === undefined) return { status: 404, body: JSON.stringify({ error: { code: 'unknown_tool', message: `no ${path}`, hint: 'nearest: database__query' } }) };
    const text = typeof canned.body === 'string' ? canned.body : JSON.stringify(canned.body);
    return { status: canned.status ?? 200, body: text };
  }

  after(milliseconds, fire) {
    this.timers.push({ at: this.clock + milliseconds, order: this.timers.length, fire });
  }

  // next fires the earliest timer; false when there is none.
  next() {
    if (this.timers.length === 0) return false;
    this.timers.sort((a, b) => a.at - b.at || a.order - b.order);
    const { at, fire } = this.timers.shift();
    this.clock = Math.max(this.clock, at);
    fire();
    return true;
  }
}

// inside is evaluated within the engine: it makes the host object of the seam
// from the few functions that each engine offers in its own way. Like the real
// one it must not care what scripts do to the language.
export const inside = `(function (print, now, random, access, call, timer, compile) {
  const uncurry = Function.prototype.bind.bind(Function.prototype.call);
  const slice = uncurry(String.prototype.slice), indexOf = uncurry(String.prototype.indexOf);
  const { defineProperty } = Object;
  const HostError = Error;
  return {
    print, now, random, call, timer,
    file(op, path, data) {
      const answer = access(op, path, data);
      if (answer[0] === '=') return slice(answer, 1);
      const code = slice(answer, 1, indexOf(answer, ' '));
      throw defineProperty(new HostError(slice(answer, 1)), 'code', { __proto__: null, value: code });
    },
    compile(source, filename) {
      const outcome = compile(source, filename);
      if (outcome.failed) throw outcome.value;
      return outcome.value;
    },
  };
})`;

// watcher is evaluated within the engine: it reports how a promise ends.
export const watcher = `(async function (promise, resolved, rejected) {
  let value;
  try {
    value = await promise;
  } catch (error) {
    return void rejected(error);
  }
  resolved(value);
})`;
