// host.call of the prelude's seam: the bridge by HTTP over its unix socket. Node's
// own client takes 10 ms longer to load than this.
'use strict';
const net = require('net');
const { Reader } = require('./response');

const maxAnswer = 64 << 20;
const maxConnections = 16;

// refused is what the bridge would say in its own form.
function refused(status, code, message, hint) {
  return { __proto__: null, status, body: JSON.stringify({ error: { code, message, hint } }) };
}

// Bridge makes calls; the token is in its connections' requests only.
class Bridge {
  #head;
  #path;
  #idle = [];
  #open = 0;
  #queue = [];
  pending = 0;

  constructor(path, token) {
    this.#path = path;
    this.#head = `Host: bridge\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: `;
  }

  // call resolves with {status, body}, and never rejects.
  call(method, target, body) {
    this.pending++;
    return new Promise((resolve) => {
      this.#queue.push({ method, target, body, resolve });
      this.#next();
    });
  }

  // open makes the first connection, so that the first call need not wait for it.
  open() {
    return new Promise((resolve) => this.#connect((socket) => {
      if (socket !== undefined) this.#rest(socket);
      resolve();
    }));
  }

  // close lets go of the connections that no call has.
  close() {
    for (const socket of this.#idle) socket.destroy();
  }

  #next() {
    while (this.#queue.length > 0 && (this.#idle.length > 0 || this.#open < maxConnections)) {
      const request = this.#queue.shift();
      if (this.#idle.length > 0) this.#send(this.#idle.pop(), request);
      else this.#connect((socket, error) => (socket === undefined ? this.#settle(request, failure(error)) : this.#send(socket, request)));
    }
  }

  // connect calls back with a connected socket, or with undefined and an error. A
  // socket is written to only when it is connected and has nothing to write: where
  // it would have to wait, Node's streams use the script's Array.
  #connect(then) {
    this.#open++;
    const socket = net.connect({ path: this.#path });
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      then(socket);
    });
    socket.once('error', (error) => then(undefined, error));
    socket.on('close', () => {
      this.#open--;
      this.#idle = this.#idle.filter((one) => one !== socket);
      this.#next();
    });
  }

  // rest keeps a socket for the next call; it keeps no script waiting.
  #rest(socket) {
    socket.on('error', () => {});
    socket.unref();
    this.#idle.push(socket);
  }

  #settle(request, answer) {
    this.pending--;
    request.resolve(answer);
  }

  #send(socket, request) {
    const reader = new Reader(maxAnswer);
    const settle = (answer, keep) => {
      socket.removeAllListeners('data').removeAllListeners('end').removeAllListeners('error');
      this.#settle(request, answer);
      this.#rest(socket);
      if (keep) this.#next();
      else socket.destroy();
    };
    const finish = () => settle({ __proto__: null, status: reader.status, body: reader.body() }, reader.keep);
    socket.removeAllListeners('error').ref();
    socket.on('data', (piece) => {
      try {
        if (reader.feed(piece)) finish();
      } catch (error) {
        settle(failure(error), false);
      }
    });
    socket.on('end', () => (reader.end() ? finish() : settle(failure(new Error('it broke off')), false)));
    socket.on('error', (error) => settle(failure(error), false));
    const { method, target, body } = request;
    const data = Buffer.from(body, 'utf8');
    const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${this.#head}${data.length}\r\n\r\n`, 'latin1');
    socket.write(data.length > 0 ? Buffer.concat([head, data]) : head);
  }
}

function failure(error) {
  if (error instanceof RangeError) return refused(502, 'result_too_large', 'the answer is too large', 'ask for less, page by page');
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'EACCES') {
    return refused(503, 'unavailable', 'this sandbox has no bridge', 'run the script with a bridge to call tools');
  }
  return refused(500, 'internal', 'the bridge failed', 'try again');
}

module.exports = { Bridge };
