// Talks to airlock as a program does that was written for OpenAI, and prints what
// it got as JSON. The argument is the base URL.
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: process.argv[2], apiKey: process.argv[3] ?? 'none', maxRetries: 0 });
const messages = [
  { role: 'system', content: 'Answer in English.' },
  { role: 'user', content: 'Remember ann@example.org.' },
  { role: 'assistant', content: 'I will.' },
  { role: 'user', content: [{ type: 'text', text: 'Make a chart.' }] },
];
const got = { models: [], text: '', chunks: 0, events: [], finish: null };
for await (const model of client.models.list()) got.models.push(model.id);

const stream = await client.chat.completions.create({
  model: 'airlock', messages, stream: true, stream_options: { include_usage: true }, temperature: 0,
});
for await (const chunk of stream) {
  got.chunks++;
  got.text += chunk.choices[0]?.delta?.content ?? '';
  got.finish = chunk.choices[0]?.finish_reason ?? got.finish;
  got.usage = chunk.usage ?? got.usage;
  if (chunk.airlock?.type) got.events.push(chunk.airlock.type);
}

const { data: whole, response } = await client.chat.completions.create({ model: 'airlock', messages }).withResponse();
got.whole = { text: whole.choices[0].message.content, finish: whole.choices[0].finish_reason, usage: whole.usage };
got.session = response.headers.get('x-airlock-session');

got.errors = [];
for (const body of [
  { model: 'gpt-nothing', messages },
  { model: 'airlock', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:,' } }] }] },
  { model: 'airlock', messages: [{ role: 'user', content: 'This task fails.' }] },
  { model: 'airlock', messages: [{ role: 'user', content: 'This task fails.' }], stream: true },
]) {
  try {
    const answer = await client.chat.completions.create(body);
    if (body.stream) for await (const _ of answer);
    got.errors.push('none');
  } catch (e) {
    got.errors.push(`${e.status ?? 'stream'} ${e.code}`);
  }
}
console.log(JSON.stringify(got));
