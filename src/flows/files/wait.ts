/** Waits until every file has its transcript, or can't get one any more. */
import type { AudioFile } from '../../api/files.ts';
import { findFileState } from '../../catalog/states.ts';
import { BulkError, StenoError } from '../../lib/errors.ts';
import { noReport, type Report } from '../../lib/progress.ts';
import { failures, type MayHaveFailed, raiseFailures } from '../bulk.ts';
import { type Destination, TranscriptDownloads } from '../transcripts/downloads.ts';
import { byteCounter } from '../transcripts/fetch.ts';
import { asksService, DEFAULT_TEMPLATE } from '../transcripts/name.ts';
import type { Saved } from '../transcripts/save.ts';
import { lateReason, type PolledFile, type Polling, pollFiles } from './poll.ts';

export interface WaitOptions
  extends Pick<Polling, 'transport' | 'ledger' | 'notes' | 'poll' | 'onDelivered'> {
  readonly report?: Report;
}

/** What waiting for a file came to. Without an error it is delivered; with one, `file` is what is last known of it. */
export interface WaitOutcome {
  readonly what: string;
  readonly file: AudioFile | undefined;
  readonly error: StenoError | undefined;
}

/** One outcome a file, in the order asked. */
async function waitForFiles(
  ids: readonly string[],
  { report, ...polling }: WaitOptions,
): Promise<WaitOutcome[]> {
  const { files } = await pollFiles(ids, {
    ...polling,
    onPolled: stateCounter(ids, report),
    // A held file goes on only when its hold is released, so that alone is not waited for.
    isEnough: (open) => open.every(isHeld),
  });
  return files.map((polled) => ({ what: polled.id, file: polled.file, error: reasonOf(polled) }));
}

/** Reports how many files are in each state, as it is last known; those that are delivered are done. */
function stateCounter(ids: readonly string[], report: Report = noReport): NonNullable<Polling['onPolled']> {
  const states = new Map<string, number>();
  let done = 0;
  const add = (state: string, count: number): void => {
    states.set(state, (states.get(state) ?? 0) + count);
    if (findFileState(state)?.end === 'delivered') done += count;
  };
  const stateOf = (polled: PolledFile | undefined): string =>
    polled?.awaitsRework ? 'upgraded' : (polled?.file?.state ?? '');
  add('', new Set(ids).size);
  report({ states, done });
  return (now, before) => {
    add(stateOf(before), -1);
    add(stateOf(now), 1);
    report({ states, done });
  };
}

const isHeld = ({ file, error }: PolledFile): boolean =>
  !error && findFileState(file?.state ?? '')?.held === true;

/** Why a file is not delivered; nothing if it is. */
function reasonOf(polled: PolledFile): StenoError | undefined {
  const { file, error, open } = polled;
  const end = findFileState(file?.state ?? '')?.end;
  if (!open && end === 'unfinished' && !error)
    return new StenoError('unfinished', `ended as '${file?.state}', so there will be no transcript`);
  if (!open) return error;
  if (isHeld(polled)) return new StenoError('held', 'on hold: work starts once the hold is released');
  return new StenoError('timeout', lateReason(polled));
}

/** Raises what kept files from being delivered, the most telling reason first; `waitOn`: how to go on after a time-out. */
export function raiseUndelivered(outcomes: readonly MayHaveFailed[], waitOn?: string): void {
  const all = failures(outcomes);
  for (const kind of ['timeout', 'unfinished', 'held'] as const) {
    const [first, ...more] = all.filter(({ error }) => error.kind === kind);
    if (!first) continue;
    const one = `${named(first.what)}: ${first.error.message}`;
    const message = more.length ? `${one}, and ${more.length} more like it` : one;
    throw new BulkError(
      kind,
      message,
      all.length === 1 ? [] : all,
      kind === 'timeout' ? waitOn : hints[kind],
    );
  }
  raiseFailures(outcomes);
}

/** An order that is on hold is named already. */
const named = (what: string): string => (what.startsWith('order ') ? what : `audiofile ${what}`);

const hints = {
  unfinished: 'see why: steno file <id>; for a file in state Error, see: steno refund --help',
  held: 'the usual cause is a past-due balance: pay it, and the order resumes automatically',
};

// Waits for files and downloads each transcript as it is delivered.

export interface DownloadTarget {
  /** The folder for transcripts; without one, none is downloaded. */
  readonly download: string | undefined;
  readonly formats: readonly string[];
  /** What the transcripts are called; by their ids if it is not given. */
  readonly template: string | undefined;
}

export interface WaitResult {
  readonly outcomes: readonly WaitOutcome[];
  /** Absent where no download was asked for. */
  readonly saved: readonly Saved[] | undefined;
}

export async function waitAndDownload(
  ids: readonly string[],
  waiting: WaitOptions,
  { download, formats, template = DEFAULT_TEMPLATE }: DownloadTarget,
): Promise<WaitResult> {
  if (download === undefined) return { outcomes: await waitForFiles(ids, waiting), saved: undefined };
  const { transport, ledger, notes } = waiting;
  const downloads = new TranscriptDownloads({
    ...{ transport, ledger, notes, folder: download, template },
    ifExists: 'skip',
    replacesDrafts: true,
    keepsNames: true,
    onBytes: waiting.report && byteCounter(waiting.report, false),
  });
  const destinations = new Map<string, Destination[]>();
  const name = async (id: string, file?: AudioFile): Promise<Destination[]> => {
    const known = destinations.get(id);
    if (known) return known;
    const ofFile: Destination[] = [];
    for (const ext of formats) ofFile.push({ id, ext, path: await downloads.claim({ id, ext, file }) });
    destinations.set(id, ofFile);
    return ofFile;
  };
  // Named now, in the order asked: so names don't depend on which file is delivered first. A title may come as late as
  // the transcript.
  if (!asksService(template)) for (const id of ids) await name(id);
  const saved = new Map<string, Saved>();
  const onDelivered = async (id: string, file: AudioFile): Promise<void> => {
    for (const to of await name(id, file)) {
      // After a failure this is called again: what came before it is not downloaded twice.
      if (!saved.has(to.path)) saved.set(to.path, await downloads.save({ ...to, delivered: true }));
    }
  };
  const outcomes = await waitForFiles(ids, { ...waiting, onDelivered });
  const inOrder = [...new Set(ids)].flatMap((id) => destinations.get(id) ?? []);
  return { outcomes, saved: inOrder.flatMap(({ path }) => saved.get(path) ?? []) };
}
