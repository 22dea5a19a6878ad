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
import { OpenAttempts } from '../../../src/ledger/open-attempts.ts';
import { Purchases } from '../../../src/ledger/purchases.ts';
import { SqliteStore } from '../../../src/ledger/stores/sqlite.ts';
import { Uploads } from '../../../src/ledger/uploads.ts';
import { audioOf, newOrder, url } from '../../support/attempts.ts';
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

describe('an order', () => {
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
      files: { files: [{ id: '1', position: 0, known: true }] },
    });
    expect(errors).toHaveLength(1);
    ledger = await openLedger(join(freshFolder(), 'ledger.db'), 'default', (text) => text);
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
      goBack: (order: PlannedOrder, to: OrderGuard) => {
        checked.push(order);
        return to.putBack(order);
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
      goBack: () => Promise.reject(new Error('over the budget')),
    } as unknown as OrderCosts;
    await expect(place(planned('a'), { costs })).rejects.toThrow('over the budget');
    expect(await holder('a')).toBeUndefined();
  });
});

describe('an order of files of this machine', () => {
  const upload = async (order: PlannedOrder): Promise<PlannedOrder> => ({
    ...order,
    audios: [audioOf('up')],
  });
  const kept = () => new Uploads(ledger).urlOf('content', 'command');

  it('keeps the URLs after a test, and of an order that uploaded nothing', async () => {
    answers(ok);
    await new Uploads(ledger).keep('content', 'command', url('up'));
    await place(planned('a', { test: true }), { upload });
    expect(await kept()).toBe(url('up'));
    await place(planned('up'));
    expect(await kept()).toBe(url('up'));
  });
});
