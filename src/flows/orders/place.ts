/** An order is written to the ledger, sent once, and its outcome is written: nothing is bought twice by accident. */
import { CallError } from '../../api/http/failures.ts';
import type { Transport } from '../../api/http/transport.ts';
import { type Order, type OrderRequest, placeOrder } from '../../api/orders.ts';
import type { PreviousAttempt } from '../../ledger/attempts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';

export interface PlacedOrder {
  readonly request: OrderRequest;
  readonly order: Order;
}

/** What to do with URLs that were ordered before; without either, they are an error. */
export interface DuplicateOptions {
  readonly again: boolean;
  readonly skipOrdered: boolean;
}

export interface PlaceOptions extends DuplicateOptions {
  /** The ledger could not record what became of an order. */
  readonly onLedgerError: (error: unknown) => Promise<void>;
}

/** The requests without URLs that are on order already, or an error for them; an unclear attempt is always an error. */
export function withoutOrdered(
  requests: readonly OrderRequest[],
  ledger: Ledger | undefined,
  options: DuplicateOptions,
): OrderRequest[] {
  if (!ledger || options.again) return [...requests];
  return requests.flatMap((request) => {
    const previous = request.test ? [] : ledger.attempts.previous(request.urls);
    const blocking = options.skipOrdered ? previous.filter(({ status }) => status !== 'placed') : previous;
    if (blocking.length) throw duplicateError(blocking);
    const ordered = new Set(previous.map(({ url }) => url));
    const urls = request.urls.filter((url) => !ordered.has(url));
    return urls.length ? [{ ...request, urls }] : [];
  });
}

/** Gives nothing where all of it was ordered meanwhile and may be left out. */
export async function placeOne(
  wanted: OrderRequest,
  transport: Transport,
  ledger: Ledger | undefined,
  options: PlaceOptions,
): Promise<PlacedOrder | undefined> {
  const attempt = ledger ? begin(wanted, ledger, options) : { request: wanted, end: () => {} };
  if (!attempt) return undefined;
  const { request, end } = attempt;
  // The order stands, whether or not the ledger can record it: that must not hide it.
  const record = async (outcome: Order | StenoError): Promise<void> => {
    try {
      end(outcome);
    } catch (error) {
      await options.onLedgerError(error);
    }
  };
  const order = await placeOrder(transport, request).catch(async (error) => {
    if (error instanceof StenoError) await record(error);
    throw error;
  });
  await record(order);
  return { request, order };
}

interface Attempt {
  readonly request: OrderRequest;
  end(outcome: Order | StenoError): void;
}

/** Writes the attempt. Another process may have ordered some of it since the requests were checked. */
function begin(request: OrderRequest, ledger: Ledger, options: DuplicateOptions): Attempt | undefined {
  const { attempts } = ledger;
  const result = attempts.begin(request, options);
  if ('refusedBy' in result) {
    if (!options.skipOrdered) throw duplicateError(result.refusedBy);
    const [rest] = withoutOrdered([request], ledger, options);
    return rest && begin(rest, ledger, options);
  }
  const { begun } = result;
  const end = (outcome: Order | StenoError): void => {
    if (!(outcome instanceof StenoError)) attempts.markPlaced(begun, request, outcome);
    else if (outcome instanceof CallError && outcome.outcomeUnknown)
      attempts.markUncertain(begun, outcome.message);
    else attempts.markRefused(begun, outcome.message);
  };
  return { request, end };
}

function duplicateError(previous: readonly PreviousAttempt[]): StenoError {
  const [first] = previous;
  const others = previous.length > 1 ? ` (and ${previous.length - 1} more)` : '';
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
