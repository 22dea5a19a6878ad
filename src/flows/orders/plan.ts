/** Makes order requests of the arguments, flags and manifest. */

import type { FeedReading } from '../../feeds/read.ts';
import { LISTED_URLS_PER_ORDER } from '../../lib/defaults.ts';
import { usage } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import type { LeftOut } from '../uploads/audio-files.ts';
import { type FeedInput, type FeedRows, feedRows } from './feed-rows.ts';
import { parseParams, readNotes } from './input.ts';
import { isLocalPath, localRows } from './local-audio.ts';
import { manifestName, readManifest } from './manifest.ts';
import type { Row } from './manifest-row.ts';
import type { LeftOutEpisode, PlannedOrder } from './planned-order.ts';
import { PlannedRows } from './planned-rows.ts';
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
  readonly upToBudget: boolean;
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
  /** Local files and episodes that are not ordered. */
  readonly leftOut: readonly LeftOut[];
  readonly leftOutEpisodes: readonly LeftOutEpisode[];
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
  const chosen = feed === undefined ? noFeed : await feedRows(feed, input, notes, reading);
  const defaults = {
    skus: input.sku,
    names: checkNames(input.name),
    notes,
    test: input.test,
    anySku: input.anySku,
    extra: parseParams(input.param),
  };
  const isList = from !== undefined || feed !== undefined || paths.length > 0;
  const rows = new PlannedRows(defaults, {
    perOrder: input.perOrder ?? (isList ? LISTED_URLS_PER_ORDER : Number.POSITIVE_INFINITY),
    manifest: from === undefined ? '' : manifestName(from),
    again: input.again,
    // A feed as a whole is shown, however it repeats itself.
    skipOrdered: input.skipOrdered || chosen.isWholeFeed,
    numbersRows: input.upToBudget,
  });
  for (const row of given) rows.add(row);
  for (const row of local.rows) rows.add(row);
  if (from !== undefined) await readManifest(from, stdin, (row, line) => rows.add(row, line));
  for (const row of chosen.rows) rows.add(row);
  return {
    orders: rows.orders,
    isWholeFeed: chosen.isWholeFeed,
    notes: chosen.notes,
    leftOut: [...local.leftOut, ...chosen.leftOut, ...rows.leftOut],
    leftOutEpisodes: chosen.leftOutEpisodes,
  };
}

const noFeed: FeedRows = { rows: [], isWholeFeed: false, notes: [], leftOut: [], leftOutEpisodes: [] };

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

function checkNames(names: readonly string[]): readonly string[] {
  if (names.some((name) => name.trim() === '')) throw usage('the name of a speaker is empty');
  return names;
}
