import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { advance, resetSandbox } from '../../src/sandbox/index.ts';
import { freshFolder } from '../support/files.ts';
import { balance, open, order, reaches, receive, stateOf } from '../support/sandbox.ts';

const states = [
  'Pre-Processing',
  'Audio Processing',
  'Checking Audio Quality',
  'Transcribing',
  'Awaiting Edit',
  'Out for edit',
  'Awaiting Final Approval',
  'Order Chargeable',
  'Delivered',
];

describe('the clock', () => {
  it.each(['TRANS14', 'TRANS2', 'TRANS6', 'TRANS7', 'EMSR02'])(
    'brings %s home in five seconds at speed 1',
    async (sku) => {
      const folder = freshFolder();
      const client = await open({ folder, speed: 1 });
      const { file } = await order(client, undefined, { sku });
      const { openStore } = await import('../../src/sandbox/store.ts');
      const db = await openStore(folder);
      const row = db.get<{ first: number; last: number }>(
        'SELECT min(at) AS first, max(at) AS last FROM steps WHERE subject = ?',
        `file/${file}`,
      );
      db.close();
      expect((row?.last ?? 0) - (row?.first ?? 0)).toBe(5000);
    },
  );

  it('goes on while no process has the data open, and what became due is then sent', async () => {
    const folder = freshFolder();
    const receiver = await receive();
    const first = await open({ folder, speed: 10 });
    await first.post('/webhook', { webhook: receiver.url });
    const { file } = await order(first);
    expect(await stateOf(first, file)).toBe('Pre-Processing');
    await first.sandbox.close();
    await sleep(700);
    expect(receiver.events).toEqual([]);
    const second = await open({ folder });
    expect(await stateOf(second, file)).toBe('Delivered');
    await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: file });
    await second.sandbox.close();
    const third = await open({ folder });
    await sleep(250);
    await third.sandbox.close();
    expect(receiver.events).toHaveLength(1);
  });

  it('shows the believable states in their order', async () => {
    // Each state lasts longer than a busy machine takes to ask twice.
    const client = await open({ speed: 1 });
    const { file } = await order(client);
    const seen: string[] = [];
    while (seen.at(-1) !== 'Delivered') {
      const state = await stateOf(client, file);
      if (state !== seen.at(-1)) seen.push(state);
    }
    expect(seen).toEqual(states);
  });
});

describe('at speed 0', () => {
  it('a file moves only when told to, one state at a time', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const receiver = await receive();
    await client.post('/webhook', { webhook: receiver.url });
    const { file } = await order(client);
    const other = await order(client, 'https://a.example/other.mp3');
    await sleep(100);
    const seen = [await stateOf(client, file)];
    for (let n = 0; n < 8; n += 1) seen.push((await advance(folder, [file]))[0]?.state ?? '');
    expect(seen).toEqual(states);
    await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: file });
    expect(await advance(folder, [file])).toEqual([{ id: file, state: 'Delivered' }]);
    expect(await advance(folder)).toEqual([{ id: other.file, state: 'Audio Processing' }]);
    await sleep(250);
    expect(receiver.events).toHaveLength(1);
  });

  it('a held file stays held, and an unknown one is missing', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const { file } = await order(client, 'https://a.example/hold.mp3');
    expect(await advance(folder, [file])).toEqual([{ id: file, state: 'On Hold' }]);
    expect(await advance(folder)).toEqual([]);
    await expect(advance(folder, ['4711'])).rejects.toMatchObject({ kind: 'missing' });
  });
});

it('advance also hurries a file that moves by the clock', async () => {
  const folder = freshFolder();
  const client = await open({ folder, speed: 0.01 });
  const { file } = await order(client);
  for (let n = 0; n < 8; n += 1) await advance(folder, [file]);
  expect(await stateOf(client, file)).toBe('Delivered');
});

describe('reset', () => {
  it('starts afresh under a sandbox that goes on running', async () => {
    const folder = freshFolder();
    const client = await open({ folder });
    const start = await balance(client);
    const first = await order(client);
    await client.post('/webhook', { webhook: 'http://127.0.0.1:9/' });
    await resetSandbox(folder);
    expect(await balance(client)).toBe(start);
    expect((await client.get(`/audiofile/${first.file}`)).status).toBe(404);
    expect((await client.get('/webhook')).data.webhook).toBeNull();
    expect((await client.get('/audiofile/100')).status).toBe(200);
    const second = await order(client);
    expect([second.file, second.order]).toEqual([first.file, first.order]);
    await reaches(client, second.file, 'Delivered');
  });

  it('works where nothing was yet', async () => {
    await resetSandbox(`${freshFolder()}/deep/er`);
  });
});

describe('an ephemeral sandbox', () => {
  it('keeps nothing and shares nothing', async () => {
    const one = await open();
    const two = await open();
    const { file } = await order(one);
    expect((await two.get(`/audiofile/${file}`)).status).toBe(404);
  });
});
