/** Files of this machine: found, identified by their content, and uploaded by the user's own command when ordered. */
import { existsSync, statSync } from 'node:fs';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Claims, type Holder } from '../../ledger/claims.ts';
import type { ToIgnore } from '../../ledger/ignored-audio.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { isSameUrl } from '../../ledger/ordered-files.ts';
import { type Audio, detailsOf, makeFile } from '../../ledger/purchase.ts';
import { Uploads } from '../../ledger/uploads.ts';
import { type Failure, StenoError, usage } from '../../lib/errors.ts';
import { contentKey, uploadName, urlName } from '../../lib/names.ts';
import type { Report } from '../../lib/progress.ts';
import { withoutSignature } from '../../lib/signatures.ts';
import { checkUrl } from '../../lib/url.ts';
import { doEach } from '../bulk.ts';
import { findAudio, isUnchanged, type LeftOut, readContent, settle } from '../uploads/audio-files.ts';
import { canBeKept, noUploadCommand, type UploadOptions, uploadAll } from '../uploads/upload.ts';
import type { FoundRows, Row } from './manifest-formats.ts';
import type { PlannedAudio, PlannedOrder } from './planned-order.ts';

const READ_JOBS = 4;
const UPLOAD_JOBS = 4;

/** A path, not a URL: it has no scheme, and something is there. */
export const isLocalPath = (text: string): boolean =>
  !/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && existsSync(text);

export const hasLocalFiles = (args: readonly string[], orders: readonly PlannedOrder[]): boolean =>
  args.some(isLocalPath) || orders.some(({ audios }) => audios.some(({ path }) => path));

interface LocalReading {
  readonly hidden: boolean;
  /** Without it no file is read: it could not be ordered. */
  readonly uploadCommand: string | undefined;
  readonly signal: AbortSignal;
  readonly report: Report;
}

/** The files themselves are read once, for their content's hash: what is on order is not uploaded. */
export async function localRows(
  paths: readonly string[],
  { uploadCommand, hidden, signal, report }: LocalReading,
): Promise<FoundRows> {
  const { files, leftOut, counted } = await findAudio(paths, signal, hidden);
  if (uploadCommand === undefined) throw noUploadCommand(paths[0] ?? '');
  const { complete, growing } = await settle(files, { now: Date.now(), signal });
  const read = await doEach(
    complete,
    READ_JOBS,
    String,
    (path) => rowOf(path, folderBelow(path, paths), signal),
    report,
  );
  const failed = read.find(({ error }) => error);
  if (failed?.error) throw failed.error;
  const changed = complete.filter((_, at) => read[at]?.value === undefined);
  const isGrowing = (path: string): LeftOut => ({ path, reason: 'it is still being written' });
  const { rows, repeated } = eachContentOnce(read.flatMap(({ value }) => value ?? []));
  const notTaken = [...leftOut, ...growing.map(isGrowing), ...changed.map(isGrowing), ...repeated];
  const [first] = notTaken;
  if (rows.length === 0 && first) throw usage(`nothing to order: ${first.path}: ${first.reason}`);
  return { rows, leftOut: notTaken, counted };
}

/** Copies of a recording are one audio, and are bought once. */
function eachContentOnce(all: readonly LocalRow[]): { rows: Row[]; repeated: LeftOut[] } {
  const first = new Map<string, LocalRow>();
  const repeated: LeftOut[] = [];
  for (const row of all) {
    const same = first.get(row.content)?.path;
    if (same === undefined) first.set(row.content, row);
    else repeated.push({ path: row.path, reason: `it has the same content as ${same}`, why: 'repeated' });
  }
  return { rows: [...first.values()], repeated };
}

interface LocalRow extends Row {
  readonly path: string;
  readonly content: string;
}

/** `2026/may` of `talks/2026/may/a.mp3` where `talks` was ordered. */
function folderBelow(path: string, named: readonly string[]): string {
  const top = named.find((each) => resolve(path).startsWith(join(resolve(each), sep)));
  return top === undefined
    ? ''
    : relative(resolve(top), dirname(resolve(path)))
        .split(sep)
        .join('/');
}

async function rowOf(path: string, folder: string, signal: AbortSignal): Promise<LocalRow | undefined> {
  const content = await readContent(path, signal);
  if (!content) return undefined;
  const { seconds } = content;
  const { href } = pathToFileURL(path);
  const title = basename(path, extname(path));
  const audio = makeFile(href, content.hash, { title, seconds, source: resolve(path), folder });
  return { at: path, url: href, path, mark: content.mark, content: content.hash, audio };
}

interface UploaderOptions extends Omit<UploadOptions, 'command'> {
  readonly command: string | undefined;
  readonly ledger: Ledger | undefined;
  /** The URLs that recordings got in this run. */
  readonly used: Map<string, Recording>;
  /** What was uploaded in this run, for an order that is sent again in halves; undefined: it could not be. */
  readonly urls: Map<PlannedAudio, string | undefined>;
  readonly report: Report;
}

export interface Recording {
  readonly key: string;
  /** Empty where it is not known. */
  readonly path: string;
}

