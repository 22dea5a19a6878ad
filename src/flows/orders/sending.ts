/** Sends orders one after the other, as fast as the service asks for, and stops where going on would do harm. */
import { CallError } from '../../api/http/failures.ts';
import { doubledMs } from '../../lib/backoff.ts';
import { StenoError } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import { plural } from '../../lib/text.ts';
import { formatDuration, sleep } from '../../lib/time.ts';
import { outcomeOf } from '../bulk.ts';
import type { HeldFailure } from './duplicates.ts';
import type { PlacedOrder, SentOrder } from './place.ts';
import { countAudios, describeUrls, type PlannedOrder } from './planned-order.ts';
import type { OrderRun } from './run.ts';

export interface PaceOptions {
  readonly signal: AbortSignal;
  readonly pauseLimitMs: () => number;
  readonly report: Report;
}

export interface SendingOptions extends PaceOptions {
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
  readonly unsent: number;
  readonly because?: string | undefined;
  readonly interrupted: boolean;
  /** Some were sent in halves, so that their number says nothing to people. */
  readonly halved?: boolean;
}

/** A longer pause is not waited for. */
const MAX_PAUSE_MS = 60_000;
/** The pause after a refusal that does not say how long; it doubles with each in a row. */
const PAUSES = { firstMs: 1_000 };
/** How many such refusals in a row end the run. */
const BUSY_LIMIT = 3;

/** `onSending`: its files are uploaded, and the order itself is sent. */
type Place = (order: PlannedOrder, onSending: () => void) => Promise<PlacedOrder | undefined>;

/** A refused order does not stop the next; one without a clear answer does. */
export async function sendOrders(run: OrderRun, place: Place, options: SendingOptions): Promise<SentOrders> {
  const outcomes: SentOrder[] = [];
  const { signal, report, onWaitForOthers } = options;
  let halved = false;
  const begun: PlannedOrder[] = [];
  const stop = (inHand: readonly PlannedOrder[], because?: string): SentOrders => ({
    ...{ because, halved },
    outcomes: inRowOrder(outcomes, begun),
    notSent: [...inHand, ...run.ready, ...run.deferred],
    unsent: inHand.length + run.unsent,
    held: run.failures,
    interrupted: signal.aborted,
  });
  const onWait = (text: string): void => {
    report({ note: text });
    onWaitForOthers(text);
  };
  const pacer = new Pacer(options, 'order');
  const refusals = new Refusals();
  const progress = { done: 0, of: countAudios([...run.ready, ...run.deferred]), unit: 'row' };
  let at = 0;
  for await (const whole of run.orders({ signal, onWait })) {
    begun.push(whole);
    const halving = new Halving(whole, options.halves ? refusals : undefined);
    for (let order = halving.next(); order; order = halving.next()) {
      if (signal.aborted) return stop([order, ...halving.left]);
      const numbers = { done: at, of: at + run.unsent + 1, unit: 'order', parts: { ...progress } };
      const onSending = (): void => report({ what: 'Ordering', ...numbers });
      onSending();
      const outcome = await sent(order, () => place(order as PlannedOrder, onSending));
      // It was interrupted before it was sent.
      if (outcome?.error?.kind === 'interrupted') return stop([order, ...halving.left]);
      outcomes.push(...halving.after(order, outcome));
      halved ||= halving.left.length > 0;
      const left = halving.left.length + run.unsent;
      const because = await pacer.after(outcome?.error, left);
      if (because) return stop(halving.left, because);
    }
    at += 1;
    progress.done += whole.audios.length;
  }
  return stop([]);
}

/** Halves are sent in another order than that of the rows. */
function inRowOrder(outcomes: SentOrder[], orders: readonly PlannedOrder[]): SentOrder[] {
  if (outcomes.length < 2) return outcomes;
  const rows = orders.flatMap(({ audios }) => audios.map(({ names }) => names[0] ?? ''));
  const ranks = new Map(rows.map((name, at) => [name, at]));
  const rankOf = ({ planned: { audios } }: SentOrder): number =>
    ranks.get(audios[0]?.names[0] ?? '') ?? ranks.size;
  return outcomes.sort((one, other) => rankOf(one) - rankOf(other));
}

