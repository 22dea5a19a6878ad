/** Makes order requests of the arguments, flags and manifest. */
import { createReadStream, existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkOrderSkus } from '../../catalog/check.ts';
import { findOrderSku, findUpgradeSku } from '../../catalog/skus.ts';
import type { FeedReading } from '../../feeds/read.ts';
import { type Audio, makeAudio } from '../../ledger/purchase.ts';
import { LISTED_URLS_PER_ORDER } from '../../lib/defaults.ts';
import { StenoError, systemReason, usage } from '../../lib/errors.ts';
import { decodeUtf8, readBytes } from '../../lib/lines.ts';
import { isUrlName } from '../../lib/names.ts';
import type { Report } from '../../lib/progress.ts';
import { shellWord } from '../../lib/text.ts';
import { checkUrl, parameterName } from '../../lib/url.ts';
import type { LeftOut } from '../uploads/audio-files.ts';
import { samenessOf } from './duplicates.ts';
import { type FeedInput, type FeedRows, feedRows } from './feed-rows.ts';
import { isLocalPath, localRows } from './local-audio.ts';
import { manifestName, readManifest } from './manifest.ts';
import { checkTags, type FoundRows, type OnRow, placeText, type Row, secondsOf } from './manifest-formats.ts';
import { describeAudio, type PlannedAudio, type PlannedOrder } from './planned-order.ts';

export interface OrderInput extends FeedInput {
  readonly from: string | undefined;
  readonly perOrder: number | undefined;
  readonly sku: readonly string[];
  readonly anySku: boolean;
  readonly notes: string | undefined;
  readonly notesFile: string | undefined;
  readonly name: readonly string[];
  readonly key: string | undefined;
  readonly minutes: string | undefined;
  readonly tag: readonly string[];
  readonly ignoreColumns: boolean;
  readonly test: boolean;
  readonly param: readonly string[];
  readonly skipOrdered: boolean;
  readonly upToBudget: boolean;
  readonly hidden: boolean;
}

export interface OrderSources {
  readonly stdin: NodeJS.ReadStream;
  readonly reading: FeedReading;
  readonly signal: AbortSignal;
  /** The setting: how files of this machine get their URLs. */
  readonly uploadCommand: string | undefined;
  readonly report: Report;
}

export interface OrderPlan extends Omit<FeedRows, 'rows'> {
  readonly orders: readonly PlannedOrder[];
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
  if (input.hidden && paths.length === 0) throw usage('--hidden requires a folder on this machine');
  const key = checkKey(args, paths, input);
  const seconds = lengthOf(input, args.length > paths.length);
  const given: Row[] = args
    .filter((arg) => !paths.includes(arg))
    .map((url) => ({ at: '', url: checkUrlArgument(url, input.sku), key, seconds }));
  if (args.length && input.sku.length === 0)
    throw usage('an order requires --sku', `see: steno skus; if the URL was cut off, ${QUOTE}`);
  const chosen: FeedRows =
    feed === undefined
      ? { ...noRows, isWholeFeed: false, notes: [] }
      : await feedRows(feed, input, notes, { ...reading, report });
  const readLocal = async (some: readonly string[]): Promise<FoundRows> =>
    some.length ? localRows(some, { uploadCommand, hidden: input.hidden, signal, report }) : noRows;
  const isList = from !== undefined || feed !== undefined || paths.length > 0;
  const rows = new PlannedRows(input, {
    notes,
    perOrder: input.perOrder ?? (isList ? LISTED_URLS_PER_ORDER : Number.POSITIVE_INFINITY),
    manifest: from === undefined ? '' : manifestName(from),
    // A feed as a whole is shown, however it repeats itself.
    skipOrdered: input.skipOrdered || chosen.isWholeFeed,
  });
  for (const row of given) rows.add(row);
  const local = await readLocal(paths);
  for (const row of local.rows) rows.add(row);
  const readListed = (onRow: OnRow) => readManifest(from ?? '', stdin, onRow, input.ignoreColumns);
  const listed = from === undefined ? [] : await addManifest(from, rows, readListed, readLocal);
  for (const row of chosen.rows) rows.add(row);
  return {
    ...chosen,
    orders: rows.orders,
    leftOut: [...local.leftOut, ...listed, ...chosen.leftOut, ...rows.leftOut],
    counted: [...local.counted, ...chosen.counted, { because: 'it is listed twice', rows: rows.repeated }],
    placeOf: (audio) => rows.placeOf(audio),
  };
}

