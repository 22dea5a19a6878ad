/** Every cent: the balance, the invoices and the files say the same at any time. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, advanceBy, releaseHold } from '../../src/sandbox/index.ts';
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

const cents = (dollars: unknown): number => Math.round(Number(dollars) * 100);
const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);

const fileOf = async (client: Client, id: string): Promise<Fields> =>
  (await client.get(`/audiofile/${id}`)).data.audiofile as Fields;

const invoice = async (client: Client, id: unknown): Promise<Invoice> =>
  (await client.post(`/invoice/${id}`)).data as unknown as Invoice;

const invoicesOf = async (client: Client, file: string): Promise<Invoice[]> =>
  Promise.all(((await fileOf(client, file)).invoices as number[]).map((id) => invoice(client, id)));

async function expectTrueSums(client: Client, start: number, ids: readonly string[]): Promise<void> {
  const files = await Promise.all(ids.map((id) => fileOf(client, id)));
  const numbers = new Set(files.flatMap(({ invoices }) => (invoices as number[] | undefined) ?? []));
  const invoices = await Promise.all([...numbers].map((id) => invoice(client, id)));
  for (const { items, total } of invoices) {
    for (const item of items) expect(cents(item.total)).toBe(item.quantity * cents(item.price));
    expect(cents(total)).toBe(sum(items.map((item) => cents(item.total))));
  }
  const items = invoices.flatMap((each) => each.items);
  for (const { id, total } of files) {
    const own = items.filter(({ audiofile }) => audiofile === id);
    expect(cents(total)).toBe(sum(own.map((item) => cents(item.total))));
  }
  const paid = invoices.filter(({ state }) => state === 'PAID');
  expect(paid.every(({ paidtime }) => paidtime !== null)).toBe(true);
  expect(cents(start) - cents(await balance(client))).toBe(sum(paid.map(({ total }) => cents(total))));
}

/** The waits of files are multiples of 100 s at this speed; so is what the clock is moved by, and no check straddles one. */
const SPEED = 0.001;

const words = ['plain', 'hold', 'unpaid', 'refund', 'cancel', 'error', 'card-failure', 'slow', 'hold-unpaid'];
const upgrades = ['DIFFQ2', 'TSTMP1', 'CAPTION1', 'EDIT01', 'UPGRD1', 'UPGRD2', 'UPGRD3'];
const pick = fc.nat();
const step = fc.oneof(
  fc.record({
    kind: fc.constant('order' as const),
    words: fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 3 }),
    sku: fc.constantFrom('TRANS14', 'TRANS6', 'TRANS2', 'EMSR02'),
    extras: fc.subarray(['TSTMP1', 'VERBATIM1']),
    minutes: fc.constantFrom('1', '35', '12.5', '0.3'),
    test: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('release' as const), pick }),
  fc.record({
    kind: fc.constant('upgrade' as const),
    pick,
    skus: fc.subarray(upgrades, { minLength: 1, maxLength: 2 }),
  }),
  fc.record({ kind: fc.constant('refund' as const), pick }),
  fc.record({ kind: fc.constant('advance' as const), pick }),
  fc.record({ kind: fc.constant('clock' as const), hundreds: fc.integer({ min: 1, max: 80 }) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A sandbox, and what was ordered from it. */
interface Account {
  readonly client: Client;
  readonly folder: string;
  readonly files: string[];
  readonly held: string[];
}

const work: {
  readonly [K in Step['kind']]: (account: Account, step: Step & { kind: K }) => Promise<unknown>;
} = {
  order: async ({ client, files, held }, { words, sku, extras, minutes, test }) => {
    const url = words.map((word) => `https://a.example/${word}?minutes=${minutes}`);
    const { data } = await client.post('/order_url', { url, sku: [sku, ...extras], test });
    files.push(...(data.audiofiles as number[]).map(String));
    if (data.hold) held.push(String(data.order));
  },
  release: async ({ folder, held }, { pick }) => {
    const [id] = held.splice(pick % (held.length || 1), 1);
    if (id !== undefined) await releaseHold(folder, id);
  },
  upgrade: ({ client, files }, { pick, skus }) =>
    client.post(`/audiofile/${chosen(files, pick)}/upgrade`, { sku: skus }),
  refund: async ({ client, files }, { pick }) => {
    const file = chosen(files, pick);
    if ((await client.post(`/audiofile/${file}/refund`)).status === 200)
      expect(await fileOf(client, file)).toMatchObject({ statename: 'Refunded', total: 0 });
  },
  advance: ({ folder, files }, { pick }) => advance(folder, [chosen(files, pick)]),
  clock: ({ folder }, { hundreds }) => advanceBy(folder, hundreds * 100_000),
};

/** The sample file, as long as nothing was ordered. */
const chosen = (files: readonly string[], pick: number): string => files[pick % files.length] ?? '100';

describe('the money of the sandbox', () => {
  it('adds up after any sequence of orders, releases, upgrades, refunds and deliveries', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const folder = freshFolder();
        const client = await open({ folder, speed: SPEED }, () => {});
        const account: Account = { client, folder, files: [], held: [] };
        try {
          const start = await balance(client);
          for (const each of steps) {
            await work[each.kind](account, each as never);
            await expectTrueSums(client, start, account.files);
          }
        } finally {
          await client.sandbox.close();
        }
      }),
      { numRuns: 15 },
    );
  }, 120_000);

  it('pays an order at once, and a held one when it is released', async () => {
    const folder = freshFolder();
    const client = await open({ folder, speed: 0 });
    const start = await balance(client);
    const plain = await order(client, 'https://a.example/plain?minutes=10');
    expect(await invoicesOf(client, plain.file)).toMatchObject([{ state: 'PAID', total: 8.6 }]);
    expect(await balance(client)).toBeCloseTo(start - 8.6, 2);
    const held = await order(client, 'https://a.example/hold?minutes=10');
    expect(await invoicesOf(client, held.file)).toMatchObject([
      { state: 'CREATED', total: 8.6, paidtime: null },
    ]);
    expect(await balance(client)).toBeCloseTo(start - 8.6, 2);
    await releaseHold(folder, held.order);
    expect(await invoicesOf(client, held.file)).toMatchObject([{ state: 'PAID', total: 8.6 }]);
    expect(await balance(client)).toBeCloseTo(start - 17.2, 2);
  });

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
