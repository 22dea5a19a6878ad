/** How planned orders are sent one after the other, and where the rest is not. */
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CallError } from '../../../src/api/http/failures.ts';
import type { PlacedOrder } from '../../../src/flows/orders/place.ts';
import { type SentOrders, sendOrders } from '../../../src/flows/orders/sending.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import { openLedger } from '../../../src/ledger/open.ts';
import { StenoError } from '../../../src/lib/errors.ts';
import { url } from '../../support/attempts.ts';
import { freshFolder } from '../../support/files.ts';
import { planned, runOf } from '../../support/guards.ts';

let ledger: Ledger;

beforeEach(async () => {
  ledger = await openLedger(join(freshFolder(), 'ledger.db'), 'default', (text) => text);
});
afterEach(() => ledger.close());

describe('the orders of a run', () => {
  const busy = (status: number, retryAfter?: number): CallError =>
    Object.assign(new CallError('failed', 'busy', { status }), { retryAfter });
  const failed = (kind: StenoError['kind']): StenoError => new StenoError(kind, kind);

  /** What becomes of each order, in turn; nothing: it is placed. */
  async function send(
    fates: ReadonlyArray<Error | 'taken' | undefined>,
    given: { limitMs?: number; signal?: AbortSignal; onPlace?: (at: number) => void } = {},
  ): Promise<{ sent: SentOrders; tried: number; notes: string[] }> {
    const run = await runOf(
      fates.map((_, at) => planned(`n${at}`)),
      ledger,
    );
    const notes: string[] = [];
    let tried = 0;
    const sent = await sendOrders(
      run,
      async (order, onSending) => {
        onSending();
        const fate = fates[tried];
        given.onPlace?.(tried);
        tried += 1;
        if (fate === 'taken') return undefined;
        if (fate) throw fate;
        return { planned: order } as unknown as PlacedOrder;
      },
      {
        signal: given.signal ?? new AbortController().signal,
        pauseLimitMs: () => given.limitMs ?? Number.POSITIVE_INFINITY,
        halves: false,
        report: (report) => void notes.push(JSON.stringify(report)),
        onWaitForOthers: () => {},
      },
    );
    return { sent, tried, notes };
  }
  const shown = ({ outcomes, unsent, because, notSent, interrupted }: SentOrders) => ({
    outcomes: outcomes.map(({ error }) => error?.kind ?? 'placed'),
    ...{ unsent, because, notSent: notSent.length, interrupted },
  });
  const rest = { unsent: 0, because: undefined, notSent: 0, interrupted: false };

  it('are all sent, also after one that was refused', async () => {
    const { sent, notes } = await send([
      undefined,
      failed('failed'),
      failed('missing'),
      failed('duplicate'),
      undefined,
    ]);
    expect(shown(sent)).toEqual({
      outcomes: ['placed', 'failed', 'missing', 'duplicate', 'placed'],
      ...rest,
    });
    expect(sent.outcomes[0]).toMatchObject({ what: url('n0'), planned: planned('n0') });
    // Each is told twice: before its files are uploaded, and when it is sent.
    const progress = (done: number) => ({
      ...{ what: 'Ordering', done, of: 5, unit: 'order' },
      parts: { done, of: 5, unit: 'row' },
    });
    expect(notes.map((note) => JSON.parse(note))).toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4].map(progress));
  });

  it.each(['uncertain', 'auth', 'network', 'usage', 'timeout'] as const)(
    'end with one that failed with %s',
    async (kind) => {
      const { sent, tried } = await send([undefined, failed(kind), undefined, undefined]);
      expect(shown(sent)).toMatchObject({
        ...{ outcomes: ['placed', kind], unsent: 2, notSent: 2, because: 'an earlier one failed' },
      });
      expect(tried).toBe(2);
    },
  );

  it('have no outcome where another process was faster', async () => {
    expect(shown((await send(['taken', undefined])).sent)).toEqual({ outcomes: ['placed'], ...rest });
  });

  it('pass on an error that is not one of ours', async () => {
    await expect(send([new TypeError('a bug'), undefined])).rejects.toThrow('a bug');
  });

  it('do not wait for a status that says something else, or where none is left', async () => {
    const { sent, notes } = await send([busy(500, 60_001), busy(503, 60_001)]);
    expect(shown(sent)).toEqual({ outcomes: ['failed', 'failed'], ...rest });
    expect(notes.join()).not.toContain('for the service');
  });

  it('end where the pause is over a minute, or longer than --timeout', async () => {
    const long = await send([busy(429, 60_001), undefined]);
    expect(shown(long.sent)).toMatchObject({
      because: expect.stringMatching(/^the service asks to wait \S+$/),
    });
    const limited = await send([busy(429, 50), undefined], { limitMs: 50 });
    expect(limited.sent.because).toContain('which is longer than --timeout');
    const minute = await send([busy(429, 60_000), undefined], { limitMs: 60_000 });
    expect(minute.sent.because).toContain('which is longer than --timeout');
    expect((await send([busy(429, 50), undefined], { limitMs: 51 })).sent.because).toBeUndefined();
  });

  it('count only refusals in a row', async () => {
    const { tried } = await send([busy(503), undefined, busy(503, 1), busy(503), undefined]);
    expect(tried).toBe(5);
    const asked = await send([busy(503, 1), busy(503, 1), busy(503, 1), undefined]);
    expect(asked.tried).toBe(4);
  });
});
