/** Many transcripts in several formats, or one as a stream. */
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type AudioFile, getFile, getTranscript, type TranscriptRequest } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { formatOfName } from '../../catalog/formats.ts';
import { findFileState } from '../../catalog/states.ts';
import { Files } from '../../ledger/files.ts';
import { usage } from '../../lib/errors.ts';
import { noReport, type Report } from '../../lib/progress.ts';
import { type BulkWork, doEach, doMany, doPlaces, type Outcome, type Tally } from '../bulk.ts';
import { streamChecked } from './content.ts';
import { type Destination, type DownloadOptions, type Named, TranscriptDownloads } from './downloads.ts';
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

interface OutputTarget
  extends Pick<DownloadOptions, 'folder' | 'ifExists' | 'replacesDrafts' | 'keepsNames' | 'forCommand'> {
  readonly template: string;
  /** In place of a folder and a template. */
  readonly file?: string | undefined;
}

interface FetchOptions extends Pick<DownloadOptions, 'transport' | 'ledger' | 'notes'> {
  readonly jobs: number;
  /** Called as each one ends, with its place in the order asked, and with nothing if it failed. */
  readonly onDone?: (saved: Saved | undefined, at: number) => void;
  readonly report?: Report;
  /** How a failure names a transcript; without it, by its format too where there are several. */
  readonly label?: (id: string, ext: string) => string;
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
  if (!existing && (formatOfName(output) || /\.(?:json|md|tsv)$/i.test(output)))
    throw usage(
      `'${output}' is a file name, but several transcripts need a folder`,
      `name a folder: -o transcripts/   (or '${output}/', with a slash at the end)`,
    );
  if (existing && !existing.isDirectory())
    throw usage(`'${output}' is not a folder`, 'several transcripts need a folder');
  return { ...named, folder: output };
}

/** One outcome for each format of each file, in the order asked. */
export const saveTranscripts = async (
  selection: TranscriptSelection,
  target: OutputTarget,
  options: FetchOptions,
): Promise<Outcome<Saved>[]> => doPlaces(await saving(selection, target, options));

/** The same for any number of them: each is told as it is done, and failures alone are kept. */
export const saveMany = async (
  selection: TranscriptSelection,
  target: OutputTarget,
  options: FetchOptions,
): Promise<Tally> => doMany(await saving(selection, target, options));

async function saving(
  selection: TranscriptSelection,
  target: OutputTarget,
  { transport, ledger, notes, jobs, onDone, report = noReport, label }: FetchOptions,
): Promise<BulkWork<Saved>> {
  const { ids, formats, test, deprecatedPath } = selection;
  const { file, template, ...named } = target;
  const count = ids.length * formats.length;
  const downloads = new TranscriptDownloads({
    ...{ transport, ledger, notes, template, ...named },
    ...{ test, deprecatedPath, onBytes: byteCounter(report, count === 1) },
  });
  // Files that are delivered are in the ledger, with what the service said of them.
  const asks = file === undefined && asksService(template) && !selection.delivered;
  if (asks) report({ what: 'Asking for titles' });
  const said = asks ? await doEach(ids, jobs, String, (id) => whatIsSaid(transport, id), report) : [];
  if (asks) report({ what: 'Downloading' });
  if (file !== undefined) await downloads.clean(dirname(file));
  // Names are claimed in the order asked: so they don't depend on which file comes first.
  let claims: Promise<unknown> = Promise.resolve();
  const claim = (named: Named): Promise<string> => {
    const claimed = claims.then(() => downloads.claim(named));
    claims = claimed.catch(() => {});
    return claimed;
  };
  const destination = async (id: string, ext: string, place: number): Promise<Destination> => {
    const { value, error } = said[place] ?? {};
    // The ledger may know what the service did not say; another call for each name would bring nothing else.
    const path = file ?? (await claim({ id, ext, file: value ?? { title: '', orders: [] } }));
    if (error) throw error;
    const isFinal = value?.delivered && !(await (ledger && new Files(ledger).awaitingRework([id])))?.has(id);
    return { id, ext, path, delivered: selection.delivered || isFinal };
  };
  return {
    ...{ count, concurrency: jobs, report },
    name: (at) => {
      const [id, ext] = partsAt(selection, at);
      return label?.(id, ext) ?? (formats.length > 1 ? `${id}.${ext}` : id);
    },
    work: async (at, onAnswered) => {
      const [id, ext] = partsAt(selection, at);
      let saved: Saved | undefined;
      try {
        const to = await destination(id, ext, Math.floor(at / formats.length));
        saved = await downloads.save(to, onAnswered);
        return saved;
      } finally {
        onDone?.(saved, at);
      }
    },
  };
}

const partsAt = ({ ids, formats }: TranscriptSelection, at: number): [id: string, ext: string] => [
  ids[Math.floor(at / formats.length)] ?? '',
  formats[at % formats.length] ?? '',
];

/** What a name needs of an answer: the answers of very many files are too large to be kept. */
async function whatIsSaid(
  transport: Transport,
  id: string,
): Promise<Pick<AudioFile, 'title' | 'orders'> & { readonly delivered: boolean }> {
  const { title, orders, state } = await getFile(transport, id);
  return { title, orders, delivered: findFileState(state)?.end === 'delivered' };
}

/** Reports the bytes of all downloads together; how many there will be is known only of a single one. */
export function byteCounter(report: Report, isSingle: boolean): OnBytes | undefined {
  if (report === noReport) return undefined;
  let bytes = 0;
  return (more, length) => {
    bytes += more;
    report(isSingle && length !== undefined ? { bytes, ofBytes: length } : { bytes });
  };
}

/** Writes one transcript as it comes. */
export function streamTranscript(
  transport: Transport,
  request: TranscriptRequest,
  write: (chunk: Uint8Array) => Promise<void>,
  report: Report = noReport,
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
