/** Several programs that serve one sandbox. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type Client, clientOf, order, receive } from '../support/sandbox.ts';
import { User } from '../support/steno.ts';
import { until } from '../support/until.ts';

async function serve(user: User): Promise<Client> {
  const child = user.start(['sandbox', '--port', '0', '--speed', '20']);
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  const [, baseUrl = '', key = ''] = await until(
    () => /(http:\S+)\t(\S+)\n/.exec(out) ?? undefined,
    () => out,
  );
  return clientOf(baseUrl, key);
}

it('three processes on the same data neither double nor lose an event', async () => {
  const user = new User();
  const receiver = await receive();
  const servers = await Promise.all([serve(user), serve(user), serve(user)]);
  await servers[0].post('/webhook', { webhook: receiver.url });
  const placed = await Promise.all(
    Array.from({ length: 150 }, (_, n) =>
      order(servers[n % 3] as Client, `https://a.example/${n % 2 ? 'difficult' : 'plain'}-${n}.mp3`),
    ),
  );
  expect(new Set(placed.map(({ order: id }) => id)).size).toBe(150);
  await until(() => receiver.events.length >= 225, '225 events');
  await sleep(400);
  const sent = receiver.events.map(({ event, audiofile }) => `${event} ${audiofile}`);
  expect(sent).toHaveLength(225);
  expect(new Set(sent).size).toBe(225);
});
