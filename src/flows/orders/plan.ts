/** Makes order requests of the arguments, flags and manifest. */

import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FeedReading } from '../../feeds/read.ts';
import type { Audio } from '../../ledger/purchase.ts';
import { LISTED_URLS_PER_ORDER } from '../../lib/defaults.ts';
import { usage } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import type { CountedRows, LeftOut } from '../uploads/audio-files.ts';
import { type FeedInput, type FeedRows, feedRows } from './feed-rows.ts';
import { parseParams, readNotes } from './input.ts';
import { isLocalPath, type LocalRows, localRows } from './local-audio.ts';
import { manifestName, readManifest } from './manifest.ts';
import { checkTags, type Row } from './manifest-row.ts';
import type { PlannedOrder } from './planned-order.ts';
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
  readonly tag: readonly string[];
  readonly ignoreColumns: boolean;
  readonly test: boolean;
  readonly param: readonly string[];
  readonly skipOrdered: boolean;
  readonly upToBudget: boolean;
  readonly hidden: boolean;
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
  readonly unread: FeedRows['unread'];
  /** Local files and episodes that are not ordered. */
  readonly leftOut: readonly LeftOut[];
  /** The same, told by their number. */
  readonly counted: readonly CountedRows[];
  /** For messages: the line of the manifest, the path or the episode that an audio comes from. */
  readonly placeOf: (audio: Audio) => string;
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
  if (input.hidden && paths.length === 0) throw usage('--hidden requires a folder of this machine');
  const key = checkKey(args, paths, input);
  const given: Row[] = args
    .filter((arg) => !paths.includes(arg))
    .map((url) => ({ at: '', url: checkUrlArgument(url, input.sku), key }));
  if (args.length && input.sku.length === 0) throw usage('an order requires --sku', skuHint(args));
  const chosen = feed === undefined ? noFeed : await feedRows(feed, input, notes, { ...reading, report });
  const defaults = {
    skus: input.sku,
    names: checkNames(input.name),
    tags: checkTags(input.tag),
    notes,
    test: input.test,
    anySku: input.anySku,
    extra: parseParams(input.param),
  };
  const readLocal = (some: readonly string[]): Promise<LocalRows> =>
    localRows(some, { uploadCommand, hidden: input.hidden, signal, report });
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
  const local = paths.length ? await readLocal(paths) : noFiles;
  for (const row of local.rows) rows.add(row);
  const listed = from === undefined ? [] : await addManifest(from, rows, { stdin, readLocal, ...input });
  for (const row of chosen.rows) rows.add(row);
  return {
    orders: rows.orders,
    isWholeFeed: chosen.isWholeFeed,
    notes: chosen.notes,
    unread: chosen.unread,
    leftOut: [...local.leftOut, ...listed, ...chosen.leftOut, ...rows.leftOut],
    counted: [...local.counted, ...chosen.counted, { because: 'it is listed twice', rows: rows.repeated }],
    placeOf: (audio) => rows.placeOf(audio),
  };
}

const noFiles: LocalRows = { rows: [], leftOut: [], counted: [] };

interface ManifestSources {
  readonly stdin: NodeJS.ReadStream;
  readonly ignoreColumns: boolean;
  readonly readLocal: (paths: readonly string[]) => Promise<LocalRows>;
}

/** Rows go on as they are read, up to the first that names a file: those that follow wait until all files are read. */
async function addManifest(
  from: string,
  rows: PlannedRows,
  { stdin, ignoreColumns, readLocal }: ManifestSources,
): Promise<readonly LeftOut[]> {
  const later: Array<{ readonly row: Row; readonly line: number }> = [];
  const onRow = (row: Row, line: number): void => {
    if (later.length || row.path !== undefined) later.push({ row, line });
    else rows.add(row, line);
  };
  await readManifest(from, stdin, onRow, { ignoreColumns });
  const paths = new Map(
    later.flatMap(({ row }) => (row.path ? [[row, listedPath(row, from)] as const] : [])),
  );
  const local = paths.size ? await readLocal([...new Set(paths.values())]) : noFiles;
  const files = new Map(local.rows.map((row) => [row.path, row]));
  for (const { row, line } of later) {
    const path = paths.get(row);
    const file = files.get(path);
    if (file) rows.add({ ...row, ...file, at: row.at }, line);
    else if (path === undefined) rows.add(row, line);
  }
  return local.leftOut;
}

/** Relative to the current folder, else to that of the manifest. */
function listedPath({ path = '', at }: Row, manifest: string): string {
  const found = [path, join(dirname(manifest), path)].find((each) => existsSync(each));
  if (found === undefined) throw usage(`${at}: there is no file ${path}`);
  if (statSync(found).isDirectory()) throw usage(`${at}: ${path} is a folder`, 'name its files, one a row');
  return found;
}

const noFeed: FeedRows = { rows: [], isWholeFeed: false, notes: [], leftOut: [], counted: [] };

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
