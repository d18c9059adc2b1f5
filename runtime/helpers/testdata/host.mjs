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

  // sync answers print, file, now and random with a JSON text.
  sync(kind, json) {
    return JSON.stringify(this[kind](...JSON.parse(json)) ?? null);
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
// from the few functions that each engine offers in its own way.
export const inside = `(function (sync, call, timer, compile) {
  const { parse, stringify } = JSON;
  return {
    print(stream, text) { sync('print', stringify([stream, text])); },
    now() { return parse(sync('now', '[]')); },
    random(count) { return parse(sync('random', stringify([count]))); },
    file(op, path, data) {
      const answer = parse(sync('file', stringify([op, path, data])));
      if (answer.code !== undefined) throw Object.assign(new Error(answer.code + ': ' + answer.message), { code: answer.code });
      return answer.text;
    },
    call, timer,
    compile(source, filename) {
      const outcome = compile(source, filename);
      if ('error' in outcome) throw outcome.error;
      return outcome.value;
    },
  };
})`;