const noRows: FoundRows = { rows: [], leftOut: [], counted: [] };

/** Rows go on as they are read, up to the first that names a file: those that follow wait until all files are read. */
async function addManifest(
  from: string,
  rows: PlannedRows,
  read: (onRow: OnRow) => Promise<void>,
  readLocal: (paths: readonly string[]) => Promise<FoundRows>,
): Promise<readonly LeftOut[]> {
  const later: Array<{ readonly row: Row; readonly line: number }> = [];
  await read((row, line) => {
    if (later.length || row.path !== undefined) later.push({ row, line });
    else rows.add(row, line);
  });
  const paths = new Map(
    later.flatMap(({ row }) => (row.path ? [[row, listedPath(row, from)] as const] : [])),
  );
  const local = await readLocal([...new Set(paths.values())]);
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
  if (statSync(found).isDirectory()) throw usage(`${at}: ${path} is a folder`, 'list its files, one per row');
  return found;
}

function checkSources(args: readonly string[], input: OrderInput): void {
  const { from, feed, notesFile } = input;
  if (args.length === 0 && from === undefined && feed === undefined)
    throw usage('order requires a URL, a file, --from or --feed', 'see: steno order --help');
  if (feed !== undefined && args.length)
    throw usage("--feed can't be used with URLs or files", 'order them separately');
  if (from === '-' && notesFile === '-') throw usage("--from and --notes-file can't both read stdin");
}

function checkKey(
  args: readonly string[],
  paths: readonly string[],
  { key, from, feed }: OrderInput,
): string | undefined {
  if (key === undefined) return undefined;
  if (paths.length) throw usage('--key is for URLs: a file is identified by its content', 'leave it out');
  if (args.length !== 1 || from !== undefined || feed !== undefined)
    throw usage('--key is for exactly one URL', 'in a manifest, the column key has the key of each row');
  if (key.trim() === '') throw usage('the key is empty');
  return key.trim();
}

function lengthOf({ minutes }: OrderInput, hasUrls: boolean): number | undefined {
  if (minutes === undefined) return undefined;
  if (!hasUrls)
    throw usage('--minutes is for URLs: the length of a local file is read from it', 'leave it out');
  const seconds = secondsOf(minutes);
  if (seconds !== undefined) return seconds;
  throw usage('--minutes is empty', 'write it like 35 or 35.5');
}

function checkNames(names: readonly string[]): readonly string[] {
  if (names.some((name) => name.trim() === '')) throw usage("a speaker's name is empty");
  return names;
}

// Makes orders of rows as they are read: of a million of them, no more is kept than is needed to order them.

/** What holds for every row that does not say otherwise. */
type Defaults = Pick<
  OrderInput,
  'sku' | 'name' | 'tag' | 'param' | 'test' | 'anySku' | 'again' | 'upToBudget'
>;

interface ListOptions {
  readonly notes: string | undefined;
  readonly perOrder: number;
  /** Empty without one. */
  readonly manifest: string;
  readonly skipOrdered: boolean;
}

type OpenOrder = PlannedOrder & { readonly audios: PlannedAudio[] };

export class PlannedRows {
  readonly orders: PlannedOrder[] = [];
  /** Episodes that have the audio of another one. */
  readonly leftOut: LeftOut[] = [];
  /** Rows that are there twice. */
  readonly repeated: LeftOut[] = [];
  readonly #given: Defaults;
  readonly #shared: Pick<PlannedOrder, 'names' | 'notes' | 'test' | 'extra'>;
  readonly #tags: readonly string[];
  readonly #options: ListOptions;
  #rows = 0;
  /** The order that takes more rows with the same SKUs, notes and names. */
  readonly #latest = new Map<string, OpenOrder>();
  readonly #audios: PlannedAudio[] = [];
  /** Where each of them stands: a line of the manifest, or a text. */
  readonly #places: Array<number | string> = [];
  readonly #seen = new Map<string, number>();

  constructor(given: Defaults, options: ListOptions) {
    const { test, param } = given;
    this.#given = given;
    this.#shared = { names: checkNames(given.name), notes: options.notes, test, extra: parseParams(param) };
    this.#tags = checkTags(given.tag);
    this.#options = options;
  }

