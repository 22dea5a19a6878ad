import { describe, expect, it } from 'vitest';
import { orderId } from '../../src/sandbox/store.ts';
import { balance, type Fields, open, order, reaches, receive, send, stateOf } from '../support/sandbox.ts';

const file = async (client: Awaited<ReturnType<typeof open>>, id: string): Promise<Fields> =>
  (await client.get(`/audiofile/${id}`)).data.audiofile as Fields;

describe('an order', () => {
  it('gives integer file ids and short order ids in the raw JSON', async () => {
    const client = await open();
    const { reply } = await order(client, undefined, { url: ['https://a.example/1', 'https://a.example/2'] });
    expect(reply.text).toMatch(/"order":"[0-9A-Za-z]{3}","audiofiles":\[\d+,\d+\]/);
  });

  it('never gives the same order id twice', () => {
    const ids = Array.from({ length: 300_000 }, (_, count) => orderId(count));
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('takes names from name and names, alone, repeated or as arrays', async () => {
    const client = await open();
    const { baseUrl, apiKey } = client.sandbox;
    const forms = ['name=Ann&names=Bob', 'name=Ann&name=Bob', 'names=Ann|Bob'];
    for (const form of forms) {
      const reply = await send(`${baseUrl}/order_url?sku=TRANS2`, {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-8' },
        body: `api_key=${apiKey}&url=https%3A%2F%2Fa.example%2Fx&${form}`,
      });
      const [id] = reply.data.audiofiles as number[];
      expect((await file(client, String(id))).names).toBe('Ann|Bob');
    }
    const { file: id } = await order(client, 'https://a.example/y', { name: ['Ann'], names: ['Bob', 'Cy'] });
    expect((await file(client, id)).names).toBe('Ann|Bob|Cy');
  });

  it('keeps notes, the link and a title made of it', async () => {
    const client = await open();
    const url = 'https://example.com/a/board_meeting%20May.mp3?x=1&y=ü';
    const { file: id } = await order(client, url, { notes: 'Ünïcode\nnotes' });
    expect(await file(client, id)).toMatchObject({
      notes: 'Ünïcode\nnotes',
      originallink: url,
      title: 'Board meeting May',
    });
  });

  it('puts all SKUs on every URL of the invoice, and takes the total from the balance', async () => {
    const client = await open();
    const before = await balance(client);
    const { file: id } = await order(client, undefined, {
      url: ['https://a.example/1', 'https://a.example/2'],
      sku: ['TRANS7', 'TSTMP1', 'TRANS6'],
    });
    const [number] = (await file(client, id)).invoices as number[];
    const { items, total } = (await client.post(`/invoice/${number}`)).data as {
      items: Fields[];
      total: number;
    };
    expect(items.map((item) => item.sku)).toEqual(['TRANS6', 'TSTMP1', 'TRANS6', 'TSTMP1']);
    expect(items.reduce((sum, item) => sum + Number(item.total), 0)).toBeCloseTo(total, 2);
    expect(await balance(client)).toBeCloseTo(before - total, 2);
  });

  it.each([
    ['no URL', { url: [] }],
    ['a blank URL', { url: ' ' }],
    ['no SKU', { sku: [] }],
    ['an unknown SKU', { sku: 'TRANS1' }],
    ['an add-on alone', { sku: 'TSTMP1' }],
    ['two transcription SKUs', { sku: ['TRANS2', 'TRANS6'] }],
    ['a URL that is none', { url: 'talk.mp3' }],
    ['a file URL', { url: 'file:///etc/passwd' }],
    ['one bad URL of two', { url: ['https://a.example/1', 'nope'] }],
    ['an upgrade SKU', { sku: 'UPGRD1' }],
    ['an object for a URL', { url: { a: 1 } }],
  ])('is refused with %s, and nothing is charged', async (_, more) => {
    const client = await open();
    const before = await balance(client);
    const reply = await client.post('/order_url', { url: 'https://a.example/1', sku: 'TRANS6', ...more });
    expect(reply.status).toBe(400);
    expect(reply.data.message).toEqual(expect.any(String));
    expect(await balance(client)).toBe(before);
  });

  it('is held when the balance does not cover it', async () => {
    const client = await open({ speed: 0 });
    const url = Array.from({ length: 1500 }, (_, n) => `https://a.example/${n}`);
    const big = await client.post('/order_url', {
      url,
      sku: ['TRANS2', 'DIFFQ2', 'TSTMP1', 'CAPTION1', 'VERBATIM1'],
    });
    expect(big.data.hold).toBe('billing');
    expect((await order(client)).reply.data).not.toHaveProperty('hold');
  });
});

describe('a test order', () => {
  it('is neither charged nor transcribed, sends no event and says that it is a test', async () => {
    const client = await open();
    const receiver = await receive();
    await client.post('/webhook', { webhook: receiver.url });
    const before = await balance(client);
    const { file: id, reply } = await order(client, 'https://a.example/t', { test: true });
    expect(reply.data.test_message).toEqual(expect.any(String));
    await reaches(client, id, 'Order Cancelled');
    expect(await balance(client)).toBe(before);
    expect(await file(client, id)).not.toHaveProperty('invoices');
    expect((await client.get(`/audiofile/${id}/transcript.txt`)).status).toBe(409);
    expect((await client.get(`/audiofile/${id}/transcript.txt`, { test: '1' })).status).toBe(200);
    expect((await client.post(`/audiofile/${id}/refund`)).status).toBe(409);
    const real = await order(client, 'https://a.example/t');
    await receiver.event({ event: 'TRANSCRIPT_COMPLETE', audiofile: real.file });
    expect(receiver.events.map((event) => event.event)).toEqual(['TRANSCRIPT_COMPLETE']);
  });

  it.each(['0', 'false', false, null])('is not meant by test: %s', async (test) => {
    const client = await open();
    expect((await order(client, undefined, { test })).reply.data).not.toHaveProperty('test_message');
  });
});

describe('a transcript', () => {
  it('is there only once the file is delivered, and differs from file to file', async () => {
    const client = await open();
    const one = await order(client, 'https://a.example/one', { name: ['Zelda', 'Quentin'] });
    const two = await order(client, 'https://a.example/two');
    const early = await client.get(`/audiofile/${one.file}/transcript.txt`);
    expect(early.status).toBe(409);
    expect(early.data.message).toContain(one.file);
    await reaches(client, two.file, 'Delivered');
    const [first, second] = await Promise.all(
      [one, two].map(({ file: id }) => client.get(`/audiofile/${id}/transcript.txt`)),
    );
    expect(first?.text).toContain('Zelda');
    expect(first?.text).toContain('Quentin');
    expect(second?.text).not.toBe(first?.text);
  });

  it('is fake with test, whatever the state', async () => {
    const client = await open({ speed: 0 });
    const { file: id } = await order(client);
    const reply = await client.post(`/audiofile/${id}/transcript.html`, { test: 1 });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(await stateOf(client, id)).toBe('Pre-Processing');
  });

  it.each([
    ['/audiofile/100/transcript.pdf', 400],
    ['/audiofile/100/transcript.', 400],
    ['/audiofile/999999/transcript.txt', 404],
    ['/transcript/999999.txt', 404],
    ['/transcript/100.TXT', 400],
    ['/transcript/100', 200],
  ])('at %s answers %i', async (path, status) => {
    const client = await open();
    expect((await client.get(path)).status).toBe(status);
  });
});
