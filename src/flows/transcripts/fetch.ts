/** Many transcripts in several formats, or one as a stream. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { getTranscript, type TranscriptRequest } from '../../api/transcripts.ts';
import { findFormat } from '../../catalog/formats.ts';
import { findFileState } from '../../catalog/states.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { type StenoError, usage } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import { doEach, type Outcome } from '../bulk.ts';
import { streamChecked } from './check.ts';
import { type Destination, TranscriptDownloads } from './downloads.ts';
import { asksService, DEFAULT_TEMPLATE } from './name.ts';
import { countingBytes, type IfExists, type OnBytes, type Saved, truncatedError } from './save.ts';

/** Every format of every file. */
export interface TranscriptSelection {
  readonly ids: readonly string[];
  readonly formats: readonly string[];
  readonly test: boolean;
  readonly deprecatedPath: boolean;
  /** The service has said that all of them are delivered. */
  readonly delivered?: boolean;
}

export interface OutputTarget {
  readonly folder: string;
  readonly template: string;
  /** In place of a folder and a template. */
  readonly file?: string | undefined;
  readonly ifExists: IfExists;
  readonly replacesDrafts?: boolean;
  readonly keepsNames?: boolean;
}

export interface FetchOptions {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  readonly notes?: LedgerNotes | undefined;
  readonly jobs: number;
  /** Called as each one ends, with its place in the order asked, and with nothing if it failed. */
  readonly onDone?: (saved: Saved | undefined, at: number) => void;
  readonly report?: Report;
}

/**
 * What `-o` means: a folder if it is one, ends with a slash, or has to hold several files; otherwise a file. Several
 * files don't make a folder of `one.txt`: a file was meant.
 */
export async function outputTarget(
  output: string | undefined,
  template: string | undefined,
  several: boolean,
  ifExists: IfExists,
): Promise<OutputTarget> {
  const named = { template: template ?? DEFAULT_TEMPLATE, ifExists };
  if (output === undefined) return { ...named, folder: '.' };
  const existing = await stat(output).catch(() => undefined);
  const isFolder = existing?.isDirectory() || /[/\\]$/.test(output) || several || template !== undefined;
  if (!isFolder) return { ...named, folder: '.', file: output };
  if (!existing && findFormat(/\.(\w+)$/.exec(output.toLowerCase())?.[1] ?? ''))
    throw usage(
      `several transcripts need a folder, and '${output}' is named like one of them`,
      `name a folder: -o transcripts/   (with a slash at its end, '${output}/' is one too)`,
    );
  if (existing && !existing.isDirectory())
    throw usage(`'${output}' is not a folder`, 'several transcripts need a folder to go to');
  return { ...named, folder: output };
}

export async function saveTranscripts(
  selection: TranscriptSelection,
  target: OutputTarget,
  { transport, ledger, notes, jobs, onDone, report = () => {} }: FetchOptions,
): Promise<Outcome<Saved>[]> {
  const { ids, formats, test, deprecatedPath } = selection;
  const { file, template, ...named } = target;
  const downloads = new TranscriptDownloads({
    ...{ transport, ledger, notes, template, ...named },
    ...{ test, deprecatedPath, onBytes: byteCounter(report, ids.length * formats.length === 1) },
  });
  // Files that are delivered are in the ledger, with what the service said of them.
  const asks = file === undefined && asksService(template) && !selection.delivered;
  if (asks) report({ what: 'Asking for titles' });
  const details = asks ? await doEach(ids, jobs, String, (id) => getFile(transport, id), report) : [];
  if (asks) report({ what: 'Downloading' });
  const tasks: Array<{ to: Destination; error: StenoError | undefined }> = [];
  for (const [at, id] of ids.entries()) {
    const { value, error } = details[at] ?? {};
    const delivered = selection.delivered || (value && findFileState(value.state)?.end === 'delivered');
    for (const ext of formats) {
      const named = { id, ext, file: value ?? nothingSaid };
      const to = file === undefined ? await downloads.claim(named) : { id, ext, path: file };
      tasks.push({ to: { ...to, delivered }, error });
    }
  }
  if (file !== undefined) await downloads.clean(dirname(file));
  const label = ({ to: { id, ext } }: { to: Destination }): string =>
    formats.length > 1 ? `${id}.${ext}` : id;
  const saveOne = async ({ to, error }: { to: Destination; error: StenoError | undefined }, at: number) => {
    let saved: Saved | undefined;
    try {
      if (error) throw error;
      saved = await downloads.save(to);
      return saved;
    } finally {
      onDone?.(saved, at);
    }
  };
  return doEach(tasks, jobs, label, saveOne, report);
}

/** Reports the bytes of all downloads together; how many there will be is known only of a single one. */
export function byteCounter(report: Report, isSingle: boolean): OnBytes {
  let bytes = 0;
  return (more, length) => {
    bytes += more;
    report(isSingle && length !== undefined ? { bytes, ofBytes: length } : { bytes });
  };
}

/** The ledger may know it; another call for each name would bring nothing else. */
const nothingSaid = { title: '', orders: [] };

/** Writes one transcript as it comes. */
export function streamTranscript(
  transport: Transport,
  request: TranscriptRequest,
  write: (chunk: Uint8Array) => Promise<void>,
  report: Report = () => {},
): Promise<void> {
  report({ of: 1 });
  const onBytes = byteCounter(report, true);
  return getTranscript(transport, request, async (transcript) => {
    let started = false;
    try {
      await streamChecked(countingBytes(transcript, onBytes), request.ext, (chunk) => {
        started = true;
        return write(chunk);
      });
    } catch (error) {
      throw started ? truncatedError(error) : error;
    }
  });
}
