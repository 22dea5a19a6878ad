/**
 * A refused order of several audios bought nothing, so it is sent again in halves until the refused audios stand alone:
 * one bad recording holds up no other.
 */
import { StenoError } from '../../lib/errors.ts';
import type { OrderGuard } from './guard.ts';
import type { SentOrder } from './place.ts';
import { describeUrls, type PlannedOrder } from './planned-order.ts';

/** What the service says of an order that it can't take as it is. */
const refusals = new Set([400, 404, 409, 413, 422]);
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

/** Refusals that do not depend on the audio (SKUs, status, message), for the whole run. */
export type Hopeless = Set<string>;

const likeness = ({ order: { skus }, error: { status, message } }: Refused): string =>
  JSON.stringify([skus, status, message]);

/** One order, and its halves. */
export class Halving {
  readonly #guard: OrderGuard;
  /** Absent where nothing is halved. */
  readonly #hopeless: Hopeless | undefined;
  #waiting: readonly PlannedOrder[];
  /** To be halved; the last one first. */
  #refused: readonly Refused[] = [];
  /** What the halves in hand were refused as. */
  #whole: Refused | undefined;
  #calls = 0;
  /** One of the halves in hand was accepted; one of all. */
  #acceptedHalf = false;
  #accepted = false;
  readonly #alone = new Map<string, number>();

  constructor(order: PlannedOrder, guard: OrderGuard, hopeless: Hopeless | undefined) {
    this.#waiting = [order];
    this.#guard = guard;
    this.#hopeless = hopeless;
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
    if (!this.#hopeless) return [outcome];
    this.#calls += 1;
    const { error } = outcome;
    if (!error) this.#accepted = this.#acceptedHalf = true;
    const isOver = !error || this.#isOver({ order, error }, this.#hopeless);
    return [...(isOver ? [outcome] : []), ...this.#giveUp(this.#hopeless)];
  }

  /** Queues a refused order of several audios for halving; true if the outcome is final. */
  #isOver(refused: Refused, hopeless: Hopeless): boolean {
    const text = likeness(refused);
    if (!refusals.has(refused.error.status ?? 0)) return true;
    if (refused.order.audios.length === 1) this.#alone.set(text, (this.#alone.get(text) ?? 0) + 1);
    else if (!hopeless.has(text)) this.#refused = [...this.#refused, refused];
    return !this.#refused.some((each) => each === refused);
  }

  /** Where going on would bring nothing: gives what is then refused without having stood alone. */
  #giveUp(hopeless: Hopeless): SentOrder[] {
    const isSpent = this.#calls > MAX_CALLS;
    if (!isSpent && (this.#accepted || Math.max(0, ...this.#alone.values()) < ALIKE)) return [];
    const all = [...this.#waiting.map((order) => this.#asRefused(order)), ...this.#refused];
    [this.#waiting, this.#refused] = [[], []];
    if (!isSpent) for (const each of all) hopeless.add(likeness(each));
    return all.map(({ order, error }) => ({
      what: describeUrls(order),
      error: isSpent ? unfinished(error) : error,
      planned: order,
    }));
  }

  #asRefused = (order: PlannedOrder): Refused => ({ order, error: (this.#whole as Refused).error });

  /** One half was accepted, so the other one holds what was refused; not before an audio was refused by itself. */
  #isRefusedAnyway({ audios }: PlannedOrder): boolean {
    const isKnown = this.#acceptedHalf && this.#alone.size > 0 && this.#whole?.error.status !== TOO_LARGE;
    return isKnown && audios.length > 1;
  }

  #halveNext(): boolean {
    const whole = this.#refused.at(-1);
    if (!whole) return false;
    this.#refused = this.#refused.slice(0, -1);
    this.#whole = whole;
    this.#acceptedHalf = false;
    this.#waiting = this.#guard.halvesOf(whole.order);
    return true;
  }
}

const unfinished = ({ kind, message, status }: StenoError): StenoError =>
  new StenoError(kind, `${message}; the bad rows were not found within ${MAX_CALLS} further calls`, {
    status,
    hint: 'run the same line again with --skip-ordered: it goes on from here',
  });