/** Gives the files of an order their URLs; those that can't be uploaded are left out of it, and told. */
export async function uploadOrder(
  order: PlannedOrder,
  options: UploaderOptions,
  onFailure: (failure: Failure) => void,
): Promise<PlannedOrder> {
  const { command, ledger, report } = options;
  const local = order.audios.filter((audio) => audio.path !== undefined && !options.urls.has(audio));
  if (local.length === 0) return withUrls(order, options.urls);
  if (command === undefined) throw noUploadCommand(local[0]?.path ?? '');
  const sizes = local.map(({ path = '' }) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
  const ofBytes = sizes.reduce((sum, each) => sum + each, 0);
  let bytes = 0;
  report({ what: 'Uploading', done: 0, of: local.length, unit: 'file', ofBytes });
  const contentOf = (at: number): string => local[at]?.key ?? '';
  const outcomes = await uploadAll(
    local.map(({ path = '' }) => path),
    {
      ...{ ...options, command },
      jobs: UPLOAD_JOBS,
      known: async (at) => ledger && new Uploads(ledger).urlOf(contentOf(at), command),
      onUploaded: async (at, url) => {
        // What was uploaded there before is there no more.
        if (ledger) await new Uploads(ledger).forget([withoutSignature(url)]);
        await checkUnchanged(local[at] as PlannedAudio);
        if (ledger && canBeKept(url)) await new Uploads(ledger).keep(contentOf(at), command, url);
      },
      onDone: (done, of, at) => {
        bytes += sizes[at] ?? 0;
        report({ done, of, bytes });
      },
    },
  );
  const urls = new Map<PlannedAudio, string>();
  for (const [at, { error, value, what }] of outcomes.entries())
    if (error) onFailure({ what, error });
    else urls.set(local[at] as PlannedAudio, value);
  const links = new Set(order.audios.flatMap(({ path, names }) => (path === undefined ? names : [])));
  for (const failure of await withoutSharedUrls(urls, links, options)) onFailure(failure);
  for (const audio of local) options.urls.set(audio, urls.get(audio));
  return withUrls(order, options.urls);
}

function withUrls(order: PlannedOrder, urls: ReadonlyMap<PlannedAudio, string | undefined>): PlannedOrder {
  if (order.audios.every(({ path }) => path === undefined)) return order;
  const audios = order.audios.flatMap((audio) => {
    if (audio.path === undefined) return [audio];
    const url = urls.get(audio);
    if (url === undefined) return [];
    const names = [...audio.names, uploadName(url), urlName(url)];
    return [{ ...audio, url, names, path: undefined, mark: undefined }];
  });
  return { ...order, audios };
}

/** A recording that is still being written was hashed as something else than what is at its URL now. */
async function checkUnchanged({ path = '', mark }: PlannedAudio): Promise<void> {
  if (!mark || (await isUnchanged(path, mark))) return;
  throw new StenoError('failed', `${path} changed during the upload: it was not ordered`, {
    hint: 'order it again when it is complete',
  });
}

/**
 * Takes out what got the URL of another recording, now or in an earlier order: one of the two would be paid for twice,
 * and the other never transcribed. Of two in one order, nobody knows which is at the URL. The same for a link in the order;
 * one of another order is found as any audio that is on order.
 */
async function withoutSharedUrls(
  urls: Map<PlannedAudio, string>,
  links: ReadonlySet<string>,
  { ledger, used }: UploaderOptions,
): Promise<Failure[]> {
  const names = new Map([...urls].map(([audio, url]) => [audio, uploadName(url)]));
  const holders = await (ledger && new Claims(ledger).holders([...names.values()]));
  const failures: Failure[] = [];
  for (const [audio, name] of names) {
    const { path = '', key = '' } = audio;
    const url = urls.get(audio) ?? '';
    const beside = [...names].find(([each, other]) => other === name && each.key !== key)?.[0];
    const holder = holders?.get(name);
    const other =
      (beside && { key: beside.key ?? '', path: beside.path ?? '' }) ??
      (links.has(urlName(url)) ? { key: '', path: 'a link in the same order' } : undefined) ??
      used.get(name) ??
      (await recordingAt(ledger, holder, url));
    if (!other || other.key === key) used.set(name, { key, path });
    else failures.push({ what: path, error: sharedUrlError(path, other.path, url) });
  }
  const shared = new Set(failures.map(({ what }) => what));
  const refused = [...urls].filter(([{ path = '' }]) => shared.has(path));
  // What lies there now may be the other one.
  if (ledger) await new Uploads(ledger).forget(refused.map(([, url]) => url));
  for (const [audio] of refused) urls.delete(audio);
  return failures;
}

async function recordingAt(
  ledger: Ledger | undefined,
  holder: Holder | undefined,
  url: string,
): Promise<Recording | undefined> {
  if (!ledger || !holder) return undefined;
  const kept = (await new OpenAttempts(ledger).audios(holder)).find((audio) => isSameUrl(audio.url, url));
  return kept && { key: kept.key ?? '', path: detailsOf(kept).source ?? '' };
}

const sharedUrlError = (path: string, other: string, url: string): StenoError =>
  usage(
    `the upload command gave ${path} the URL of ${other || 'another recording'}: ${withoutSignature(url)}`,
    'change the command to give each recording a unique name, such as a random one',
  );

// What people name when they ignore audio, and what of an order is ignored.

export const toIgnore = (args: readonly string[], signal: AbortSignal): Promise<ToIgnore[]> =>
  Promise.all(args.map((arg) => toIgnoreOne(arg, signal)));

async function toIgnoreOne(arg: string, signal: AbortSignal): Promise<ToIgnore> {
  const text = arg.trim();
  if (text === '') throw usage('the text to ignore is empty');
  if (/^https?:/i.test(text)) return { given: withoutSignature(text), text: checkUrl(text) };
  if (!isLocalPath(arg)) return { given: text, text };
  if (statSync(arg).isDirectory()) throw usage(`${arg} is a folder`, 'ignore its files one by one');
  const content = await readContent(arg, signal);
  if (!content) throw usage(`${arg} is still being written`, 'run this again when it is complete');
  return { given: arg, text: contentKey(content.hash) };
}

/** The texts under which people may have ignored it: its key stands in place of its URL. */
export const ignorableTexts = ({ url, key, details }: Audio): string[] => [
  key ?? url,
  ...(details?.guid ? [details.guid] : []),
];