  /** `line`: of the manifest, where it is from there. */
  add(row: Row, line?: number): void {
    const made = audioOf(row, this.#tags);
    // Each row of a list is told its place where a budget may end before it.
    const audio = this.#given.upToBudget ? { ...copied(made), row: this.#rows++ } : made;
    if (this.#isRepeated(row, audio, line) && !this.#given.again) return;
    this.#orderFor(row).audios.push(audio);
  }

  /** Where it stands: a line of the manifest, a path or an episode; empty for a URL of the command line. */
  placeOf({ names }: Audio): string {
    const at = names.map((name) => this.#seen.get(name)).find((found) => found !== undefined);
    return at === undefined ? '' : this.#placeOf(at);
  }

  /** The same audio twice in one run would be bought twice. */
  #isRepeated(row: Row, audio: PlannedAudio, line: number | undefined): boolean {
    const { names } = audio;
    for (const name of names) {
      const first = this.#seen.get(name);
      if (first === undefined) continue;
      if (this.#given.again) return true;
      if (isUrlName(name) && hasOtherGuid(audio, this.#audios[first])) {
        const reason = `it has the same audio as ${this.#placeOf(first)}, under another guid (add --again to order it)`;
        this.leftOut.push({ path: row.at, reason, why: 'repeated', audio });
        return true;
      }
      if (!this.#options.skipOrdered) throw this.#repeatError(name, row, audio, first);
      const path = row.at || describeAudio(audio);
      this.repeated.push({ path, reason: this.#placeOf(first), why: 'repeated', audio });
      return true;
    }
    const at = this.#audios.push(audio) - 1;
    this.#places.push(line ?? row.at);
    for (const name of names) this.#seen.set(name, at);
    return false;
  }

  #repeatError(name: string, row: Row, audio: PlannedAudio, first: number): StenoError {
    const at = this.#placeOf(first);
    const where = row.at ? `${row.at}: ` : '';
    const same = at ? `the same as in ${at}` : 'given twice';
    const why = samenessOf(name, audio, this.#audios[first] as PlannedAudio);
    return usage(`${where}${row.url} is ${same}${why}`, 'leave one out, or use --skip-ordered');
  }

  #placeOf(audio: number): string {
    const place = this.#places[audio] ?? '';
    return typeof place === 'number' ? placeText(this.#options.manifest, place) : place;
  }

  /** Rows with the same SKUs, notes and names share an order. */
  #orderFor(row: Row): OpenOrder {
    const skus = this.#checkSkus(row);
    const { names = this.#shared.names, notes = this.#shared.notes } = row;
    const shared = JSON.stringify([skus, names, notes]);
    const current = this.#latest.get(shared);
    if (current && current.audios.length < this.#options.perOrder) return current;
    const order = { ...this.#shared, audios: [], skus, names, notes };
    this.#latest.set(shared, order);
    this.orders.push(order);
    return order;
  }

  #checkSkus(row: Row): string[] {
    const { sku: skus, anySku } = this.#given;
    if (row.at && (row.skus ?? skus).length === 0)
      throw usage(`${row.at}: there is no SKU`, 'fill in its column sku, or give --sku for every row');
    try {
      return checkOrderSkus(row.skus ?? skus, anySku);
    } catch (error) {
      if (!(error instanceof StenoError) || !row.at) throw error;
      throw usage(`${row.at}: ${error.message}`, error.hint);
    }
  }
}

const hasOtherGuid = ({ details: one }: PlannedAudio, first: PlannedAudio | undefined): boolean =>
  one?.guid !== undefined && first?.details?.guid !== undefined && one.guid !== first.details.guid;

/** What a list says of the length goes before what is measured; tags of all and of the row add up. */
function audioOf(row: Row, defaultTags: readonly string[]): PlannedAudio {
  const { audio: known, url, key, path, mark, seconds } = row;
  const audio = known ?? makeAudio(url, key);
  const tags = [...new Set([...defaultTags, ...(row.tags ?? [])])];
  if (!path && seconds === undefined && tags.length === 0) return audio;
  const { names, details, key: own = key } = copied(audio);
  const more = { ...(seconds === undefined ? {} : { seconds }), ...(tags.length ? { tags } : {}) };
  return { ...{ url, key: own, names, path, mark }, details: { ...details, ...more } };
}

/** Some audios make their names when they are asked for them. */
const copied = ({ url, key, names, details, path, mark }: PlannedAudio): PlannedAudio => ({
  ...{ url, key, names, details, path, mark },
});

const MAX_NOTES_BYTES = 1024 * 1024;

async function readNotes(
  notes: string | undefined,
  file: string | undefined,
  stdin: NodeJS.ReadStream,
): Promise<string | undefined> {
  if (file === undefined) return notes;
  let bytes: Buffer;
  try {
    bytes = await readBytes(file === '-' ? stdin : createReadStream(file), MAX_NOTES_BYTES);
  } catch (error) {
    throw usage(`can't read the notes from ${file}: ${systemReason(error)}`);
  }
  return decodeUtf8(bytes, file === '-' ? 'stdin' : file).replace(/\s+$/, '');
}

const flagsOfParams: ReadonlyMap<string, string> = new Map([
  ['api_key', '--api-key'],
  ['url', 'the argument <url>'],
  ['sku', '--sku'],
  ['test', '--test'],
  ['notes', '--notes'],
  ['name', '--name'],
  ['names', '--name'],
]);

/** `key=value` pairs for parameters that the API document does not list. */
function parseParams(params: readonly string[]): Array<[string, string]> {
  return params.map((param) => {
    const at = param.indexOf('=');
    const key = param.slice(0, Math.max(at, 0));
    if (at < 1 || /[\s\u0000-\u001f]/.test(key))
      throw usage(`'${param}' is not key=value`, 'write it like --param title=Talk');
    const flag = flagsOfParams.get(parameterName(key));
    if (flag) throw usage(`${key} can't be set with --param`, `use ${flag}`);
    return [key, param.slice(at + 1)];
  });
}

// The URLs of a command line: what a shell or a person makes of them by mistake is refused before it is bought.

const QUOTE = 'put the URL in quotes, because the shell ends the command at &';

function strayedSkuHint(sku: string, given: readonly string[]): string {
  if (given.some((each) => each.includes('://')))
    return `SKU and URL are swapped: steno order ${given.map(shellWord).join(' ')} --sku ${sku}`;
  if (!given.length) return `write --sku before it: --sku ${sku}`;
  return `separate SKUs with commas, without spaces: --sku ${[...new Set([...given, sku])].join(',')}`;
}

function checkUrlArgument(text: string, skus: readonly string[]): string {
  if (findOrderSku(text) || findUpgradeSku(text))
    throw usage(`'${text}' is a SKU, not a URL`, strayedSkuHint(text, skus));
  if (/^\.{0,2}\/(?!\/)/.test(text))
    throw usage(
      `can't read ${text}: there is no such file or folder`,
      'check the path; ordering audio on this machine also requires upload-command: see steno help uploads',
    );
  // What is not UTF-8 in an argument is this character when it comes to us.
  if (text.includes('\ufffd') && !/^https?:/i.test(text))
    throw usage(`the name '${text}' is not UTF-8`, 'rename the file or folder');
  if (/^https?:.*,\s*(https?:\/\/|$)/i.test(text))
    throw usage(
      `'${text}' has a comma that is no part of a URL`,
      'if it is several URLs, separate them with spaces, without commas',
    );
  const url = checkUrl(text, 'argument');
  checkIsNoList(url);
  checkSignature(url);
  return url;
}

/** A feed or a manifest that would be bought as if it were audio. */
function checkIsNoList(url: string): void {
  const [, end = ''] = /\.(xml|rss|atom|csv|tsv|jsonl|ndjson)$/i.exec(new URL(url).pathname) ?? [];
  if (end === '') return;
  const isFeed = /^(xml|rss|atom)$/i.test(end);
  throw usage(
    `${url} is a ${isFeed ? 'feed' : 'list'}, not audio`,
    isFeed
      ? `steno order --feed ${shellWord(url)} --latest 1`
      : `curl -fsS ${shellWord(url)} | steno order --from - --sku TRANS14`,
  );
}

/** A signed link whose query the shell has cut at an &. */
function checkSignature(url: string): void {
  const names = [...new URL(url).searchParams.keys()].map((name) => name.toLowerCase());
  for (const prefix of ['x-amz-', 'x-goog-']) {
    const isSigned = names.includes(`${prefix}algorithm`);
    if (isSigned && !names.includes(`${prefix}signature`))
      throw usage(`the link is cut off: it has the parameters of a signature, but no signature`, QUOTE);
  }
}
