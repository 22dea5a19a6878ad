/** Sends orders one after the other, as fast as the service asks for, and stops where going on would do harm. */
import { CallError } from '../../api/http/failures.ts';
import type { OrderRequest } from '../../api/orders.ts';
import { formatDuration } from '../../lib/duration.ts';
import { BulkError, type Failure, StenoError } from '../../lib/errors.ts';
import { sleep } from '../../lib/sleep.ts';
import { plural } from '../../lib/text.ts';
import { failures, type Outcome, values } from '../bulk.ts';
import type { PlacedOrder } from './place.ts';

export interface SendingOptions {
  readonly signal: AbortSignal;
  /** How long a pause may be, because of --timeout. */
  readonly pauseLimitMs: () => number;
  /** How far it is: to be shown. */
  readonly onProgress: (text: string) => void;
}

export interface SentOrders {
  readonly outcomes: readonly Outcome<PlacedOrder>[];
  /** How many orders were not sent, and why. */
  readonly unsent: number;
  readonly because?: string | undefined;
  /** The user interrupted. */
  readonly interrupted: boolean;
}

/** A longer pause is not waited for. */
const MAX_PAUSE_MS = 60_000;
/** The pause after a refusal that does not say how long; it doubles with each in a row. */
const FIRST_PAUSE_MS = 1_000;
/** How many such refusals in a row end the run. */
const BUSY_LIMIT = 3;

type Place = (request: OrderRequest) => Promise<PlacedOrder | undefined>;

/** A refused order does not stop the next; one without a clear answer does. */
export async function sendOrders(
  requests: readonly OrderRequest[],
  place: Place,
  options: SendingOptions,
): Promise<SentOrders> {
  const outcomes: Outcome<PlacedOrder>[] = [];
  const { signal, onProgress } = options;
  const stop = (unsent: number, because?: string): SentOrders => ({
    ...{ outcomes, unsent, because },
    interrupted: signal.aborted,
  });
  const pacer = new Pacer(options);
  for (const [at, request] of requests.entries()) {
    const left = requests.length - at;
    if (signal.aborted) return stop(left);
    if (requests.length > 1) onProgress(`Ordering: ${at + 1} of ${requests.length}`);
    const outcome = await outcomeOf(request, place);
    // It was interrupted before it was sent.
    if (outcome?.error?.kind === 'interrupted') return stop(left);
    if (outcome) outcomes.push(outcome);
    const because = await pacer.after(outcome?.error, left - 1);
    if (because) return stop(left - 1, because);
  }
  return stop(0);
}

/** Waits between two orders where the service has too much to do. */
class Pacer {
  readonly #options: SendingOptions;
  #busyInRow = 0;

  constructor(options: SendingOptions) {
    this.#options = options;
  }

  /** Gives back why the orders that are left must not be sent, if so. The refused one is not sent again. */
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
    const { onProgress, signal } = this.#options;
    onProgress(`Waiting ${formatDuration(ms)} for the service: ${plural(left, 'order')} left`);
    // An interruption is seen before the next order.
    await sleep(ms, signal).catch(() => {});
  }
}

async function outcomeOf(request: OrderRequest, place: Place): Promise<Outcome<PlacedOrder> | undefined> {
  const what = describeUrls(request);
  try {
    const value = await place(request);
    return value && { what, value };
  } catch (error) {
    if (error instanceof StenoError) return { what, error };
    throw error;
  }
}

const describeUrls = ({ urls }: OrderRequest): string =>
  urls.length > 1 ? `${urls[0]} and ${urls.length - 1} more` : `${urls[0]}`;

/** What would happen to every order after it, or left one unclear. */
const endsTheRun = ({ kind }: StenoError): boolean =>
  kind !== 'failed' && kind !== 'missing' && kind !== 'duplicate';

/** The service has too much to do: the next order would be refused too. */
const isBusy = (error: StenoError | undefined): error is CallError =>
  error instanceof CallError && (error.status === 429 || error.status === 503);

const GO_ON = 'run the same line again with --skip-ordered';

/** Raises what was not placed, together with what else failed: unclear before interrupted before the rest. */
export function raiseUnplaced(sent: SentOrders, others: readonly Failure[] = []): void {
  const { outcomes, unsent, interrupted } = sent;
  const unplaced = failures(outcomes);
  const [first] = unplaced;
  const total = outcomes.length + unsent;
  const unclear = unplaced.find(({ error }) => error.kind === 'uncertain');
  if (interrupted && !unclear) throw interruption(sent, [...unplaced, ...others]);
  if (!first) return;
  if (total === 1) throw first.error;
  const kindOfAll = values(outcomes).length ? 'partial' : first.error.kind;
  throw new BulkError(
    unclear ? 'uncertain' : kindOfAll,
    `${unplaced.length} of ${total} orders failed`,
    [...unplaced, ...unsentFailures(sent), ...others],
    unclear?.error.hint,
  );
}

/** One line for all that was not sent. */
function unsentFailures({ unsent, because }: SentOrders): Failure[] {
  if (unsent === 0) return [];
  const why = because ? `, because ${because}` : '';
  const later = because ? GO_ON.replace('again', 'again later') : GO_ON;
  return [
    { what: 'not sent', error: new StenoError('failed', `${plural(unsent, 'order')}${why}; ${later}`) },
  ];
}

/** Says what was ordered, what was not sent, and how to go on. */
function interruption({ outcomes, unsent }: SentOrders, failed: readonly Failure[]): StenoError {
  const placed = values(outcomes);
  const [only] = outcomes;
  if (unsent === 0 && outcomes.length === 1 && only?.error)
    return new StenoError('interrupted', `interrupted: ${only.error.message}`, { hint: only.error.hint });
  const files = placed.reduce((sum, { order }) => sum + order.audiofiles.length, 0);
  const ordered = placed.length
    ? `${plural(placed.length, 'order')} placed, with ${plural(files, 'file')}`
    : 'nothing was ordered';
  const more = unsent ? [`not sent: ${plural(unsent, 'order')}`] : [];
  const hint = unsent ? `to go on, ${GO_ON}` : 'what becomes of it: steno files';
  return new BulkError('interrupted', `interrupted: ${ordered}`, failed, hint, more);
}
