// Finding and calling tools.

// list_mcp_tools lists names, or with a query or detail "summary" or "full"
// objects that also describe the tools.
async function list_mcp_tools(options) {
  const site = callSite();
  const filter = typeof options === 'string' ? { __proto__: null, query: options } : options;
  const detail = own(filter, 'detail') ?? (own(filter, 'query') ? 'summary' : 'name');
  const { value } = await trusted(ask(site, 'GET', `/v1/tools?${listQuery(filter, detail)}`, ''));
  const tools = own(value, 'tools');
  return detail === 'name' ? toolNames(tools) : tools;
}

function listQuery(filter, detail) {
  let query = `detail=${encodeURIComponent(`${detail}`)}`;
  const names = ['query', 'server', 'limit'];
  for (let i = 0; i < names.length; i++) {
    const value = own(filter, names[i]);
    if (value !== undefined && value !== null) query += `&${names[i]}=${encodeURIComponent(`${value}`)}`;
  }
  return query;
}

function toolNames(tools) {
  const names = [];
  for (let i = 0; i < tools.length; i++) {
    define(names, i, typeof tools[i] === 'string' ? tools[i] : own(tools[i], 'name'));
  }
  return names;
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
  const path = `${toolPath(name, 'callMCPTool')}/call`;
  const body = `{"arguments":${encodeArguments(name, args)}}`;
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
    throw new TypeError(`the arguments of ${name} must be an object such as {query: "…"}, not ${describe(args)}`);
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
    get: (target, tool) => (isToolWord(tool) ? toolFunction(`${server}__${tool}`) : undefined),
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
