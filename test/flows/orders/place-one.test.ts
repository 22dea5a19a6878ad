/** One order on its way: written to the ledger, sent once over HTTP, and its outcome written, all in this process. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Transport } from '../../../src/api/http/transport.ts';
import { type PlacedOrder, type PlaceOptions, placeOne } from '../../../src/flows/orders/place.ts';
import type { PlannedOrder } from '../../../src/flows/orders/planned-order.ts';
import { Claims } from '../../../src/ledger/claims.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { OpenAttempts } from '../../../src/ledger/open-attempts.ts';
import { SqliteStore } from '../../../src/ledger/stores/sqlite.ts';
import { audioOf, url } from '../../support/attempts.ts';
import { freshFolder } from '../../support/files.ts';
import { planned } from '../../support/guards.ts';
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

const answers = (...given: Answer[]): Service => service.allow('POST /order_url', ...given);
const ok: Answer = { body: { order: 'o1', audiofiles: [1], message: 'ok' } };
const statuses = async (): Promise<string[]> =>
  (await new OpenAttempts(ledger).list()).map(({ status, detail }) => `${status}: ${detail}`);
const holder = async (name: string) =>
  (await new Claims(ledger).holders(audioOf(name).names)).get(`url ${url(name)}`);

interface Given extends Partial<PlaceOptions> {
  /** Happens after the attempt was written, before it is sent. */
  readonly beforeSending?: () => Promise<void>;
}

async function place(order: PlannedOrder, given: Given = {}): Promise<PlacedOrder | undefined> {
  const { beforeSending, ...options } = given;
  const sending = {
    signal: transport.signal,
    send: async (...call: Parameters<Transport['send']>) => {
      await beforeSending?.();
      return transport.send(...call);
    },
  } as unknown as Transport;
  return placeOne(order, {
    ...{ transport: sending, ledger, onLedgerError: () => Promise.reject(new Error('not expected')) },
    ...options,
  });
}

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
      await place(planned('a'), { ledger: undefined });
      expect(beats).toHaveLength(1);
    } finally {
      Object.assign(globalThis, { setInterval, clearInterval });
      await store.close();
    }
  });
});
