/** One order on its way: written to the ledger, sent once over HTTP, and its outcome written, all in this process. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Transport } from '../../../src/api/http/transport.ts';
import type { OrderCosts } from '../../../src/flows/orders/cost.ts';
import { OrderGuard } from '../../../src/flows/orders/guard.ts';
import { type PlacedOrder, type PlaceOptions, placeOne } from '../../../src/flows/orders/place.ts';
import type { PlannedOrder } from '../../../src/flows/orders/planned-order.ts';
import { Claims } from '../../../src/ledger/claims.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { type Attempt, OpenAttempts } from '../../../src/ledger/open-attempts.ts';
import { Purchases } from '../../../src/ledger/purchases.ts';
import { SqliteStore } from '../../../src/ledger/stores/sqlite.ts';
import { Uploads } from '../../../src/ledger/uploads.ts';
import { audioOf, beginFree, newOrder, placedAs, url } from '../../support/attempts.ts';
import { freshFolder } from '../../support/files.ts';
import { type Answer, Service } from '../../support/server.ts';
import { until } from '../../support/until.ts';

let path: string;
let ledger: Ledger;
let service: Service;
let transport: Transport;

beforeEach(async () => {
  path = join(freshFolder(), 'ledger.db');
  ledger = await openLedger(path, 'default', (text) => text);
  service = await Service.start();
  transport = await Transport.open({
    ...{ baseUrl: service.baseUrl, apiKey: 'a-key-of-mine', userAgent: 'test', env: {} },
    ...{ signal: new AbortController().signal, hide: (text) => text },
  });
});
afterEach(async () => {
  await transport.close();
  await ledger.close();
});

const planned = (names: string, more: Partial<PlannedOrder> = {}): PlannedOrder => ({
  ...{ audios: names.split(' ').map(audioOf), skus: ['TRANS14'], names: [], test: false, extra: [] },
  ...more,
});
const answers = (...given: Answer[]): Service => service.allow('POST /order_url', ...given);
const ok: Answer = { body: { order: 'o1', audiofiles: [1], message: 'ok' } };
const statuses = async (): Promise<string[]> =>
  (await new OpenAttempts(ledger).list()).map(({ status, detail }) => `${status}: ${detail}`);
const holder = async (name: string) =>
  (await new Claims(ledger).holders(audioOf(name).names)).get(`url ${url(name)}`);

interface Given extends Partial<PlaceOptions> {
  readonly guard?: OrderGuard;
  /** Happens after the attempt was written, before it is sent. */
  readonly beforeSending?: () => Promise<void>;
}

async function place(order: PlannedOrder, given: Given = {}): Promise<PlacedOrder | undefined> {
  const { guard = await guardOf(order), beforeSending, ...options } = given;
  const sending = {
    signal: transport.signal,
    send: async (...call: Parameters<Transport['send']>) => {
      await beforeSending?.();
      return transport.send(...call);
    },
  } as unknown as Transport;
  return placeOne(order, guard, {
    ...{ transport: sending, ledger, onLedgerError: () => Promise.reject(new Error('not expected')) },
    ...options,
  });
}

const guardOf = (order: PlannedOrder, from: Ledger | undefined = ledger): Promise<OrderGuard> =>
  OrderGuard.of([order], from, {
    ...{
      again: false,
      skipOrdered: true,
      retryUnclear: false,
      retryEnded: false,
      orExisting: false,
      manifest: true,
      timeout: undefined,
    },
    begunAgoMs: () => 0,
  });

/** The machine slept for a while after the attempt was begun. */
async function asleep<T>(work: (costs: OrderCosts) => Promise<T>): Promise<T> {
  const { now } = Date;
  try {
    return await work({
      priced: (order: PlannedOrder) => {
        Date.now = () => now() + 3_000;
        return order;
      },
      limits: [],
      refuses: async () => false,
    } as unknown as OrderCosts);
  } finally {
    Date.now = now;
  }
}

