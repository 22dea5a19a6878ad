import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { advance, advanceBy, resetSandbox } from '../../src/sandbox/index.ts';
import { freshFolder } from '../support/files.ts';
import { balance, open, order, reaches, receive, stateOf } from '../support/sandbox.ts';
import { User } from '../support/steno.ts';

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

describe('a clock that is moved', () => {
  const WEEK_MS = 7 * 86_400_000;

  it('brings about what is due by then, tells which files it moved, and is kept', async () => {
    const folder = freshFolder();
    const first = await open({ folder, speed: 0.01 });
    const receiver = await receive();
    await first.post('/webhook', { webhook: receiver.url });
    const { file } = await order(first, 'https://a.example/difficult.mp3');
    const held = await order(first, 'https://a.example/hold.mp3');
    const moved = await advanceBy(folder, WEEK_MS);
    expect(moved).toEqual([{ id: file, state: 'Delivered' }]);
    expect(await advanceBy(folder, 1)).toEqual([]);
    expect(await stateOf(first, held.file)).toBe('On Hold');
    await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: file });
    expect(receiver.events.map(({ event }) => event)).toEqual([
      'ORDER_ON_HOLD',
      'DIFFICULT_AUDIO',
      'TRANSCRIPT_COMPLETE',
    ]);
    await first.sandbox.close();
    const second = await open({ folder });
    expect(second.sandbox.now()).toBeGreaterThan(Date.now() + WEEK_MS - 60_000);
    await order(second);
    const { createtime, paidtime } = (await second.post('/invoice/5003')).data;
    for (const time of [createtime, paidtime])
      expect(Math.abs(Date.parse(String(time)) - second.sandbox.now())).toBeLessThan(60_000);
    await resetSandbox(folder);
    expect(second.sandbox.now()).toBeLessThan(Date.now() + 60_000);
  });

  it('moves no file at speed 0', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const { file } = await order(client);
    expect(await advanceBy(folder, WEEK_MS)).toEqual([]);
    expect(await stateOf(client, file)).toBe('Pre-Processing');
  });

  it('is what the ledger and the report go by', async () => {
    const user = new User();
    const steno = async (line: string): Promise<string> => {
      const { code, stdout, stderr } = await user.run(line.split(' '));
      expect([line, code, stderr]).toEqual([line, 0, expect.any(String)]);
      return stdout;
    };
    await steno('--sandbox order https://a.example/overdue.mp3 --sku TRANS2 --quiet');
    expect(await steno('sandbox advance --by 2d --json')).toContain('"Transcribing"');
    const late = JSON.parse(await steno('--sandbox report --json'));
    expect(JSON.stringify(late)).toMatch(/"late_seconds":864\d\d[,}]/);
    await steno('--sandbox order https://a.example/next.mp3 --sku EMSR02 --quiet');
    const [next] = JSON.parse(await steno('--sandbox files --limit 1 --json'));
    expect(Date.parse(next.ordered_at)).toBeGreaterThan(Date.now() + 1.9 * 86_400_000);
    expect(await steno('sandbox advance --by 1w')).toContain('1001\tDelivered');
    await steno('--sandbox files --refresh');
    const { turnaround } = JSON.parse(await steno('--sandbox report --json'));
    expect(turnaround).toContainEqual(expect.objectContaining({ sku: 'TRANS2', delivered: 1, late: 1 }));
  });

  it.each([
    ['a time that is none', ['--by', 'soon']],
    ['no time at all', ['--by', '0s']],
    ['a time back', ['--by', '-1d']],
    ['ids beside it', ['1001', '--by', '1d']],
  ])('is refused with %s', async (_, args) => {
    const user = new User();
    const { code, stdout } = await user.run(['sandbox', 'advance', ...args]);
    expect([code, stdout]).toEqual([2, '']);
  });
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
});

describe('an ephemeral sandbox', () => {
  it('keeps nothing and shares nothing', async () => {
    const one = await open();
    const two = await open();
    const { file } = await order(one);
    expect((await two.get(`/audiofile/${file}`)).status).toBe(404);
  });
});
