// Positions in errors: from the engine's stack to the script as it was written.
'use strict';

const prefix = '(async()=>{';
const suffix = '\n})()';
const frame = /^\s*at (?:(.*?) \()?(.*?):(\d+):(\d+)\)?$/;
const folders = /^\/(?:workspace|skills|tools|artifacts)\//;

// wrap makes the body of an async function of a script; lines stay where they are.
function wrap(code) {
  return prefix + code + suffix;
}

// locate fills in line and column of an error and leaves the frames of scripts.
function locate(error, name, code) {
  const kept = [];
  const lines = code.split('\n').length;
  for (const text of error.stack.split('\n')) {
    const match = frame.exec(text);
    if (match === null) {
      if (text.includes('(<anonymous>)')) kept.push(text);
      continue;
    }
    const [, caller, place, line, column] = match;
    const file = place.replace(/^async /, '');
    if (file === name ? +line > lines : !folders.test(file)) continue; // ours, or the call of the wrapper
    const at = file === name ? original(+line, +column, lines) : { line: +line, column: +column };
    if (file === name && !error.line) Object.assign(error, at);
    kept.push(caller ? `    at ${caller} (${file}:${at.line}:${at.column})` : `    at ${file}:${at.line}:${at.column}`);
  }
  error.stack = kept.join('\n');
  return error;
}

// original undoes the wrapping.
function original(line, column, lines) {
  if (line > lines) return { line: lines, column: 1 };
  return { line, column: line === 1 ? Math.max(column - prefix.length, 1) : column };
}

// locateSyntax finds where a script cannot be read: V8 writes file, line and a
// caret above the error's own stack.
function locateSyntax(error, stack, name, code) {
  const head = stack.split('\n');
  const start = head[0].startsWith(`${name}:`) ? +head[0].slice(name.length + 1) : 0;
  if (!(start > 0)) return error;
  const column = Math.max((head[2] ?? '').indexOf('^') + 1, 1);
  const lines = code.split('\n').length;
  if (start > lines) error.message += ' (at the end of the script)';
  return Object.assign(error, original(start, column, lines), { stack: '' });
}

module.exports = { wrap, locate, locateSyntax };
