/** Makes order requests of the arguments, flags and manifest. */
import type { OrderRequest } from '../../api/orders.ts';
import { checkOrderSkus } from '../../catalog/check.ts';
import { urlKey } from '../../ledger/url-key.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { checkUrl } from '../../lib/urls.ts';
import { parseParams, readNotes } from './input.ts';
import { readManifest } from './manifest.ts';
import type { Row } from './manifest-row.ts';

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

/** URLs of a manifest in one order: the service fetches all of them before it answers. */
const MANIFEST_URLS_PER_ORDER = 50;

/** What holds for every row that does not say otherwise. */
interface Defaults {
  readonly skus: readonly string[];
  readonly notes: string | undefined;
  readonly names: readonly string[];
  readonly test: boolean;
  readonly anySku: boolean;
  readonly extra: OrderRequest['extra'];
}

/** Checks everything before anything is sent. */
export async function ordersOf(
  urls: readonly string[],
  input: OrderInput,
  stdin: NodeJS.ReadStream,
): Promise<OrderRequest[]> {
  const { from, notesFile } = input;
  if (urls.length === 0 && from === undefined)
    throw usage('order requires a URL, or --from', 'see: steno order --help');
  if (from === '-' && notesFile === '-') throw usage("--from and --notes-file can't both read stdin");
  const given: Row[] = urls.map((url) => ({ at: '', url: checkUrl(url) }));
  const listed = from === undefined ? [] : await readManifest(from, stdin);
  const rows = withoutRepeats([...given, ...listed], input);
  const defaults = {
    skus: input.sku,
    names: checkNames(input.name),
    notes: await readNotes(input.notes, notesFile, stdin),
    test: input.test,
    anySku: input.anySku,
    extra: parseParams(input.param),
  };
  return planOrders(
    rows,
    defaults,
    input.perOrder ?? (from === undefined ? rows.length : MANIFEST_URLS_PER_ORDER),
  );
}

function checkNames(names: readonly string[]): readonly string[] {
  if (names.some((name) => name.trim() === '')) throw usage('the name of a speaker is empty');
  return names;
}

/** Rows with the same SKUs, notes and names share an order. */
export function planOrders(rows: readonly Row[], defaults: Defaults, perOrder: number): OrderRequest[] {
  const latest = new Map<string, OrderRequest & { urls: string[] }>();
  const requests: OrderRequest[] = [];
  for (const row of rows) {
    const request = {
      urls: [] as string[],
      skus: checkRowSkus(row, defaults),
      names: row.names ?? defaults.names,
      notes: row.notes ?? defaults.notes,
      test: defaults.test,
      extra: defaults.extra,
    };
    const key = JSON.stringify([request.skus, request.names, request.notes]);
    let current = latest.get(key);
    if (!current || current.urls.length >= perOrder) {
      current = request;
      latest.set(key, current);
      requests.push(current);
    }
    current.urls.push(row.url);
  }
  return requests;
}

/** The same URL twice in one run would be bought twice. */
function withoutRepeats(
  rows: readonly Row[],
  options: { readonly again: boolean; readonly skipOrdered: boolean },
): Row[] {
  if (options.again) return [...rows];
  const seen = new Map<string, Row>();
  return rows.filter((row) => {
    const key = urlKey(row.url);
    const first = seen.get(key);
    if (!first) seen.set(key, row);
    else if (!options.skipOrdered) {
      const where = row.at ? `${row.at}: ` : '';
      const same = first.at ? `the same as in ${first.at}` : 'given twice';
      throw usage(`${where}${row.url} is ${same}`, 'leave one out, or use --skip-ordered');
    }
    return !first;
  });
}

function checkRowSkus(row: Row, defaults: Defaults): string[] {
  try {
    return checkOrderSkus(row.skus ?? defaults.skus, defaults.anySku);
  } catch (error) {
    if (!(error instanceof StenoError) || !row.at) throw error;
    throw usage(`${row.at}: ${error.message}`, error.hint);
  }
}
