import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { advance, releaseHold, scenarios } from '../../src/sandbox/index.ts';
import { freshFolder } from '../support/files.ts';
import { balance, type Cleanup, open, order, reaches, receive, stateOf } from '../support/sandbox.ts';

/** Where a file with the word in its URL ends, and the events that are sent on its way. */
const ends: Record<string, readonly [string, ...string[]]> = {
  hold: ['On Hold', 'ORDER_ON_HOLD'],
  unpaid: ['Delivered', 'TRANSCRIPT_COMPLETE'],
  difficult: ['Delivered', 'DIFFICULT_AUDIO', 'TRANSCRIPT_COMPLETE'],
  duplicate: ['Delivered', 'DUPLICATE_FILE', 'TRANSCRIPT_COMPLETE'],
  refund: ['Refunded', 'REFUND_ISSUED'],
  'card-failure': ['Delivered', 'CC_AUTH_FAILURE', 'TRANSCRIPT_COMPLETE'],
  error: ['Error'],
  cancel: ['Order Cancelled', 'REFUND_ISSUED'],
  slow: ['Delivered', 'TRANSCRIPT_COMPLETE'],
  overdue: ['Transcribing'],
  marks: ['Delivered', 'TRANSCRIPT_COMPLETE'],
};

async function withWebhook(options: Parameters<typeof open>[0] = {}, cleanup: Cleanup = onTestFinished) {
  const client = await open(options, cleanup);
  const receiver = await receive(200, cleanup);
  await client.post('/webhook', { webhook: receiver.url });
  return { ...client, receiver };
}

describe('the scenarios', () => {
  it('are those of the help', () => {
    expect(scenarios.map(({ word }) => word).sort()).toEqual([...Object.keys(ends), 'unfetchable'].sort());
  });

  it.concurrent.for(Object.entries(ends))(
    '%s',
    async ([word, [state, ...events]], { expect, onTestFinished }) => {
      const client = await withWebhook({ speed: word === 'slow' ? 200 : 50 }, onTestFinished);
      const { file } = await order(client, `https://example.com/${word.toUpperCase()}/talk.mp3`);
      await reaches(client, file, state);
      await sleep(150);
      expect(client.receiver.events.map((event) => event.event)).toEqual(events);
      expect(client.receiver.requests.every(({ method }) => method === 'POST')).toBe(true);
      expect(new Set(client.receiver.requests.map(({ type }) => type))).toEqual(
        new Set(events.length > 0 ? ['application/x-www-form-urlencoded'] : []),
      );
    },
  );

  it('unfetchable refuses the whole order and names the URL', async () => {
    const client = await open();
    const before = await balance(client);
    const url = ['https://a.example/fine.mp3', 'https://a.example/unfetchable.mp3'];
    const reply = await client.post('/order_url', { url, sku: 'TRANS14' });
    expect(reply.status).toBe(400);
    expect(reply.data.message).toContain(url[1]);
    expect(await balance(client)).toBe(before);
    expect((await client.get('/audiofile/1001')).status).toBe(404);
  });

  it('refund gives back what the order took', async () => {
    const client = await withWebhook({ speed: 20 });
    const before = await balance(client);
    const { file } = await order(client, 'https://a.example/refund.mp3');
    const paid = before - (await balance(client));
    const event = await client.receiver.event({ event: 'REFUND_ISSUED', audiofile: file });
    expect(Number(event.amount)).toBeCloseTo(paid, 2);
    expect(await balance(client)).toBe(before);
    expect(event.transaction).not.toBe(event.original_transaction);
  });

  it('a URL ordered before is a duplicate of the first file with it, also within one order', async () => {
    const client = await withWebhook();
    const url = 'https://a.example/again.mp3';
    const first = await order(client, url);
    const reply = await client.post('/order_url', {
      url: [url, 'https://a.example/new', 'https://a.example/new'],
      sku: 'TRANS2',
    });
    const [again, once, twice] = (reply.data.audiofiles as number[]).map(String);
    const one = await client.receiver.event({ event: 'DUPLICATE_FILE', audiofile: again ?? '' });
    const two = await client.receiver.event({ event: 'DUPLICATE_FILE', audiofile: twice ?? '' });
    expect([one.original_audiofile, two.original_audiofile]).toEqual([first.file, once]);
  });

  it('together visit every state of the document', async () => {
    const text = readFileSync(new URL('../data/api4.md', import.meta.url), 'utf8');
    const states = /### Audiofile states.*\n\n(.*)\.\n/.exec(text)?.[1]?.split('; ') ?? [];
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const files = await Promise.all(
      [...Object.keys(ends), 'plain', 'machine'].map((word) =>
        order(client, `https://a.example/${word}.mp3`, { sku: word === 'machine' ? 'EMSR02' : 'TRANS6' }),
      ),
    );
    const seen = new Set<string>();
    for (let moves = 0; moves < 15; moves += 1) {
      for (const { file } of files) seen.add(await stateOf(client, file));
      await advance(folder);
    }
    expect([...seen].sort()).toEqual(states.sort());
  });
});

describe('a held order', () => {
  it('stays held, uncharged and without a transcript, until it is released', async () => {
    const folder = freshFolder();
    const client = await withWebhook({ folder });
    const before = await balance(client);
    const url = ['https://a.example/hold.mp3', 'https://a.example/other.mp3'];
    const reply = await client.post('/order_url', { url, sku: ['TRANS14', 'TSTMP1'] });
    const files = (reply.data.audiofiles as number[]).map(String);
    const id = String(reply.data.order);
    expect(reply.status).toBe(200);
    const event = await client.receiver.event({ event: 'ORDER_ON_HOLD', order: id });
    expect(event).toMatchObject({ audiofiles: files.join(','), hold: 'billing', skus: 'TRANS14,TSTMP1' });
    await sleep(300);
    for (const file of files) expect(await stateOf(client, file)).toBe('On Hold');
    expect((await client.post(`/audiofile/${files[0]}/refund`)).status).toBe(409);
    expect((await client.post('/invoice/5001')).data.state).toBe('CREATED');
    expect(await balance(client)).toBe(before);
    expect(client.receiver.events).toHaveLength(1);

    const moved = await releaseHold(folder, id);
    expect(moved.map((each) => each.id)).toEqual(files);
    for (const file of files) await client.receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: file });
    expect(await balance(client)).toBeLessThan(before);
    expect((await client.post('/invoice/5001')).data.state).toBe('PAID');
    expect(client.receiver.events).toHaveLength(3);
  });

  it('can be released once, and only if it is there', async () => {
    const folder = freshFolder();
    const client = await open({ folder });
    const { order: id } = await order(client, 'https://a.example/hold.mp3');
    await releaseHold(folder, id);
    await expect(releaseHold(folder, id)).rejects.toMatchObject({ kind: 'failed' });
    await expect(releaseHold(folder, 'zzzz')).rejects.toMatchObject({ kind: 'missing' });
  });
});
