// Finding and calling tools.

// list_mcp_tools lists names, or with a query or detail "summary" or "full"
// objects that also describe the tools and, with a query, say whether they fit it.
async function list_mcp_tools(options) {
  const site = callSite();
  const filter = typeof options === 'string' ? { __proto__: null, query: options } : options;
  const detail = own(filter, 'detail') ?? (own(filter, 'query') ? 'summary' : 'name');
  const query = listQuery(filter, detail);
  const found = [];
  let page = { __proto__: null };
  do {
    const { value } = await trusted(ask(site, 'GET', '/v1/tools?' + query + (page.cursor ?? ''), ''));
    page = takePage(found, value, detail);
  } while (page.cursor !== undefined && wantsAll(filter));
  return found;
}

// wantsAll tells whether the pages after the first are wanted, too.
function wantsAll(filter) {
  return own(filter, 'limit') === undefined && !own(filter, 'query');
}

// takePage adds a page's tools to found, says which servers are missing from it,
// and returns where the next page begins.
function takePage(found, value, detail) {
  const tools = own(value, 'tools');
  for (let i = 0; isArray(tools) && i < tools.length; i++) {
    define(found, found.length, detail === 'name' && typeof tools[i] !== 'string' ? own(tools[i], 'name') : tools[i]);
  }
  if (own(value, 'fits') === false) print('stderr', 'list_mcp_tools: no tool seems to do that; what is listed are guesses\n');
  const missing = own(value, 'unavailable');
  for (let i = 0; isArray(missing) && i < missing.length; i++) {
    print('stderr', 'list_mcp_tools: the server ' + own(missing[i], 'server') + ' is not available now: ' + own(missing[i], 'message') + '\n');
  }
  const cursor = own(value, 'nextCursor');
  return { __proto__: null, cursor: cursor === undefined ? undefined : '&cursor=' + encodeURIComponent('' + cursor) };
}

function listQuery(filter, detail) {
  let query = 'detail=' + encodeURIComponent('' + detail);
  const names = ['query', 'server', 'limit'];
  for (let i = 0; i < names.length; i++) {
    const value = own(filter, names[i]);
    if (value !== undefined && value !== null) query += '&' + names[i] + '=' + encodeURIComponent('' + value);
  }
  return query;
}

// get_mcp_tool_details returns a tool's description, schemas and signature.
async function get_mcp_tool_details(name) {
  const site = callSite();
  const { value } = await trusted(ask(site, 'GET', toolPath(name, 'get_mcp_tool_details'), ''));
  return value;
}

// callMCPTool calls a tool and returns what a programmer wants of its answer;
// with {raw: true} the answer as the tool gave it, even one that says it failed.
async function callMCPTool(name, args, options) {
  const site = callSite();
  const path = toolPath(name, 'callMCPTool') + '/call';
  const body = '{"arguments":' + encodeArguments(name, args) + '}';
  const { value } = await trusted(ask(site, 'POST', path, body));
  if (own(options, 'raw')) return value;
  if (own(value, 'isError') === true) {
    const content = own(value, 'content');
    throw at(site, new MCPToolError(name, failureText(value), content));
  }
  return decodeResult(name, value);
}

function encodeArguments(name, args) {
  if (args === undefined || args === null) return '{}';
  if (typeof args !== 'object' || isArray(args)) {
    throw new TypeError('the arguments of ' + name + ' must be an object such as {query: "…"}, not ' + describe(args));
  }
  return encode(args, 'arguments', bigintAsNumber);
}

function failureText(result) {
  const content = own(result, 'content');
  const texts = list();
  for (let i = 0; isArray(content) && i < content.length; i++) {
    const text = own(content[i], 'text');
    if (typeof text === 'string' && text !== '') push(texts, text);
  }
  return texts.length > 0 ? join(texts, '\n') : 'the tool reported an error without saying which';
}

// mcp.<server>.<tool>(args) is callMCPTool("<server>__<tool>", args). The
// objects exist only as far as they are used, so that any name works.
const mcp = new Proxy({ __proto__: null }, {
  __proto__: null,
  get: (target, server) => (isToolWord(server) ? serverTools(server) : undefined),
});

function serverTools(server) {
  return new Proxy({ __proto__: null }, {
    __proto__: null,
    get: (target, tool) => (isToolWord(tool) ? toolFunction(server + '__' + tool) : undefined),
  });
}

function toolFunction(name) {
  return (args, options) => callMCPTool(name, args, options);
}

// isToolWord leaves out what the language itself asks objects for: await looks
// for then, JSON.stringify for toJSON.
function isToolWord(word) {
  return typeof word === 'string' && word !== 'then' && word !== 'toJSON';
}