/** Waits between two calls for money where the service has too much to do. */
export class Pacer {
  readonly #options: PaceOptions;
  readonly #unit: string;
  #busyInRow = 0;

  /** `unit`: what is sent, as one of them is called. */
  constructor(options: PaceOptions, unit: string) {
    this.#options = options;
    this.#unit = unit;
  }

  /** Gives back why what is left must not be sent, if so. The refused one is not sent again. */
  async after(error: StenoError | undefined, left: number): Promise<string | undefined> {
    if (error && endsTheRun(error)) return 'an earlier one failed';
    const busy = isBusy(error) ? error : undefined;
    this.#busyInRow = busy && busy.retryAfter === undefined ? this.#busyInRow + 1 : 0;
    if (!busy || left === 0) return undefined;
    const ms = busy.retryAfter ?? doubledMs(this.#busyInRow, PAUSES);
    return this.#whyStop(ms) ?? this.#pause(ms, left);
  }

  #whyStop(ms: number): string | undefined {
    if (this.#busyInRow >= BUSY_LIMIT)
      return `the service refused ${this.#busyInRow} calls in a row as too many`;
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

/** Nothing where it was not sent after all. */
async function sent(
  planned: PlannedOrder,
  place: () => Promise<PlacedOrder | undefined>,
): Promise<SentOrder | undefined> {
  const { what, value, error } = await outcomeOf(describeUrls(planned), place);
  if (error) return { what, error, planned };
  return value && { what, value, planned };
}

/** What would happen to every order after it, or left one unclear. */
const endsTheRun = ({ kind }: StenoError): boolean =>
  kind !== 'failed' && kind !== 'missing' && kind !== 'duplicate';

/** The service has too much to do: the next order would be refused too. */
const isBusy = (error: StenoError | undefined): error is CallError =>
  error instanceof CallError && (error.status === 429 || error.status === 503);

// A refused order of several audios bought nothing, so it is sent again in halves until the refused audios stand alone:
// one bad recording holds up no other. Where so many are bad that halves would take too many calls, each audio is sent
// by itself.

/** What the service says of an order that it can't take as it is. */
const clearRefusals = new Set([400, 404, 409, 413, 422]);
/** The order is too large: its audios may all be right. */
const TOO_LARGE = 413;

const MAX_CALLS = 60;
/** So many audios that stand alone and are refused alike show that it is not about them. */
const ALIKE = 3;

interface Refused {
  readonly order: PlannedOrder;
  readonly error: StenoError;
}

/** What the run has seen so far: halving stops where it is not the audios that are refused. */
class Refusals {
  readonly #alone = new Map<string, number>();
  readonly #accepted = new Set<string>();

  add(refused: Refused): void {
    const text = likeness(refused);
    this.#alone.set(text, (this.#alone.get(text) ?? 0) + 1);
  }

  accept({ skus }: PlannedOrder): void {
    this.#accepted.add(JSON.stringify(skus));
  }

  hasAccepted({ skus }: PlannedOrder): boolean {
    return this.#accepted.has(JSON.stringify(skus));
  }

  isHopeless(refused: Refused): boolean {
    return !this.hasAccepted(refused.order) && (this.#alone.get(likeness(refused)) ?? 0) >= ALIKE;
  }
}

const likeness = ({ order: { skus }, error: { status, message } }: Refused): string =>
  JSON.stringify([skus, status, message]);

class Halving {
  /** Absent where nothing is halved. */
  readonly #refusals: Refusals | undefined;
  #waiting: PlannedOrder[];
  /** To be halved; the last one first. */
  #refused: Refused[] = [];
  /** What the halves in hand were refused as. */
  #whole: Refused | undefined;
  #calls = 0;
  /** One of the halves in hand was accepted. */
  #acceptedHalf = false;
  /** One of the halves in hand stood alone and was refused; one of all did. */
  #isAlone = false;
  #wasAlone = false;

  constructor(order: PlannedOrder, seen: Refusals | undefined) {
    this.#waiting = [order];
    this.#refusals = seen;
  }

  get left(): PlannedOrder[] {
    return [...this.#waiting, ...this.#refused.map(({ order }) => order)];
  }

  /** Both halves come before the halves of one: the sooner something is accepted, the less is given up. */
  next(): PlannedOrder | undefined {
    for (;;) {
      const order = this.#waiting.shift();
      if (order && !this.#isRefusedAnyway(order)) return order;
      if (order) this.#refused.push(this.#asRefused(order));
      else if (!this.#halveNext()) return undefined;
    }
  }

  /** Records an outcome; returns those that are final. */
  after(order: PlannedOrder, outcome: SentOrder | undefined): SentOrder[] {
    const seen = this.#refusals;
    if (!outcome || !seen) return outcome ? [outcome] : [];
    this.#calls += 1;
    const refused = outcome.error && { order, error: outcome.error };
    const isFinal = !refused || !this.#isToBeHalved(refused, seen);
    if (!refused) {
      this.#acceptedHalf = true;
      seen.accept(order);
    }
    const isOver = this.#calls > MAX_CALLS || (refused && seen.isHopeless(refused));
    return [...(isFinal ? [outcome] : []), ...(isOver ? this.#giveUp() : [])];
  }

  #isToBeHalved(refused: Refused, seen: Refusals): boolean {
    if (!clearRefusals.has(refused.error.status ?? 0)) return false;
    if (refused.order.audios.length === 1) {
      this.#isAlone = this.#wasAlone = true;
      seen.add(refused);
      return false;
    }
    if (seen.isHopeless(refused)) return false;
    this.#refused.push(refused);
    return true;
  }

  /** Gives what is refused without having stood alone. */
  #giveUp(): SentOrder[] {
    const all = [...this.#waiting.map((order) => this.#asRefused(order)), ...this.#refused];
    [this.#waiting, this.#refused] = [[], []];
    return all.map(({ order, error }) => ({
      what: describeUrls(order),
      error: this.#calls > MAX_CALLS ? unfinished(error) : error,
      planned: order,
    }));
  }

  #asRefused = (order: PlannedOrder): Refused => ({ order, error: (this.#whole as Refused).error });

  /** One half was accepted, so the other one holds what was refused; not before an audio was refused by itself. */
  #isRefusedAnyway({ audios }: PlannedOrder): boolean {
    const isKnown = this.#acceptedHalf && this.#wasAlone && this.#whole?.error.status !== TOO_LARGE;
    return isKnown && audios.length > 1;
  }

  #halveNext(): boolean {
    const whole = this.#nextRefused();
    if (!whole) return false;
    const audios = this.#refused.reduce((sum, { order }) => sum + order.audios.length, 0);
    const calls = MAX_CALLS + 1 - this.#calls;
    // Now there are calls enough to send each audio by itself; after two more halves there would not be.
    const areShort = calls >= audios && calls - 2 < audios;
    this.#refused = this.#refused.filter((each) => each !== whole);
    this.#whole = whole;
    this.#acceptedHalf = this.#isAlone = false;
    const { audios: all } = whole.order;
    const half = Math.floor(all.length / 2);
    const parts = areShort ? all.map((audio) => [audio]) : [all.slice(0, half), all.slice(half)];
    this.#waiting = parts.map((each) => ({ ...whole.order, audios: each }));
    return true;
  }

  /** As long as nothing is accepted, an audio that was refused alone is no reason to look at its neighbours next. */
  #nextRefused(): Refused | undefined {
    const last = this.#refused.at(-1);
    if (!last || !this.#isAlone || this.#refusals?.hasAccepted(last.order)) return last;
    const sizeOf = ({ order }: Refused): number => order.audios.length;
    return this.#refused.reduce((one, other) => (sizeOf(other) > sizeOf(one) ? other : one));
  }
}

const unfinished = ({ kind, message, status }: StenoError): StenoError =>
  new StenoError(kind, `${message}; ${MAX_CALLS} further calls were not enough to find the bad rows`, {
    status,
    hint: 'run the same command again with --skip-ordered to continue from here',
  });
