/** Orders are written down, sent once, and their outcome is written down: nothing is bought twice by accident. */
import { CallError } from '../../api/http/failures.ts';
import type { Transport } from '../../api/http/transport.ts';
import { type Order, type OrderRequest, placeOrder } from '../../api/orders.ts';
import type { Earlier } from '../../ledger/attempts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { BulkError, type Failure, StenoError } from '../../lib/errors.ts';
import type { Outcome } from '../bulk.ts';

export interface PlacedOrder {
  readonly request: OrderRequest;
  readonly order: Order;
}

export interface Guard {
  readonly again: boolean;
  readonly skipOrdered: boolean;
}

/** Leaves out what is on order already if so asked; otherwise stops at it. What is unclear always stops. */
export function withoutOrdered(
  requests: readonly OrderRequest[],
  ledger: Ledger | undefined,
  guard: Guard,
): OrderRequest[] {
  if (!ledger || guard.again) return [...requests];
  return requests.flatMap((request) => {
    const earlier = request.test ? [] : ledger.attempts.earlier(request.urls);
    const stops = guard.skipOrdered ? earlier.filter((each) => each.status !== 'placed') : earlier;
    if (stops.length) throw duplicate(stops);
    const urls = request.urls.filter((url) => !earlier.some((each) => each.url === url));
    return urls.length ? [{ ...request, urls }] : [];
  });
}

/** Sends the orders one after the other. One that is refused does not stop the next; one that is unclear does. */
export async function placeOrders(
  requests: readonly OrderRequest[],
  transport: Transport,
  ledger: Ledger | undefined,
  options: Placing,
): Promise<Outcome<PlacedOrder>[]> {
  const outcomes: Outcome<PlacedOrder>[] = [];
  let stopped = false;
  for (const request of requests) {
    const what =
      request.urls.length > 1
        ? `${request.urls[0]} and ${request.urls.length - 1} more`
        : `${request.urls[0]}`;
    if (stopped) {
      outcomes.push({ what, error: new StenoError('failed', 'not sent, because of the failure before it') });
      continue;
    }
    try {
      const placed = await placeOne(request, transport, ledger, options);
      if (placed) outcomes.push({ what, value: placed });
    } catch (error) {
      if (!(error instanceof StenoError)) throw error;
      stopped = error.kind !== 'failed' && error.kind !== 'missing' && error.kind !== 'duplicate';
      outcomes.push({ what, error });
    }
  }
  return outcomes;
}

/** Raises what was not placed, with what else went wrong; an order that is unclear counts more than the others. */
export function raiseUnplaced(
  outcomes: readonly Outcome<PlacedOrder>[],
  undelivered: readonly Failure[] = [],
): void {
  const failures = outcomes.flatMap(({ what, error }): Failure[] => (error ? [{ what, error }] : []));
  const [first] = failures;
  if (!first) return;
  if (outcomes.length === 1) throw first.error;
  const telling = ['interrupted', 'uncertain'].flatMap(
    (kind) => failures.find(({ error }) => error.kind === kind) ?? [],
  )[0];
  const none = failures.length === outcomes.length;
  const kind = telling?.error.kind ?? (none ? first.error.kind : 'partial');
  const text = `${failures.length} of ${outcomes.length} orders failed`;
  throw new BulkError(kind, text, [...failures, ...undelivered], telling?.error.hint);
}

interface Placing extends Guard {
  readonly onTrouble: (error: unknown) => Promise<void>;
}

/** Gives nothing where, by now, all of it is on order and may be left out. */
async function placeOne(
  wanted: OrderRequest,
  transport: Transport,
  ledger: Ledger | undefined,
  options: Placing,
): Promise<PlacedOrder | undefined> {
  const begun = ledger ? begin(wanted, ledger, options) : { request: wanted, end: () => {} };
  if (!begun) return undefined;
  const { request, end } = begun;
  // The outcome stands; a ledger that can't take it down must not hide it.
  const note = async (outcome: Order | StenoError): Promise<void> => {
    try {
      end(outcome);
    } catch (error) {
      await options.onTrouble(error);
    }
  };
  const order = await placeOrder(transport, request).catch(async (error) => {
    if (error instanceof StenoError) await note(error);
    throw error;
  });
  await note(order);
  return { request, order };
}

interface Begun {
  readonly request: OrderRequest;
  end(outcome: Order | StenoError): void;
}

/** Writes the attempt down; another process may have ordered some of it since it was looked at. */
function begin(request: OrderRequest, ledger: Ledger, guard: Guard): Begun | undefined {
  const { attempts } = ledger;
  const attempt = attempts.begin(request, guard);
  if (Array.isArray(attempt)) {
    if (!guard.skipOrdered) throw duplicate(attempt);
    const [rest] = withoutOrdered([request], ledger, guard);
    return rest && begin(rest, ledger, guard);
  }
  const end = (outcome: Order | StenoError): void => {
    if (!(outcome instanceof StenoError)) attempts.placed(attempt, request, outcome);
    else if (outcome instanceof CallError && outcome.outcomeUnknown)
      attempts.uncertain(attempt, outcome.message);
    else attempts.refused(attempt, outcome.message);
  };
  return { request, end };
}

function duplicate(earlier: readonly Earlier[]): StenoError {
  const [first] = earlier;
  const others = earlier.length > 1 ? ` (and ${earlier.length - 1} more)` : '';
  if (first?.status === 'placed') {
    const order = first.order ? ` as order ${first.order}` : '';
    return new StenoError('duplicate', `${first.url} was ordered${order} at ${first.at}${others}`, {
      hint: `--again orders it once more, --skip-ordered leaves it out; what became of it: steno files${first.order ? ` --order ${first.order}` : ''}`,
    });
  }
  const when = first?.status === 'sending' ? 'was begun and has no outcome' : 'had no clear answer';
  return new StenoError(
    'duplicate',
    `an order of ${first?.url} at ${first?.at} ${when}${others}: it may have gone through`,
    {
      hint: 'look at the balance (steno balance) and at your account; if it did not go through, --again orders it',
    },
  );
}
