import { type AudioFile, getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { answerWriter } from '../../ledger/answers.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { StenoError } from '../../lib/errors.ts';
import type { Report } from '../../lib/progress.ts';
import { nowMs } from '../../lib/time.ts';
import { answerOf } from '../answer.ts';
import { doEach, doMany, type Outcome, type Tally } from '../bulk.ts';

export interface RefreshedFile {
  readonly file: AudioFile;
  /** The state that the ledger had before, if it was another. */
  readonly previousState: string | undefined;
}

export const REFRESH_CONCURRENCY = 8;

/** Asks the service about a file, and keeps the answer in the ledger. With `notes` the state before is not told. */
export async function refreshFile(
  transport: Transport,
  ledger: Ledger | undefined,
  id: string,
  notes?: LedgerNotes | undefined,
): Promise<RefreshedFile> {
  const askedAt = new Date(nowMs()).toISOString();
  const file = await getFile(transport, id);
  if (notes) notes.addAnswer(answerOf(id, file, askedAt));
  if (notes || !ledger) return { file, previousState: undefined };
  const files = new Files(ledger.withShortLockWait(transport.signal));
  return { file, previousState: await files.update(answerOf(id, file, askedAt)) };
}

export const refreshFiles = (
  transport: Transport,
  ledger: Ledger | undefined,
  ids: readonly string[],
  { jobs = REFRESH_CONCURRENCY, notes, report }: Pick<RefreshOptions, 'jobs' | 'notes' | 'report'> = {},
): Promise<Outcome<RefreshedFile>[]> =>
  doEach(ids, jobs, String, (id) => refreshFile(transport, ledger, id, notes), report);

export interface RefreshOptions {
  /** How many files are asked about at a time. */
  readonly jobs?: number;
  readonly notes?: LedgerNotes | undefined;
  /** A file, by its place among the ids: it is in the ledger, or could not be refreshed. */
  readonly onDone?: (at: number, refreshed: RefreshedFile | undefined) => void;
  readonly report?: Report | undefined;
}

/** The same for any number of files: each is told as it is done, and failures alone are kept. */
export async function refreshMany(
  transport: Transport,
  ledger: Ledger,
  ids: readonly string[],
  { jobs = REFRESH_CONCURRENCY, onDone, report }: Omit<RefreshOptions, 'notes'> = {},
): Promise<Tally> {
  const quick = ledger.withShortLockWait(transport.signal);
  const writer = answerWriter(new Files(quick), quick.db.isShared);
  const unwritten = new Map<number, unknown>();
  const ask = async (at: number): Promise<void> => {
    const id = ids[at] as string;
    const askedAt = new Date(nowMs()).toISOString();
    const file = await getFile(transport, id).catch((error: unknown) => {
      onDone?.(at, undefined);
      throw error;
    });
    // Not waited for where the ledger gathers answers.
    void writer.add(answerOf(id, file, askedAt)).then(
      (previousState) => onDone?.(at, { file, previousState }),
      (error: unknown) => {
        unwritten.set(at, error);
        onDone?.(at, undefined);
      },
    );
    await writer.room();
    if (unwritten.has(at)) throw unwritten.get(at);
  };
  const name = (at: number): string => ids[at] as string;
  const work = { count: ids.length, concurrency: jobs, name, work: ask, report };
  const tally = await doMany(work).finally(() => writer.finish());
  for (const [at, error] of unwritten) {
    if (!(error instanceof StenoError)) throw error;
    tally.add({ what: name(at), error }, at);
  }
  return tally;
}
