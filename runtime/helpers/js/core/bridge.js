// Requests to the bridge, the script's one way out.

const { call: hostCall, print, file: hostFile } = host;

// ask sends a request and returns the parsed answer; anything but success is a
// BridgeError at the place the script called from.
async function ask(site, method, path, body) {
  const answer = await trusted(hostCall(method, path, body));
  const { status, body: text } = answer;
  let value;
  try {
    value = parseJSON(text);
  } catch {
    throw at(site, new BridgeError('the bridge answered ' + status + ' with something that is not JSON', 'bad_answer', undefined));
  }
  if (status >= 200 && status < 300) return box(value);
  throw at(site, refusal(status, own(value, 'error')));
}

// box keeps a promise from asking an answer for a "then" it may inherit.
function box(value) {
  return { __proto__: null, value };
}

function refusal(status, error) {
  const message = own(error, 'message');
  const code = own(error, 'code');
  return new BridgeError(
    typeof message === 'string' ? message : 'the bridge answered ' + status,
    typeof code === 'string' ? code : 'http_' + status,
    own(error, 'hint'),
  );
}

function toolPath(name, helper) {
  if (typeof name !== 'string' || name === '') {
    throw new TypeError(helper + ' needs a tool\'s name such as "database__query", not ' + (name === '' ? 'an empty string' : describe(name)));
  }
  return '/v1/tools/' + encodeURIComponent(name);
}
