/** Several programs that serve one sandbox. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { balance, type Client, clientOf, order, receive, stateOf } from '../support/sandbox.ts';
import { User } from '../support/steno.ts';
import { until } from '../support/until.ts';

async function serve(user: User): Promise<Client & { readonly kill: () => Promise<unknown> }> {
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
  return { ...clientOf(baseUrl, key), kill: () => killed(child) };
}

function killed(child: ChildProcess): Promise<unknown> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  return gone;
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

it('kill -9 at any time leaves data that opens, with every order that was answered', async () => {
  const user = new User();
  const receiver = await receive();
  const answered = new Set<string>();
  for (let round = 0; round < 4; round += 1) {
    const server = await serve(user);
    await server.post('/webhook', { webhook: receiver.url });
    const calls = Promise.allSettled(
      Array.from({ length: 40 }, async (_, n) => {
        answered.add((await order(server, `https://a.example/${round}/${n}.mp3`)).file);
      }),
    );
    await sleep(Math.random() * 120);
    await server.kill();
    await calls;
  }
  const server = await serve(user);
  // So that there is one where every process was killed too soon.
  answered.add((await order(server, 'https://a.example/answered.mp3')).file);
  for (const file of answered) expect(await stateOf(server, file)).toEqual(expect.any(String));
  expect(await balance(server)).toBeLessThan(25_000);
  const next = await order(server, 'https://a.example/after.mp3');
  expect(answered.has(next.file)).toBe(false);
  await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: next.file });
  const sent = receiver.events.map(({ event, audiofile }) => `${event} ${audiofile}`);
  expect(new Set(sent).size).toBe(sent.length);
});

it('kill -9 while its folder is being set up leaves one that opens', async () => {
  const user = new User();
  for (let round = 0; round < 4; round += 1) {
    const child = user.start(['sandbox', '--port', '0']);
    await sleep(60 + Math.random() * 200);
    await killed(child);
  }
  await order(await serve(user));
});
