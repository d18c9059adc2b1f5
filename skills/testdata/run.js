// Runs one skill in Node with stand-ins for the sandbox's helpers. A tool call is
// a line of JSON on stdout, its answer a line on stdin; what the skill wrote and
// returned, or threw, is the last line.
'use strict';
const readline = require('node:readline');

const [file, input, tools] = [process.argv[2], JSON.parse(process.argv[3]), JSON.parse(process.argv[4])];
const lines = readline.createInterface({ input: process.stdin });
const waiting = new Map();
const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

lines.on('line', (line) => {
  const { id, result, error } = JSON.parse(line);
  const { resolve, reject } = waiting.get(id);
  waiting.delete(id);
  if (error) reject(Object.assign(new Error(error), { name: 'MCPToolError' }));
  else resolve(result);
});

let calls = 0;
const files = {};
globalThis.list_mcp_tools = async () => Object.keys(tools);
globalThis.get_mcp_tool_details = async (name) => ({ name, inputSchema: tools[name] });
globalThis.callMCPTool = (name, args) => new Promise((resolve, reject) => {
  calls += 1;
  waiting.set(calls, { resolve, reject });
  say({ call: calls, name, args });
});
globalThis.fs = { writeFile: async (name, text) => { files[name] = text; } };

require(file)(input).then(
  (result) => say({ result, files }),
  (error) => say({ thrown: String(error && error.message) }),
).finally(() => lines.close());
