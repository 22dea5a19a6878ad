/** Sends orders one after the other, as fast as the service asks for, and stops where going on would do harm. */
import { CallError } from '../../api/http/failures.ts';
import { formatDuration } from '../../lib/duration.ts';
import { StenoError } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import { sleep } from '../../lib/sleep.ts';
import { plural } from '../../lib/text.ts';
import type { HeldFailure } from './duplicates.ts';
import type { OrderGuard } from './guard.ts';
import { Halving, Refusals } from './halving.ts';
import type { PlacedOrder, SentOrder } from './place.ts';
import { countAudios, describeUrls, type PlannedOrder } from './planned-order.ts';

export interface SendingOptions {
  readonly signal: AbortSignal;
  /** How long a pause may be, because of --timeout. */
  readonly pauseLimitMs: () => number;
  readonly report: Report;
  /** Another process is sending some of it, and is waited for. */
  readonly onWaitForOthers: (text: string) => void;
  /** The orders come from a list: a refused one is sent again in halves. */
  readonly halves: boolean;
}

export interface SentOrders {
  readonly outcomes: readonly SentOrder[];
  /** What was not sent, because of what the ledger knows of it. */
  readonly held: readonly HeldFailure[];
  readonly notSent: readonly PlannedOrder[];
  /** How many orders were not sent, and why. */
  readonly unsent: number;
  readonly because?: string | undefined;
  /** The user interrupted. */
  readonly interrupted: boolean;
  /** Some were sent in halves, so that their number says nothing to people. */
  readonly halved?: boolean;
}

/** A longer pause is not waited for. */
const MAX_PAUSE_MS = 60_000;
/** The pause after a refusal that does not say how long; it doubles with each in a row. */
const FIRST_PAUSE_MS = 1_000;
/** How many such refusals in a row end the run. */
const BUSY_LIMIT = 3;

/** `onSending`: its files are uploaded, and the order itself is sent. */
type Place = (order: PlannedOrder, onSending: () => void) => Promise<PlacedOrder | undefined>;

/** A refused order does not stop the next; one without a clear answer does. */
export async function sendOrders(
  guard: OrderGuard,
  place: Place,
  options: SendingOptions,
): Promise<SentOrders> {
  const outcomes: SentOrder[] = [];
  const { signal, report, onWaitForOthers } = options;
  let halved = false;
  const rows = new RowOrder();
  const stop = (inHand: readonly PlannedOrder[], because?: string): SentOrders => ({
    ...{ because, halved },
    outcomes: rows.sorted(outcomes),
    notSent: [...inHand, ...guard.ready, ...guard.deferred],
    unsent: inHand.length + guard.unsent,
    held: guard.failures,
    interrupted: signal.aborted,
  });
  const onWait = (text: string): void => {
    report({ note: text });
    onWaitForOthers(text);
  };
  const pacer = new Pacer(options, 'order');
  const refusals = new Refusals();
  const progress = { done: 0, of: countAudios([...guard.ready, ...guard.deferred]), unit: 'row' };
  let at = 0;
  for await (const whole of guard.orders({ signal, onWait })) {
    rows.add(whole);
    const halving = new Halving(whole, guard, options.halves ? refusals : undefined);
    for (let order = halving.next(); order; order = halving.next()) {
      if (signal.aborted) return stop([order, ...halving.left]);
      const onSending = (): void =>
        report({
          what: 'Ordering',
          done: at,
          of: at + guard.unsent + 1,
          unit: 'order',
          parts: { ...progress },
        });
      onSending();
      const outcome = await outcomeOf(order, () => place(order as PlannedOrder, onSending));
      // It was interrupted before it was sent.
      if (outcome?.error?.kind === 'interrupted') return stop([order, ...halving.left]);
      outcomes.push(...halving.after(order, outcome));
      halved ||= halving.left.length > 0;
      const left = halving.left.length + guard.unsent;
      const because = await pacer.after(outcome?.error, left);
      if (because) return stop(halving.left, because);
    }
    at += 1;
    progress.done += whole.audios.length;
  }
  return stop([]);
}

/** The order of the rows, in which halves are not sent. */
class RowOrder {
  readonly #ranks = new Map<string, number>();

  add({ audios }: PlannedOrder): void {
    for (const { names } of audios) this.#ranks.set(names[0] ?? '', this.#ranks.size);
  }

  sorted(outcomes: readonly SentOrder[]): SentOrder[] {
    const rankOf = ({ planned }: SentOrder): number =>
      this.#ranks.get(planned.audios[0]?.names[0] ?? '') ?? this.#ranks.size;
    return [...outcomes].sort((one, other) => rankOf(one) - rankOf(other));
  }
}

/** Waits between two calls for money where the service has too much to do. */
export class Pacer {
  readonly #options: Pick<SendingOptions, 'signal' | 'pauseLimitMs' | 'report'>;
  readonly #unit: string;
  #busyInRow = 0;

  /** `unit`: what is sent, as one of them is called. */
  constructor(options: Pick<SendingOptions, 'signal' | 'pauseLimitMs' | 'report'>, unit: string) {
    this.#options = options;
    this.#unit = unit;
  }

  /** Gives back why what is left must not be sent, if so. The refused one is not sent again. */
  async after(error: StenoError | undefined, left: number): Promise<string | undefined> {
    if (error && endsTheRun(error)) return 'of the failure before it';
    const busy = isBusy(error) ? error : undefined;
    this.#busyInRow = busy && busy.retryAfter === undefined ? this.#busyInRow + 1 : 0;
    if (!busy || left === 0) return undefined;
    const ms = busy.retryAfter ?? FIRST_PAUSE_MS * 2 ** (this.#busyInRow - 1);
    return this.#whyStop(ms) ?? this.#pause(ms, left);
  }

  #whyStop(ms: number): string | undefined {
    if (this.#busyInRow >= BUSY_LIMIT) return `the service refused ${this.#busyInRow} in a row as too many`;
    const asks = `the service asks to wait ${formatDuration(ms)}`;
    if (ms > MAX_PAUSE_MS) return asks;
    return ms >= this.#options.pauseLimitMs() ? `${asks}, which is longer than --timeout` : undefined;
  }

  async #pause(ms: number, left: number): Promise<undefined> {
    const { report, signal } = this.#options;
    report({ note: `waiting ${formatDuration(ms)} for the service: ${plural(left, this.#unit)} left` });
    // An interruption is seen before the next order.
    await sleep(ms, signal).catch(() => {});
  }
}

async function outcomeOf(
  order: PlannedOrder,
  place: () => Promise<PlacedOrder | undefined>,
): Promise<SentOrder | undefined> {
  const what = describeUrls(order);
  try {
    const value = await place();
    return value && { what, value, planned: order };
  } catch (error) {
    if (error instanceof StenoError) return { what, error, planned: order };
    throw error;
  }
}

/** What would happen to every order after it, or left one unclear. */
const endsTheRun = ({ kind }: StenoError): boolean =>
  kind !== 'failed' && kind !== 'missing' && kind !== 'duplicate';

/** The service has too much to do: the next order would be refused too. */
const isBusy = (error: StenoError | undefined): error is CallError =>
  error instanceof CallError && (error.status === 429 || error.status === 503);