describe('an order', () => {
  it('is in the ledger when it is sent, and its outcome when it is answered', async () => {
    let during: string[] = [];
    answers(async (_, response) => {
      during = await statuses();
      response.end(JSON.stringify({ order: 'o1', audiofiles: [1], hold: 'billing' }));
    });
    const order = planned('a', { notes: 'loud', names: ['Ann'] });
    const placed = await place(order);
    expect(during).toEqual(['being sent: ']);
    expect(placed).toMatchObject({
      ...{ attempt: 1, planned: order, order: { id: 'o1', audiofiles: ['1'], hold: 'billing' } },
      files: { files: [{ id: '1', audio: { url: url('a') } }], problem: undefined },
    });
    expect(service.got).toMatchObject([
      { body: { url: [url('a')], sku: ['TRANS14'], notes: 'loud', name: ['Ann'] } },
    ]);
    expect(await holder('a')).toMatchObject({ attempt: 1, status: 'placed', order: 'o1' });
  });

  it('is sent without a ledger too', async () => {
    answers(ok);
    const placed = await place(planned('a'), {
      ledger: undefined,
      guard: await guardOf(planned('a'), undefined),
    });
    expect(placed).toMatchObject({
      ...{ attempt: undefined, files: { files: [{ id: '1', audio: { url: url('a') } }] } },
    });
  });

  it.each([400, 429, 503])('that was refused with %i is free again', async (status) => {
    answers({ status, body: { message: 'no' } });
    await expect(place(planned('a'))).rejects.toMatchObject({ kind: 'failed', status });
    expect([await statuses(), await holder('a'), service.got.length]).toEqual([[], undefined, 1]);
  });

  it.each([500, 502, 504])('that was answered with %i is unclear, and was sent once', async (status) => {
    answers({ status, body: { message: 'oh' } });
    await expect(place(planned('a'))).rejects.toMatchObject({ kind: 'uncertain' });
    expect([(await holder('a'))?.status, service.got.length]).toEqual(['unclear', 1]);
    expect((await statuses())[0]).toContain('unclear: ');
  });

  it('that fails for a reason which is not ours leaves its attempt as it is', async () => {
    answers(ok);
    const beforeSending = (): Promise<void> => Promise.reject(new TypeError('a bug'));
    await expect(place(planned('a'), { beforeSending })).rejects.toThrow('a bug');
    expect(await statuses()).toEqual(['being sent: ']);
  });

  it('stands though the ledger can not record it', async () => {
    answers(ok);
    const errors: unknown[] = [];
    const onLedgerError = async (error: unknown): Promise<void> => void errors.push(error);
    const placed = await place(planned('a'), { onLedgerError, beforeSending: () => ledger.close() });
    expect(placed).toMatchObject({
      order: { id: 'o1' },
      files: { files: [{ id: '1', audio: { url: url('a') } }] },
    });
    expect(errors).toHaveLength(1);
    ledger = await openLedger(join(freshFolder(), 'ledger.db'), 'default', (text) => text);
  });

  it('says what is odd about its files', async () => {
    answers(ok);
    const first = await beginFree(ledger, newOrder('x'));
    await new Purchases(ledger).markPlaced(first, first.purchase, placedAs('o0', '1'));
    expect((await place(planned('a')))?.files.problem).toContain('audiofile 1 is the file of');
  });

  it('tells others that its process is there while it waits for the answer, and no longer', async () => {
    const { setInterval, clearInterval } = globalThis;
    const beats: Array<() => void> = [];
    const cleared: unknown[] = [];
    const store = await SqliteStore.open(path);
    let isSeen: ReadonlySet<string> | undefined;
    let id = '';
    answers(async (_, response) => {
      await store.run("UPDATE purchases SET seen_at = '2026-01-01T00:00:00.000Z', host = 'elsewhere'");
      id = (await holder('a'))?.id ?? '';
      for (const beat of beats) beat();
      await until(async () => (await new OpenAttempts(ledger).beingSent([id])).size > 0, 'a heartbeat');
      isSeen = await new OpenAttempts(ledger).beingSent([id]);
      response.end(JSON.stringify({ order: 'o1', audiofiles: [1] }));
    });
    try {
      Object.assign(globalThis, {
        setInterval: (beat: () => void) => {
          beats.push(beat);
          return 'a timer';
        },
        clearInterval: (timer: unknown) => void cleared.push(timer),
      });
      await place(planned('a'));
      expect([isSeen, beats.length, cleared]).toEqual([new Set([id]), 1, ['a timer']]);
      answers(ok);
      await place(planned('a'), { ledger: undefined, guard: await guardOf(planned('a'), undefined) });
      expect(beats).toHaveLength(1);
    } finally {
      Object.assign(globalThis, { setInterval, clearInterval });
      await store.close();
    }
  });

  it('of nothing is not sent', async () => {
    service.never('POST /order_url');
    expect(await place(planned('a', { audios: [] }))).toBeUndefined();
    expect(await new OpenAttempts(ledger).list()).toEqual([]);
  });
});

