import { expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';
import { open, order, receive, stateOf } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

it('holds 1,000 files and answers bursts of 200 parallel calls, with every event sent once', async () => {
  const client = await open({ folder: freshFolder(), speed: 10 });
  const receiver = await receive();
  await client.post('/webhook', { webhook: receiver.url });
  const files: string[] = [];
  for (let burst = 0; burst < 5; burst += 1) {
    const placed = await Promise.all(
      Array.from({ length: 200 }, (_, n) => order(client, `https://a.example/${burst}/${n}.mp3`)),
    );
    files.push(...placed.map(({ file }) => file));
  }
  expect(new Set(files).size).toBe(1000);
  await until(() => receiver.events.length >= 1000, '1,000 events');
  for (let burst = 0; burst < 5; burst += 1) {
    const some = files.slice(burst * 200, burst * 200 + 200);
    const states = await Promise.all(some.map((file) => stateOf(client, file)));
    expect(new Set(states)).toEqual(new Set(['Delivered']));
  }
  const texts = await Promise.all(
    files.slice(0, 200).map((file) => client.get(`/audiofile/${file}/transcript.txt`)),
  );
  expect(texts.every(({ status }) => status === 200)).toBe(true);
  expect(receiver.events.map((event) => event.audiofile).sort()).toEqual([...files].sort());
});

it('takes 1,000 URLs in one order', async () => {
  const client = await open({ folder: freshFolder() });
  const url = Array.from({ length: 1000 }, (_, n) => `https://a.example/${n}.mp3`);
  const reply = await client.post('/order_url', { url, sku: ['EMSR02', 'TSTMP1'] });
  expect(reply.data.audiofiles).toHaveLength(1000);
  expect((await client.post('/invoice/5001')).data.items).toHaveLength(2000);
});
