// The errors of the helpers, and where in the script they happened.

// MCPToolError is thrown when a tool itself reports that it failed.
class MCPToolError extends Error {
  constructor(tool, message, content) {
    super(message);
    define(this, 'tool', tool);
    define(this, 'content', content);
  }
}
define(MCPToolError.prototype, 'name', 'MCPToolError', false);

// BridgeError is thrown when airlock refused a call or could not make it.
class BridgeError extends Error {
  constructor(message, code, hint) {
    super(message);
    define(this, 'code', code);
    define(this, 'hint', hint);
  }
}
define(BridgeError.prototype, 'name', 'BridgeError', false);

const inheritedStack = own(getOwnPropertyDescriptor(Error.prototype, 'stack'), 'get');

// prelude is the name under which the engine knows this source; frames of it
// and of "airlock:…" are ours, not the script's.
const prelude = fileOf(stackOf(new Error()));

// stackOf reads an error's stack. The embedded engine has it on the prototype,
// where scripts could put another.
function stackOf(error) {
  try {
    const found = getOwnPropertyDescriptor(error, 'stack');
    if (found === undefined) return inheritedStack === undefined ? '' : apply(inheritedStack, error, []);
    return found.get === undefined ? found.value : apply(found.get, error, []);
  } catch {
    return '';
  }
}

function fileOf(stack) {
  const frame = frameLines(stack)[0] ?? '';
  const open = indexOf(frame, '(') + 1 || indexOf(frame, 'at ') + 3;
  const colon = indexOf(frame, ':', indexOf(frame, 'airlock:', open) === open ? open + 8 : open);
  return slice(frame, open, colon < 0 ? frame.length : colon);
}

function frameLines(stack) {
  const frames = list();
  if (typeof stack !== 'string') return frames;
  const lines = split(cut(stack, 65536), '\n');
  for (let i = 0; i < lines.length; i++) if (startsWith(lines[i], '    at ')) push(frames, lines[i]);
  return frames;
}

function isOurs(frame) {
  return contains(frame, 'airlock:') || (prelude !== '' && contains(frame, prelude + ':'));
}

// scriptFrames is a stack without the helpers' frames, the built-in functions they
// called, and the call that started the script.
function scriptFrames(stack) {
  const frames = frameLines(stack);
  const kept = list();
  for (let i = 0; i < frames.length; i++) if (!isOurs(frames[callerOf(frames, i)])) push(kept, frames[i]);
  if (kept.length > 1 && startsWith(kept[kept.length - 1], '    at <eval> (')) kept.length--;
  return kept.length === 0 ? '' : join(kept, '\n') + '\n';
}

// callerOf finds the frame that a built-in function was called from; any other
// frame stands for itself.
function callerOf(frames, i) {
  let at = i;
  while (at < frames.length - 1 && endsWith(frames[at], ' (native)')) at++;
  return at;
}

// callSite remembers where the script called a helper: when the answer comes,
// the script's frames have left the stack.
function callSite() {
  return scriptFrames(stackOf(new Error()));
}

function at(site, error) {
  return define(error, 'stack', site, false);
}
