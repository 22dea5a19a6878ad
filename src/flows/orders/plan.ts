/** Makes order requests of the arguments, flags and manifest. */
import type { OrderRequest } from '../../api/orders.ts';
import { checkOrderSkus } from '../../catalog/check.ts';
import { type Audio, makeAudio } from '../../ledger/audio-names.ts';
import { withoutSignature } from '../../lib/audio-identity.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { checkUrl } from '../../lib/urls.ts';
import { samenessOf } from './duplicates.ts';
import { parseParams, readNotes } from './input.ts';
import { readManifest } from './manifest.ts';
import type { Row } from './manifest-row.ts';

export interface PlannedOrder extends Omit<OrderRequest, 'urls'> {
  readonly audios: readonly Audio[];
}

/** What is sent. */
export const requestOf = ({ audios, ...rest }: PlannedOrder): OrderRequest => ({
  ...rest,
  urls: audios.map(({ url }) => url),
});

/** For messages. */
export function describeUrls({ audios }: PlannedOrder): string {
  const first = withoutSignature(audios[0]?.url ?? '');
  return audios.length > 1 ? `${first} and ${audios.length - 1} more` : first;
}

export interface OrderInput {
  readonly from: string | undefined;
  readonly perOrder: number | undefined;
  readonly sku: readonly string[];
  readonly anySku: boolean;
  readonly notes: string | undefined;
  readonly notesFile: string | undefined;
  readonly name: readonly string[];
  readonly key: string | undefined;
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
): Promise<PlannedOrder[]> {
  const { from, notesFile } = input;
  if (urls.length === 0 && from === undefined)
    throw usage('order requires a URL, or --from', 'see: steno order --help');
  if (from === '-' && notesFile === '-') throw usage("--from and --notes-file can't both read stdin");
  const key = checkKey(input.key, urls.length, from);
  const given: Row[] = urls.map((url) => ({ at: '', url: checkUrl(url), key }));
  const listed = from === undefined ? [] : await readManifest(from, stdin);
  const rows = withoutRepeats([...given, ...listed].map(withAudio), input);
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

function checkKey(key: string | undefined, urls: number, from: string | undefined): string | undefined {
  if (key === undefined) return undefined;
  if (urls !== 1 || from !== undefined)
    throw usage('--key is for exactly one URL', 'a manifest has a column key, for a key a row');
  if (key.trim() === '') throw usage('the key is empty');
  return key.trim();
}

interface AudioRow extends Row {
  readonly audio: Audio;
}

const withAudio = (row: Row): AudioRow => ({ ...row, audio: makeAudio(row.url, row.key) });

function checkNames(names: readonly string[]): readonly string[] {
  if (names.some((name) => name.trim() === '')) throw usage('the name of a speaker is empty');
  return names;
}

/** Rows with the same SKUs, notes and names share an order. */
function planOrders(rows: readonly AudioRow[], defaults: Defaults, perOrder: number): PlannedOrder[] {
  const latest = new Map<string, PlannedOrder & { audios: Audio[] }>();
  const orders: PlannedOrder[] = [];
  for (const row of rows) {
    const order = {
      audios: [] as Audio[],
      skus: checkRowSkus(row, defaults),
      names: row.names ?? defaults.names,
      notes: row.notes ?? defaults.notes,
      test: defaults.test,
      extra: defaults.extra,
    };
    const shared = JSON.stringify([order.skus, order.names, order.notes]);
    let current = latest.get(shared);
    if (!current || current.audios.length >= perOrder) {
      current = order;
      latest.set(shared, current);
      orders.push(current);
    }
    current.audios.push(row.audio);
  }
  return orders;
}

/** The same audio twice in one run would be bought twice. */
function withoutRepeats(
  rows: readonly AudioRow[],
  options: { readonly again: boolean; readonly skipOrdered: boolean },
): AudioRow[] {
  if (options.again) return [...rows];
  const seen = new Map<string, AudioRow>();
  return rows.filter((row) => {
    const shared = row.audio.names.find((name) => seen.has(name));
    if (shared === undefined) for (const name of row.audio.names) seen.set(name, row);
    else if (!options.skipOrdered) throw repeatError(shared, row, seen.get(shared) as AudioRow);
    return shared === undefined;
  });
}

function repeatError(name: string, row: AudioRow, first: AudioRow): StenoError {
  const where = row.at ? `${row.at}: ` : '';
  const same = first.at ? `the same as in ${first.at}` : 'given twice';
  const why = samenessOf(name, row.audio, first.audio);
  return usage(`${where}${row.url} is ${same}${why}`, 'leave one out, or use --skip-ordered');
}

function checkRowSkus(row: Row, defaults: Defaults): string[] {
  try {
    return checkOrderSkus(row.skus ?? defaults.skus, defaults.anySku);
  } catch (error) {
    if (!(error instanceof StenoError) || !row.at) throw error;
    throw usage(`${row.at}: ${error.message}`, error.hint);
  }
}
