/**
 * A refused order of several audios bought nothing, so it is sent again in halves until the refused audios stand alone:
 * one bad recording holds up no other. Where so many are bad that halves would take too many calls, each audio is sent
 * by itself.
 */
import { StenoError } from '../../lib/errors.ts';
import type { OrderGuard } from './guard.ts';
import type { SentOrder } from './place.ts';
import { describeUrls, type PlannedOrder } from './planned-order.ts';

/** What the service says of an order that it can't take as it is. */
const clearRefusals = new Set([400, 404, 409, 413, 422]);
/** The order is too large: its audios may all be right. */
const TOO_LARGE = 413;

/** Calls for one order, beyond the first. */
const MAX_CALLS = 60;
/** So many audios that stand alone and are refused alike show that it is not about them. */
const ALIKE = 3;

interface Refused {
  readonly order: PlannedOrder;
  readonly error: StenoError;
}

/** What the run has seen so far: halving stops where it is not the audios that are refused. */
export class Refusals {
  readonly #alone = new Map<string, number>();
  readonly #accepted = new Set<string>();

  /** An audio that stood alone. */
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

/** One order, and its halves. */
export class Halving {
  readonly #guard: OrderGuard;
  /** Absent where nothing is halved. */
  readonly #refusals: Refusals | undefined;
  #waiting: readonly PlannedOrder[];
  /** To be halved; the last one first. */
  #refused: readonly Refused[] = [];
  /** What the halves in hand were refused as. */
  #whole: Refused | undefined;
  #calls = 0;
  /** One of the halves in hand was accepted. */
  #acceptedHalf = false;
  /** One of the halves in hand stood alone and was refused; one of all did. */
  #isAlone = false;
  #wasAlone = false;

  constructor(order: PlannedOrder, guard: OrderGuard, seen: Refusals | undefined) {
    this.#waiting = [order];
    this.#guard = guard;
    this.#refusals = seen;
  }

  /** What is still to be sent. */
  get left(): PlannedOrder[] {
    return [...this.#waiting, ...this.#refused.map(({ order }) => order)];
  }

  /** Both halves come before the halves of one: the sooner something is accepted, the less is given up. */
  next(): PlannedOrder | undefined {
    for (;;) {
      const [order, ...others] = this.#waiting;
      if (!order) {
        if (!this.#halveNext()) return undefined;
        continue;
      }
      this.#waiting = others;
      if (!this.#isRefusedAnyway(order)) return order;
      this.#refused = [...this.#refused, this.#asRefused(order)];
    }
  }

  /** Records an outcome; returns those that are final. */
  after(order: PlannedOrder, outcome: SentOrder | undefined): SentOrder[] {
    if (!outcome) return [];
    if (!this.#refusals) return [outcome];
    this.#calls += 1;
    const { error } = outcome;
    if (error) {
      const refused = { order, error };
      const isFinal = this.#isFinal(refused, this.#refusals);
      const isOver = this.#calls > MAX_CALLS || this.#refusals.isHopeless(refused);
      return [...(isFinal ? [outcome] : []), ...(isOver ? this.#giveUp() : [])];
    }
    this.#acceptedHalf = true;
    this.#refusals.accept(order);
    return [outcome, ...(this.#calls > MAX_CALLS ? this.#giveUp() : [])];
  }

  /** Queues a refused order of several audios for halving; true if the outcome is final. */
  #isFinal(refused: Refused, seen: Refusals): boolean {
    if (!clearRefusals.has(refused.error.status ?? 0)) return true;
    const isAlone = refused.order.audios.length === 1;
    this.#isAlone ||= isAlone;
    this.#wasAlone ||= isAlone;
    if (isAlone) seen.add(refused);
    else if (!seen.isHopeless(refused)) this.#refused = [...this.#refused, refused];
    return !this.#refused.some((each) => each === refused);
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
    this.#refused = this.#refused.filter((each) => each !== whole);
    this.#whole = whole;
    this.#acceptedHalf = this.#isAlone = false;
    this.#waiting = this.#guard.partsOf(whole.order, this.#callsAreShort(whole) ? 'audios' : 'halves');
    return true;
  }

  /** Two more calls that tell nothing would leave too few for one of each audio; there were enough so far. */
  #callsAreShort(whole: Refused): boolean {
    const audios = [whole, ...this.#refused].reduce((sum, { order }) => sum + order.audios.length, 0);
    const calls = MAX_CALLS + 1 - this.#calls;
    return calls >= audios && calls - 2 < audios;
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
  new StenoError(kind, `${message}; the bad rows were not found within ${MAX_CALLS} further calls`, {
    status,
    hint: 'run the same line again with --skip-ordered: it goes on from here',
  });
