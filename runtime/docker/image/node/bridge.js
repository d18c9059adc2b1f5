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

  #next() {
    while (this.#queue.length > 0 && (this.#idle.length > 0 || this.#open < maxConnections)) {
      this.#send(this.#idle.pop() ?? this.#connect(), this.#queue.shift());
    }
  }

  #connect() {
    this.#open++;
    const socket = net.connect({ path: this.#path });
    socket.on('close', () => {
      this.#open--;
      this.#idle = this.#idle.filter((one) => one !== socket);
      this.#next();
    });
    return socket;
  }

  #send(socket, { method, target, body, resolve }) {
    const reader = new Reader(maxAnswer);
    const settle = (answer, keep) => {
      socket.removeAllListeners('data').removeAllListeners('end').removeAllListeners('error').on('error', () => {});
      this.pending--;
      resolve(answer);
      if (!keep) return void socket.destroy();
      socket.unref(); // an idle connection keeps no script waiting
      this.#idle.push(socket);
      this.#next();
    };
    const finish = () => settle({ __proto__: null, status: reader.status, body: reader.body() }, reader.keep);
    socket.ref();
    socket.on('data', (piece) => {
      try {
        if (reader.feed(piece)) finish();
      } catch (error) {
        settle(failure(error), false);
      }
    });
    socket.on('end', () => (reader.end() ? finish() : settle(failure(new Error('it broke off')), false)));
    socket.on('error', (error) => settle(failure(error), false));
    const data = Buffer.from(body, 'utf8');
    socket.write(`${method} ${target} HTTP/1.1\r\n${this.#head}${data.length}\r\n\r\n`, 'latin1');
    if (data.length > 0) socket.write(data);
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