describe('an order that another process has begun meanwhile', () => {
  const priced = (order: PlannedOrder): PlannedOrder => ({
    ...order,
    audios: order.audios.map(({ url: from, names }) => ({
      ...{ url: from, names, cost: { millionths: 100, currency: 'USD' } },
    })),
  });

  it('is not sent, and is back with the guard', async () => {
    service.never('POST /order_url');
    const guard = await guardOf(planned('a b'));
    await new Purchases(ledger).begin(newOrder('a'), []);
    const checked: unknown[] = [];
    const costs = {
      ...{ priced: (order: PlannedOrder) => order, limits: [] },
      refuses: async (order: unknown) => {
        checked.push(order);
        return false;
      },
    } as unknown as OrderCosts;
    expect(await place(planned('a b'), { guard, costs })).toBeUndefined();
    expect([checked.length, guard.deferred.length, guard.unsent]).toEqual([1, 1, 3]);
  });

  it('is told by the budget where that is why', async () => {
    service.never('POST /order_url');
    const costs = {
      priced,
      limits: [{ millionths: 99, since: '2026-01-01T00:00:00.000Z', allowsUnknown: true }],
      refuses: () => Promise.reject(new Error('over the budget')),
    } as unknown as OrderCosts;
    await expect(place(planned('a'), { costs })).rejects.toThrow('over the budget');
    expect(await holder('a')).toBeUndefined();
  });

  it('may cost anything where it is a test', async () => {
    answers(ok);
    const costs = {
      priced,
      limits: [{ millionths: -1, since: '2026-01-01T00:00:00.000Z', allowsUnknown: true }],
      refuses: () => Promise.reject(new Error('over the budget')),
    } as unknown as OrderCosts;
    expect(await place(planned('a', { test: true }), { costs })).toMatchObject({ order: { id: 'o1' } });
  });
});

describe('an order whose process stood still before it sent it', () => {
  const first = async (): Promise<Attempt> => (await new OpenAttempts(ledger).get(1)) as Attempt;

  it('is sent where it is still its own', async () => {
    answers(ok);
    expect(await asleep((costs) => place(planned('a'), { costs }))).toMatchObject({ order: { id: 'o1' } });
    expect(
      await asleep(async (costs) =>
        place(planned('b'), { costs, ledger: undefined, guard: await guardOf(planned('b'), undefined) }),
      ),
    ).toBeDefined();
  });

  it('is sent at once, without a question, where it did not', async () => {
    answers(ok);
    const beforeSending = async (): Promise<void> =>
      void (await new OpenAttempts(ledger).settleNotPlaced(await first()));
    expect(await place(planned('a'), { beforeSending })).toMatchObject({ order: { id: 'o1' } });
  });

  it('is not sent where another took it over, and is back with the guard', async () => {
    service.never('POST /order_url');
    const guard = await guardOf(planned('a'));
    const beforeSending = async (): Promise<void> =>
      void (await new Purchases(ledger).begin(newOrder('a'), [(await first()).id]));
    const placed = await asleep((costs) => place(planned('a'), { costs, guard, beforeSending }));
    expect([placed, guard.deferred.length]).toEqual([undefined, 1]);
    expect((await new OpenAttempts(ledger).get(1))?.detail).toContain('another process took it over');
    expect(await holder('a')).toMatchObject({ attempt: 2, status: 'being sent' });
  });

  it.each([
    [
      'placed as order o9',
      'duplicate',
      async () => new OpenAttempts(ledger).settlePlaced(await first(), 'o9', []),
    ],
    ['not placed', 'failed', async () => new OpenAttempts(ledger).settleNotPlaced(await first())],
  ] as const)('is not sent where somebody settled it as %s', async (settled, kind, settle) => {
    service.never('POST /order_url');
    const beforeSending = async (): Promise<void> => void (await settle());
    await expect(asleep((costs) => place(planned('a'), { costs, beforeSending }))).rejects.toMatchObject({
      kind,
      message: `it was not sent: attempt 1 was settled as ${settled} while this process was suspended`,
    });
  });
});

describe('an order of files of this machine', () => {
  const upload = async (order: PlannedOrder): Promise<PlannedOrder> => ({
    ...order,
    audios: [audioOf('up')],
  });
  const kept = () => new Uploads(ledger).urlOf('content', 'command');

  it('is sent with the URLs that they got, which are then forgotten', async () => {
    answers(ok);
    await new Uploads(ledger).keep('content', 'command', url('up'));
    expect(await place(planned('a'), { upload })).toMatchObject({
      planned: { audios: [{ url: url('up') }] },
    });
    expect([service.got[0]?.body?.url, await kept()]).toEqual([[url('up')], undefined]);
  });

  it('keeps the URLs after a test, and of an order that uploaded nothing', async () => {
    answers(ok);
    await new Uploads(ledger).keep('content', 'command', url('up'));
    await place(planned('a', { test: true }), { upload });
    expect(await kept()).toBe(url('up'));
    await place(planned('up'));
    expect(await kept()).toBe(url('up'));
  });

  it('is not sent where none could be uploaded', async () => {
    service.never('POST /order_url');
    const nothing = async (order: PlannedOrder): Promise<PlannedOrder> => ({ ...order, audios: [] });
    expect(await place(planned('a'), { upload: nothing })).toBeUndefined();
  });
});
