// Talks to airlock through Vercel's AI SDK, and prints what it got as JSON. The
// argument is the base URL.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText } from 'ai';

const airlock = createOpenAICompatible({ name: 'airlock', baseURL: process.argv[2], includeUsage: true });
const stream = streamText({ model: airlock('airlock'), prompt: 'Make a chart.', maxRetries: 0 });
const got = { text: '' };
for await (const part of stream.textStream) got.text += part;
got.finish = await stream.finishReason;
got.usage = await stream.usage;
const whole = await generateText({ model: airlock('airlock'), prompt: 'Make a chart.', maxRetries: 0 });
got.whole = { text: whole.text, finish: whole.finishReason };
try {
  await generateText({ model: airlock('gpt-nothing'), prompt: 'x', maxRetries: 0 });
} catch (e) {
  got.error = `${e.statusCode} ${e.message}`;
}
console.log(JSON.stringify(got));
