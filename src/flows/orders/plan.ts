/** From what a user gave to the orders to be sent. */
import type { OrderRequest } from '../../api/orders.ts';
import { checkOrderSkus } from '../../catalog/check.ts';
import { urlKey } from '../../ledger/url-key.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { checkUrl } from '../../lib/urls.ts';
import { parseParams, readNotes } from './input.ts';
import { type Row, readManifest } from './manifest.ts';

export interface OrderInput {
  readonly from: string | undefined;
  readonly perOrder: number | undefined;
  readonly sku: readonly string[];
  readonly anySku: boolean;
  readonly notes: string | undefined;
  readonly notesFile: string | undefined;
  readonly name: readonly string[];
  readonly test: boolean;
  readonly param: readonly string[];
  readonly again: boolean;
  readonly skipOrdered: boolean;
}

/** So many URLs of a manifest go into one order: the service fetches all of them before it answers. */
const OF_A_MANIFEST = 50;

interface Shared {
  readonly skus: readonly string[];
  readonly notes: string | undefined;
  readonly names: readonly string[];
  readonly test: boolean;
  readonly anySku: boolean;
  readonly extra: OrderRequest['extra'];
}

/** Checks everything that was given, and makes the orders of it. Nothing is sent if any of it is bad. */
export async function ordersOf(
  urls: readonly string[],
  input: OrderInput,
  stdin: NodeJS.ReadStream,
): Promise<OrderRequest[]> {
  const { from, notesFile } = input;
  if (urls.length === 0 && from === undefined)
    throw usage('an order wants a URL, or --from', 'see: steno order --help');
  if (from === '-' && notesFile === '-') throw usage('--from and --notes-file can not both read stdin');
  const given: Row[] = urls.map((url) => ({ at: '', url: checkUrl(url) }));
  const listed = from === undefined ? [] : await readManifest(from, stdin);
  const rows = withoutRepeats([...given, ...listed], input);
  const shared = {
    skus: input.sku,
    names: checkNames(input.name),
    notes: await readNotes(input.notes, notesFile, stdin),
    test: input.test,
    anySku: input.anySku,
    extra: parseParams(input.param),
  };
  return planOrders(rows, shared, input.perOrder ?? (from === undefined ? rows.length : OF_A_MANIFEST));
}

function checkNames(names: readonly string[]): readonly string[] {
  if (names.some((name) => name.trim() === '')) throw usage('a name of a speaker is empty');
  return names;
}

/** Rows alike in SKUs, notes and names share an order; what a row does not say, the flags say. */
export function planOrders(rows: readonly Row[], shared: Shared, perOrder: number): OrderRequest[] {
  const alike = new Map<string, OrderRequest & { urls: string[] }>();
  const full: OrderRequest[] = [];
  for (const row of rows) {
    const request = {
      urls: [] as string[],
      skus: checkRowSkus(row, shared),
      names: row.names ?? shared.names,
      notes: row.notes ?? shared.notes,
      test: shared.test,
      extra: shared.extra,
    };
    const key = JSON.stringify([request.skus, request.names, request.notes]);
    let open = alike.get(key);
    if (!open || open.urls.length >= perOrder) {
      open = request;
      alike.set(key, open);
      full.push(open);
    }
    open.urls.push(row.url);
  }
  return full;
}

/** The same address twice in one go would be bought twice. */
function withoutRepeats(
  rows: readonly Row[],
  options: { readonly again: boolean; readonly skipOrdered: boolean },
): Row[] {
  if (options.again) return [...rows];
  const seen = new Map<string, Row>();
  return rows.filter((row) => {
    const key = urlKey(row.url);
    const before = seen.get(key);
    if (!before) seen.set(key, row);
    else if (!options.skipOrdered) {
      const where = row.at ? `${row.at}: ` : '';
      const same = before.at ? `the same as in ${before.at}` : 'given twice';
      throw usage(`${where}${row.url} is ${same}`, 'leave one out, or let --skip-ordered do it');
    }
    return !before;
  });
}

function checkRowSkus(row: Row, shared: Shared): string[] {
  try {
    return checkOrderSkus(row.skus ?? shared.skus, shared.anySku);
  } catch (error) {
    if (!(error instanceof StenoError) || !row.at) throw error;
    throw usage(`${row.at}: ${error.message}`, error.hint);
  }
}
