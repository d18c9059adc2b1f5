// host.call of the prelude's seam: the bridge by HTTP over its unix socket.
'use strict';
const http = require('http');

const maxAnswer = 64 << 20;

// refused is what the bridge would say in its own form.
function refused(status, code, message, hint) {
  return { __proto__: null, status, body: JSON.stringify({ error: { code, message, hint } }) };
}

// connect makes call(method, path, body); the token is known to it only.
function connect(socketPath, token) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  return function call(method, path, body) {
    return new Promise((resolve) => {
      const headers = { Authorization: `Bearer ${token}`, Host: 'bridge' };
      const data = Buffer.from(body, 'utf8');
      if (data.length > 0) headers['Content-Type'] = 'application/json';
      headers['Content-Length'] = data.length;
      const request = http.request({ socketPath, agent, method, path, headers }, (response) => receive(response, resolve));
      request.on('error', (error) => resolve(unreachable(error)));
      request.end(data);
    });
  };
}

function unreachable(error) {
  if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED' || error.code === 'EACCES') {
    return refused(503, 'unavailable', 'this sandbox has no bridge', 'run the script with a bridge to call tools');
  }
  return refused(500, 'internal', 'the bridge failed', 'try again');
}

function receive(response, resolve) {
  const parts = [];
  let size = 0;
  response.on('data', (part) => {
    size += part.length;
    if (size <= maxAnswer) return void parts.push(part);
    response.destroy();
    resolve(refused(502, 'result_too_large', 'the answer is too large', 'ask for less, page by page'));
  });
  response.on('end', () => resolve({ __proto__: null, status: response.statusCode, body: Buffer.concat(parts, size).toString('utf8') }));
  response.on('error', (error) => resolve(unreachable(error)));
}

module.exports = { connect };
