// What a script threw, as JSON for those who report it.
(function (core) {
  'use strict';
  const { own, list, push, join, cut, define, contains, startsWith, slice, isArray, encode, bigintAsNumber, scriptFrames, stackOf, jsonStringify, textOf, load, kindOf } = core;

  const maxMessage = 16384;
  const maxStack = 8192;

  // hints say what to use instead of names that other places have.
  const network = 'scripts have no network; find a tool with list_mcp_tools({query}) and use callMCPTool';
  const hints = {
    __proto__: null,
    XMLHttpRequest: network, WebSocket: network, EventSource: network, axios: network, Request: network, Response: network, Headers: network, FormData: network,
    Deno: 'files are in the global fs, results are returned', Bun: 'files are in the global fs, results are returned',
    document: 'there is no web page; return a value or write a file to /artifacts', window: 'there is no web page; use globalThis',
    alert: 'use console.log', prompt: 'nobody can be asked; the task text holds what the user said', localStorage: 'write a file to /workspace',
    module: 'a script returns its result; module.exports is for files under /skills that scripts require', exports: 'a script returns its result; module.exports is for files under /skills that scripts require',
    __dirname: 'a script has no folder of its own; use /workspace', __filename: 'a script has no file of its own; use /workspace',
    Temporal: 'use Date', WebAssembly: 'use plain JavaScript', SharedArrayBuffer: 'use ArrayBuffer', Worker: 'use Promise.all for parallel calls',
    _: 'lodash is not available; use Object.groupBy, toSorted and the like',
  };

  function describeThrown(thrown) {
    const fields = { __proto__: null };
    try {
      fill(fields, thrown);
    } catch {
      fields.name ??= 'Error';
      fields.message ??= 'the script threw something that cannot be read';
    }
    fields.stack ??= '';
    return encodeFields(fields);
  }

  function fill(fields, thrown) {
    if (thrown === null) return fillNull(fields);
    if (typeof thrown !== 'object' && typeof thrown !== 'function') return fillPrimitive(fields, thrown);
    if (!looksLikeError(thrown)) return fillObject(fields, thrown);
    fields.name = cut(textOf(thrown, 'name', 'Error'), 100);
    fields.message = cut(textOf(thrown, 'message', '') + causes(thrown), maxMessage);
    fields.stack = cut(scriptFrames(stackOf(thrown)), maxStack);
    fillDetails(fields, thrown);
  }

  // The engine itself throws null when memory ends at a bad moment.
  function fillNull(fields) {
    fields.name = 'Error';
    fields.message = 'null was thrown';
    fields.hint = 'either the script did throw null or its memory ran out';
  }

  function fillPrimitive(fields, thrown) {
    fields.name = 'Error';
    fields.message = typeof thrown === 'symbol' ? 'a symbol was thrown' : cut('' + thrown, maxMessage);
  }

  function fillObject(fields, thrown) {
    fields.name = 'Error';
    const message = textOf(thrown, 'message', undefined);
    fields.message = cut(message ?? 'an object was thrown: ' + load('inspect').inspect(thrown), maxMessage);
    fillDetails(fields, thrown);
  }

  function looksLikeError(thrown) {
    return kindOf(thrown) === 'Error' || (textOf(thrown, 'message', undefined) !== undefined && textOf(thrown, 'stack', undefined) !== undefined);
  }

  function fillDetails(fields, thrown) {
    fields.code = textOf(thrown, 'code', undefined);
    fields.hint = textOf(thrown, 'hint', undefined) ?? hintFor(fields);
    fields.tool = textOf(thrown, 'tool', undefined);
    if (fields.tool !== undefined) fields.content = own(thrown, 'content');
  }

  function hintFor({ name, message }) {
    if (name !== 'ReferenceError') return undefined;
    const end = core.indexOf(message, ' is not defined');
    return end < 0 ? undefined : hints[unquoted(slice(message, 0, end))];
  }

  function unquoted(word) {
    return startsWith(word, "'") ? slice(word, 1, word.length - 1) : word;
  }

  // causes adds what lies behind an error: its cause and, of an AggregateError,
  // its parts.
  function causes(error) {
    let text = '';
    let cause = read(error, 'cause');
    for (let depth = 0; cause !== undefined && depth < 4; depth++) {
      text += '\n  caused by: ' + brief(cause);
      cause = cause === null || typeof cause !== 'object' ? undefined : read(cause, 'cause');
    }
    const parts = read(error, 'errors');
    for (let i = 0; isArray(parts) && i < parts.length && i < 5; i++) text += '\n  - ' + brief(parts[i]);
    return text;
  }

  function brief(value) {
    if (value === null || typeof value !== 'object') return typeof value === 'symbol' ? 'a symbol' : cut('' + value, 1000);
    return textOf(value, 'name', 'Error') + ': ' + cut(textOf(value, 'message', ''), 1000);
  }

  function read(object, key) {
    try {
      return object[key];
    } catch {
      return undefined;
    }
  }

  function encodeFields(fields) {
    const members = list();
    const names = ['name', 'message', 'stack', 'code', 'hint', 'tool'];
    for (let i = 0; i < names.length; i++) {
      if (typeof fields[names[i]] === 'string') push(members, '"' + names[i] + '":' + jsonStringify(fields[names[i]]));
    }
    const content = encodeContent(fields.content);
    if (content !== undefined) push(members, '"content":' + content);
    return '{' + join(members, ',') + '}';
  }

  function encodeContent(content) {
    try {
      return encode(content, 'content', bigintAsNumber);
    } catch {
      return undefined;
    }
  }

  return { __proto__: null, describeThrown };
})
