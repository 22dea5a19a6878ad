/** Makes order requests of the arguments, flags and manifest. */

import type { OrderRequest } from '../../api/orders.ts';
import { checkOrderSkus } from '../../catalog/check.ts';
import type { FeedReading } from '../../feeds/read.ts';
import { makeAudio } from '../../ledger/audio-names.ts';
import { LISTED_URLS_PER_ORDER } from '../../lib/defaults.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import type { LeftOut } from '../uploads/audio-files.ts';
import { samenessOf } from './duplicates.ts';
import { type FeedInput, type FeedRows, feedRows } from './feed-rows.ts';
import { parseParams, readNotes } from './input.ts';
import { isLocalPath, localRows } from './local-audio.ts';
import { readManifest } from './manifest.ts';
import type { Row } from './manifest-row.ts';
import type { PlannedAudio, PlannedOrder } from './planned-order.ts';
import { checkUrlArgument, skuHint } from './url-argument.ts';

export interface OrderInput extends FeedInput {
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
  readonly skipOrdered: boolean;
}

/** What holds for every row that does not say otherwise. */
interface Defaults {
  readonly skus: readonly string[];
  readonly notes: string | undefined;
  readonly names: readonly string[];
  readonly test: boolean;
  readonly anySku: boolean;
  readonly extra: OrderRequest['extra'];
}

/** Where what is ordered comes from, beside the arguments. */
export interface OrderSources {
  readonly stdin: NodeJS.ReadStream;
  /** How a feed is read. */
  readonly reading: FeedReading;
  readonly signal: AbortSignal;
  /** The setting: how files of this machine get their URLs. */
  readonly uploadCommand: string | undefined;
  readonly report: Report;
}

export interface OrderPlan {
  readonly orders: readonly PlannedOrder[];
  /** A feed without a choice: nothing of it is ordered. */
  readonly isWholeFeed: boolean;
  /** What people are told of a feed. */
  readonly notes: readonly string[];
  /** Local files that are not ordered. */
  readonly leftOut: readonly LeftOut[];
}

/** Checks everything before anything is sent. */
export async function planOrders(
  args: readonly string[],
  input: OrderInput,
  { stdin, reading, signal, uploadCommand, report }: OrderSources,
): Promise<OrderPlan> {
  const { from, feed, notesFile } = input;
  checkSources(args, input);
  const notes = await readNotes(input.notes, notesFile, stdin);
  const paths = args.filter(isLocalPath);
  const key = checkKey(args, paths, input);
  const given: Row[] = args
    .filter((arg) => !paths.includes(arg))
    .map((url) => ({ at: '', url: checkUrlArgument(url, input.sku), key }));
  if (args.length && input.sku.length === 0) throw usage('an order requires --sku', skuHint(args));
  const local = paths.length
    ? await localRows(paths, { uploadCommand, signal, report })
    : { rows: [], leftOut: [] };
  const listed = from === undefined ? [] : await readManifest(from, stdin);
  const chosen = feed === undefined ? noFeed : await feedRows(feed, input, notes, reading);
  const rows = withoutRepeats([...given, ...local.rows, ...listed, ...chosen.rows].map(withAudio), {
    again: input.again,
    // A feed as a whole is shown, however it repeats itself.
    skipOrdered: input.skipOrdered || chosen.isWholeFeed,
  });
  const defaults = {
    skus: input.sku,
    names: checkNames(input.name),
    notes,
    test: input.test,
    anySku: input.anySku,
    extra: parseParams(input.param),
  };
  const isList = from !== undefined || feed !== undefined || paths.length > 0;
  return {
    orders: groupRows(rows, defaults, input.perOrder ?? (isList ? LISTED_URLS_PER_ORDER : rows.length)),
    isWholeFeed: chosen.isWholeFeed,
    notes: chosen.notes,
    leftOut: local.leftOut,
  };
}

const noFeed: FeedRows = { rows: [], isWholeFeed: false, notes: [] };

function checkSources(args: readonly string[], input: OrderInput): void {
  const { from, feed, notesFile } = input;
  if (args.length === 0 && from === undefined && feed === undefined)
    throw usage('order requires a URL, a file, --from or --feed', 'see: steno order --help');
  if (feed !== undefined && args.length)
    throw usage("--feed can't be used with URLs or files", 'order them one after the other');
  if (from === '-' && notesFile === '-') throw usage("--from and --notes-file can't both read stdin");
}

function checkKey(
  args: readonly string[],
  paths: readonly string[],
  { key, from, feed }: OrderInput,
): string | undefined {
  if (key === undefined) return undefined;
  if (paths.length) throw usage('--key is for a URL: a file is known by its content', 'leave it out');
  if (args.length !== 1 || from !== undefined || feed !== undefined)
    throw usage('--key is for exactly one URL', 'a manifest has a column key, for a key a row');
  if (key.trim() === '') throw usage('the key is empty');
  return key.trim();
}

interface AudioRow extends Row {
  readonly audio: PlannedAudio;
}

const withAudio = (row: Row): AudioRow => ({
  ...row,
  audio: { ...(row.audio ?? makeAudio(row.url, row.key)), ...(row.path && { path: row.path }) },
});

function checkNames(names: readonly string[]): readonly string[] {
  if (names.some((name) => name.trim() === '')) throw usage('the name of a speaker is empty');
  return names;
}

/** Rows with the same SKUs, notes and names share an order. */
function groupRows(rows: readonly AudioRow[], defaults: Defaults, perOrder: number): PlannedOrder[] {
  const latest = new Map<string, PlannedOrder & { audios: PlannedAudio[] }>();
  const orders: PlannedOrder[] = [];
  for (const row of rows) {
    const order = {
      audios: [] as PlannedAudio[],
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
