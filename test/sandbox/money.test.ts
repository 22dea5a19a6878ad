/** Every cent: the balance, the invoices and the files say the same at any time. */
import { describe, expect, it } from 'vitest';
import { advance } from '../../src/sandbox/index.ts';
import { freshFolder } from '../support/files.ts';
import { balance, type Client, type Fields, open, order, receive, stateOf } from '../support/sandbox.ts';

interface Item {
  readonly sku: string;
  readonly quantity: number;
  readonly price: number;
  readonly audiofile: number;
  readonly total: number;
}

interface Invoice {
  readonly id: number;
  readonly state: string;
  readonly total: number;
  readonly items: readonly Item[];
  readonly paidtime: string | null;
}

const fileOf = async (client: Client, id: string): Promise<Fields> =>
  (await client.get(`/audiofile/${id}`)).data.audiofile as Fields;

const invoice = async (client: Client, id: unknown): Promise<Invoice> =>
  (await client.post(`/invoice/${id}`)).data as unknown as Invoice;

const invoicesOf = async (client: Client, file: string): Promise<Invoice[]> =>
  Promise.all(((await fileOf(client, file)).invoices as number[]).map((id) => invoice(client, id)));

describe('the money of the sandbox', () => {
  it('never pays what is unpaid: its invoice is created, open and then submitted', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const receiver = await receive();
    await client.post('/webhook', { webhook: receiver.url });
    const start = await balance(client);
    const { file } = await order(client, 'https://a.example/unpaid');
    const seen: string[] = [];
    for (let moves = 0; moves < 4; moves += 1) {
      seen.push((await invoicesOf(client, file))[0]?.state ?? '');
      await advance(folder, [file]);
    }
    expect(seen).toEqual(['CREATED', 'OPEN', 'SUBMITTED', 'SUBMITTED']);
    const other = await order(client, 'https://a.example/unpaid-too');
    await client.post(`/audiofile/${other.file}/upgrade`, { sku: 'EDIT01' });
    expect((await client.post(`/audiofile/${other.file}/refund`)).status).toBe(200);
    expect((await invoicesOf(client, other.file)).map(({ total }) => total)).toEqual([0, 0]);
    expect(await balance(client)).toBe(start);
    await client.sandbox.close();
    expect(receiver.events).toEqual([]);
  });

  it('refunds by a credit on the same invoice, for the one file', async () => {
    const client = await open({ speed: 0 });
    const start = await balance(client);
    const url = ['https://a.example/one?minutes=10', 'https://a.example/two?minutes=20'];
    const { file } = await order(client, undefined, { url, sku: ['TRANS14', 'TSTMP1'] });
    await client.post(`/audiofile/${file}/refund`);
    const [billed] = await invoicesOf(client, file);
    const own = billed?.items.filter(({ audiofile }) => String(audiofile) === file) ?? [];
    expect(own.map(({ sku, quantity, price }) => [sku, quantity, price])).toEqual([
      ['TRANS14', 10, 0.86],
      ['TSTMP1', 10, 0.5],
      ['TRANS14', -10, 0.86],
      ['TSTMP1', -10, 0.5],
    ]);
    expect(billed).toMatchObject({ state: 'PAID', total: 27.2 });
    expect(await balance(client)).toBeCloseTo(start - 27.2, 2);
  });

  it.each(['refund', 'cancel'])(
    'gives back an upgrade too, where the file ends with %s by itself',
    async (word) => {
      const folder = freshFolder();
      const client = await open({ folder, speed: 0 });
      const receiver = await receive();
      await client.post('/webhook', { webhook: receiver.url });
      const start = await balance(client);
      const { file } = await order(client, `https://a.example/${word}?minutes=10`);
      await client.post(`/audiofile/${file}/upgrade`, { sku: 'EDIT01' });
      expect(await balance(client)).toBeCloseTo(start - 16.1, 2);
      for (let moves = 0; moves < 5; moves += 1) await advance(folder, [file]);
      expect(await balance(client)).toBe(start);
      expect((await receiver.event({ event: 'REFUND_ISSUED', audiofile: file })).amount).toBe('16.10');
      expect((await fileOf(client, file)).total).toBe(0);
    },
  );
});

describe('an upgrade of a delivered file', () => {
  it('is billed, and the file is worked on and delivered once more, with a new text', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const receiver = await receive();
    await client.post('/webhook', { webhook: receiver.url });
    const { file } = await order(client, 'https://a.example/talk?minutes=10');
    for (let moves = 0; moves < 8; moves += 1) await advance(folder, [file]);
    const before = await client.get(`/audiofile/${file}/transcript.srt`);
    expect(before.status).toBe(200);
    await client.post(`/audiofile/${file}/upgrade`, { sku: ['CAPTION1', 'EDIT01'] });
    expect(await fileOf(client, file)).toMatchObject({ statename: 'Out for edit', total: 26.1 });
    expect((await invoicesOf(client, file)).map(({ state, items }) => [state, items.length])).toEqual([
      ['PAID', 1],
      ['PAID', 2],
    ]);
    expect((await client.get(`/audiofile/${file}/transcript.srt`)).status).toBe(409);
    expect((await client.post(`/audiofile/${file}/refund`)).status).toBe(409);
    await advance(folder);
    await advance(folder);
    expect(await stateOf(client, file)).toBe('Delivered');
    const after = await client.get(`/audiofile/${file}/transcript.srt`);
    expect([after.status, after.text === before.text]).toEqual([200, false]);
    await client.sandbox.close();
    const delivered = receiver.events.filter(({ event }) => event === 'TRANSCRIPT_COMPLETE');
    expect(delivered.map(({ audiofile }) => audiofile)).toEqual([file, file]);
  });
});
