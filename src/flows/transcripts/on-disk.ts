/** The transcripts that were downloaded and are still on this disk. */
import { statSync } from 'node:fs';
import { sep } from 'node:path';
import { type DownloadFilter, type DownloadRow, Downloads } from '../../ledger/downloads.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { audioTitle, detailsOf } from '../../ledger/purchase.ts';
import { StenoError, systemReason, usage } from '../../lib/errors.ts';
import { findStats } from '../../lib/fs.ts';
import { shellWord } from '../../lib/text.ts';
import { knownFormats, readableFormats, type TranscriptFile } from '../../transcripts/model.ts';
import { readableFormatOf } from '../../transcripts/read.ts';
import { type Outcome, outcomeOf } from '../bulk.ts';

const PAGE_SIZE = 2_000;

export interface TranscriptOnDisk extends TranscriptFile {
  readonly size: number;
  readonly mtimeMs: number;
  /** ISO 8601; empty where the ledger has no download at this path. */
  readonly downloadedAt: string;
  /** A draft, or from before an upgrade of its file. */
  readonly isSuperseded: boolean;
}

export interface TranscriptFilter extends Omit<DownloadFilter, 'since'> {
  /** In milliseconds: downloaded at this time or later. */
  readonly since?: number | undefined;
}

/** In pages, by the id of their files; all transcripts of a file are on one page, the newest first. */
export async function* transcriptsOnDisk(
  ledger: Ledger,
  filter: TranscriptFilter = {},
): AsyncGenerator<TranscriptOnDisk[]> {
  for await (const rows of downloadsOf(ledger, filter)) {
    const found = rows.flatMap((row) => onDisk(row) ?? []);
    if (found.length) yield found;
  }
}

async function* downloadsOf(
  ledger: Ledger,
  { since, ...filter }: TranscriptFilter,
): AsyncGenerator<DownloadRow[]> {
  const wanted = { ...filter, since: since === undefined ? undefined : new Date(since).toISOString() };
  const downloads = new Downloads(ledger);
  for (let after = ''; ; ) {
    const rows = await downloads.page(wanted, after, PAGE_SIZE);
    const last = rows.at(-1);
    if (!last) return;
    yield rows;
    after = last.file;
  }
}

/** The ids of files that are on this disk only in formats that can't be read. */
export async function unreadableFiles(ledger: Ledger, filter: TranscriptFilter): Promise<string[]> {
  const ids = new Set<string>();
  for await (const rows of downloadsOf(ledger, filter))
    for (const { file, ext, path } of rows)
      if (!readableFormats.some((each) => each === ext) && isFile(path)) ids.add(file);
  if (ids.size === 0) return [];
  for await (const page of transcriptsOnDisk(ledger, { files: [...ids] }))
    for (const { audiofile = '' } of page) ids.delete(audiofile);
  return [...ids];
}

/** Undefined where it is gone, or in a format without text to read. */
function onDisk(row: DownloadRow): TranscriptOnDisk | undefined {
  const { path, file, ext, at, title, duration } = row;
  const format = readableFormats.find((each) => each === ext);
  const found = format && findStats(path);
  if (!format || !found?.isFile()) return undefined;
  const audio = detailsOf(row);
  const seconds = Number(duration || 0) * 60 || audio.seconds;
  return {
    ...{ path, format, audiofile: file, title: audioTitle(title ?? '', audio) || undefined },
    duration: seconds ? Math.round(seconds * 1000) : undefined,
    ...{ size: found.size, mtimeMs: found.mtimeMs, downloadedAt: at, isSuperseded: row.is_final === 0 },
  };
}

/**
 * What each argument stands for, in the same order: a path is one file, an id all transcripts of that file on this disk.
 * A wrong one has an error of its own.
 */
export async function transcriptsOf(
  ledger: Ledger | undefined,
  args: readonly string[],
): Promise<Outcome<readonly TranscriptOnDisk[]>[]> {
  const hint = 'name a transcript: its audiofile id or its path';
  if (args.includes('')) throw usage('an argument is empty', hint);
  if (args.includes('-')) throw usage('transcripts are not read from stdin (-)', hint);
  const outcomes: Outcome<readonly TranscriptOnDisk[]>[] = [];
  for (const arg of args)
    outcomes.push(await outcomeOf(arg, () => (isPath(arg) ? atPath(ledger, arg) : ofFile(ledger, arg))));
  return outcomes;
}

const isPath = (arg: string): boolean =>
  arg.includes('/') || arg.includes(sep) || readableFormatOf(arg) !== undefined || isFile(arg);

const isFile = (path: string): boolean => findStats(path)?.isFile() === true;

async function atPath(ledger: Ledger | undefined, path: string): Promise<TranscriptOnDisk[]> {
  const { size, mtimeMs } = statOf(path);
  const noted = ledger && (await new Downloads(ledger).at(path));
  const known = noted && onDisk(noted);
  if (known) return [{ ...known, path }];
  const format = readableFormatOf(path);
  if (!format)
    throw new StenoError('failed', `${path} is not in a format that steno reads`, {
      hint: `its name must end in ${knownFormats.map((each) => `.${each}`).join(', ')}`,
    });
  return [{ path, format, size, mtimeMs, downloadedAt: '', isSuperseded: false }];
}

function statOf(path: string): { readonly size: number; readonly mtimeMs: number } {
  try {
    const found = statSync(path);
    if (found.isDirectory()) throw aFolder(path);
    return found;
  } catch (error) {
    if (error instanceof StenoError) throw error;
    throw new StenoError('failed', `${path} can't be read: ${systemReason(error)}`, { cause: error });
  }
}

const aFolder = (path: string): StenoError =>
  new StenoError('failed', `${path} is a folder`, {
    hint: `name the transcripts in it, such as ${shellWord(path.replace(/[/\\]$/, ''))}/*.vtt`,
  });

async function ofFile(ledger: Ledger | undefined, id: string): Promise<TranscriptOnDisk[]> {
  const found: TranscriptOnDisk[] = [];
  if (ledger) for await (const page of transcriptsOnDisk(ledger, { files: [id] })) found.push(...page);
  const isFolder = !/^\d+$/.test(id) && findStats(id)?.isDirectory();
  if (found.length === 0 && isFolder) throw aFolder(id);
  if (found.length === 0)
    throw new StenoError('failed', `no transcript of ${id} that can be read is on this disk`, {
      hint: `download it: steno transcript ${shellWord(id)} --format vtt`,
    });
  return found;
}

/**
 * Of several transcripts of a file, of those that were delivered last, the one with the most precise times; of several
 * in one format, the first.
 */
export function mostPrecise(files: readonly TranscriptOnDisk[]): TranscriptOnDisk[] {
  const best = new Map<string, TranscriptOnDisk>();
  for (const file of files) {
    const key = file.audiofile === undefined ? `path ${file.path}` : `id ${file.audiofile}`;
    const known = best.get(key);
    if (!known || rankOf(file) < rankOf(known)) best.set(key, file);
  }
  return [...best.values()];
}

const rankOf = ({ format, isSuperseded }: TranscriptOnDisk): number =>
  (isSuperseded ? knownFormats.length : 0) + knownFormats.indexOf(format);
