// Talks to airlock as a host does, by the official SDK, and prints what it got as
// JSON. The arguments are "http" and the URL, or "stdio" and a command with its own.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema, LoggingMessageNotificationSchema, ResourceListChangedNotificationSchema, ResourceUpdatedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';

const [way, target, ...rest] = process.argv.slice(2);
const transport = way === 'http'
  ? new StreamableHTTPClientTransport(new URL(target))
  : new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: 'inherit' });
const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
const got = { progress: [], logged: [], asked: [], changed: 0 };
client.setNotificationHandler(LoggingMessageNotificationSchema, (n) => { got.logged.push(n.params.data); });
client.setNotificationHandler(ResourceListChangedNotificationSchema, () => { got.changed++; });
const updated = new Promise((resolve) => {
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, (n) => resolve(n.params.uri));
});
client.setRequestHandler(ElicitRequestSchema, (r) => { got.asked.push(r.params.message); return { action: 'accept', content: {} }; });
await client.connect(transport);
// The client forgets who follows a call as soon as it reads the answer, before it has
// passed on what came in the same piece. So what comes is noted here.
const take = transport.onmessage;
transport.onmessage = (message, ...more) => {
  if (message.method === 'notifications/progress') got.progress.push(message.params.message);
  take(message, ...more);
};

const run = (code, options) => client.callTool({ name: 'execute_code', arguments: { code } }, undefined, options);
const long = { timeout: 60_000 };
got.tools = (await client.listTools()).tools.map((t) => t.name);
await client.setLoggingLevel('info');
got.called = await run(`
  for (let i = 0; i < 20; i++) { console.log("step " + i); await utils.sleep(1) }
  await fs.writeFile("/artifacts/mails.csv", (await callMCPTool("database__query", {query: "SELECT email FROM customers LIMIT 3"})).map((r) => r.email).join("\\n"));
  return "done"`, { ...long, onprogress: () => {} });

const stop = new AbortController();
const endless = run('console.log("on the way"); for (;;) await utils.sleep(5)', { ...long, signal: stop.signal, onprogress: (p) => { if (p.message.includes('on the way')) stop.abort('enough'); } });
got.cancelled = await endless.then(() => 'no', (e) => String(e.message ?? e));
// The session's turn is free long before the endless script would have run out of time.
got.afterCancel = (await run('return 1', { timeout: 15_000 })).structuredContent.status;

got.resources = (await client.listResources()).resources.map((r) => r.uri);
const uri = got.resources.find((u) => u.endsWith('mails.csv'));
got.read = (await client.readResource({ uri })).contents[0].text;
got.templates = (await client.listResourceTemplates()).resourceTemplates.length;
await client.subscribeResource({ uri });
await client.callTool({ name: 'write_file', arguments: { file_path: '/artifacts/mails.csv', content: 'new' } }, undefined, long);
got.updated = await updated;
got.unknown = await client.readResource({ uri: 'airlock://artifacts/none' }).catch((e) => e.code);
got.prompt = (await client.getPrompt({ name: 'agent_system_prompt' })).messages[0].content.text.length;
got.failed = await run('null.x', long);
await client.close();
console.log(JSON.stringify(got));
