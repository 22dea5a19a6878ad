/** Orders are written down, sent once, and their outcome is written down: nothing is bought twice by accident. */
import { CallError } from '../api/failures.ts';
import { type Order, type OrderRequest, placeOrder } from '../api/orders.ts';
import type { Transport } from '../api/transport.ts';
import { StenoError } from '../errors.ts';
import type { Earlier } from '../ledger/attempts.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Outcome } from './bulk.ts';

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
  options: Guard & { readonly onTrouble: (error: unknown) => Promise<void> },
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
      outcomes.push({ what, value: { request, order: await placeOne(request, transport, ledger, options) } });
    } catch (error) {
      if (!(error instanceof StenoError) || error.kind === 'interrupted' || requests.length === 1)
        throw error;
      stopped = error.kind !== 'failed' && error.kind !== 'missing' && error.kind !== 'duplicate';
      outcomes.push({ what, error });
    }
  }
  return outcomes;
}

async function placeOne(
  request: OrderRequest,
  transport: Transport,
  ledger: Ledger | undefined,
  { again, onTrouble }: Guard & { readonly onTrouble: (error: unknown) => Promise<void> },
): Promise<Order> {
  const attempt = ledger?.attempts.begin(request, { again });
  if (Array.isArray(attempt)) throw duplicate(attempt);
  let order: Order;
  try {
    order = await placeOrder(transport, request);
  } catch (error) {
    const { message } = error as Error;
    const clear = error instanceof StenoError && !(error instanceof CallError && error.open);
    if (attempt !== undefined) ledger?.attempts[clear ? 'refused' : 'uncertain'](attempt, message);
    throw error;
  }
  try {
    if (attempt !== undefined) ledger?.attempts.placed(attempt, request, order);
  } catch (error) {
    // The order stands; a ledger that can't take it down must not hide that.
    await onTrouble(error);
  }
  return order;
}

function duplicate(earlier: readonly Earlier[]): StenoError {
  const [first] = earlier;
  const others = earlier.length > 1 ? ` (and ${earlier.length - 1} more)` : '';
  if (first?.status === 'placed') {
    const order = first.order ? ` as order ${first.order}` : '';
    return new StenoError('duplicate', `${first.url} was ordered${order} at ${first.at}${others}`, {
      hint: `look at it with: steno files${first.order ? ` --order ${first.order}` : ''}   then --again orders it once more, --skip-ordered leaves it out`,
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
