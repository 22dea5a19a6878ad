import { type AudioFile, getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import type { ServiceAnswer } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerTables } from '../../ledger/ledger-tables.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { StenoError } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json.ts';
import type { Report } from '../../lib/progress.ts';
import { doEach, type Outcome } from '../bulk.ts';

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
  const askedAt = new Date().toISOString();
  const file = await getFile(transport, id);
  if (notes) notes.addAnswer(answerOf(id, file, askedAt));
  if (notes || !ledger) return { file, previousState: undefined };
  const { files } = ledger.impatient(transport.signal);
  return { file, previousState: await files.update(answerOf(id, file, askedAt)) };
}

/** Notes in the ledger what the service said of a file; gives the state before, if it was another. */
export const keepAnswer = (ledger: LedgerTables, id: string, file: AudioFile): Promise<string | undefined> =>
  ledger.files.update(answerOf(id, file, new Date().toISOString()));

const answerOf = (
  id: string,
  { state, title, invoices, originalLink: link, json }: AudioFile,
  askedAt: string,
): ServiceAnswer => ({ id, state, title, invoices, link, answer: formatJson(json, 0), askedAt });

export interface RefreshOptions {
  /** How many files are asked about at a time. */
  readonly jobs?: number;
  readonly notes?: LedgerNotes | undefined;
  /** A file, by its place among the ids: it is in the ledger, or could not be refreshed. */
  readonly onDone?: (at: number, refreshed: RefreshedFile | undefined) => void;
  readonly report?: Report | undefined;
}

export async function refreshFiles(
  transport: Transport,
  ledger: Ledger | undefined,
  ids: readonly string[],
  { jobs = REFRESH_CONCURRENCY, notes, onDone, report }: RefreshOptions = {},
): Promise<Outcome<RefreshedFile>[]> {
  if (!ledger || notes)
    return doEach(ids, jobs, String, (id) => refreshFile(transport, ledger, id, notes), report);
  const written = new WrittenAnswers(ledger.impatient(transport.signal), onDone);
  const ask = async (id: string, at: number): Promise<RefreshedFile> => {
    const askedAt = new Date().toISOString();
    const file = await getFile(transport, id).catch((error: unknown) => {
      onDone?.(at, undefined);
      throw error;
    });
    await written.add(at, file, answerOf(id, file, askedAt));
    return { file, previousState: undefined };
  };
  const outcomes = await doEach(ids, jobs, String, ask, report).finally(() => written.finish());
  return outcomes.map((outcome, at) => written.outcome(at, outcome));
}

/** Which answers are in the ledger, and which could not be written. */
class WrittenAnswers {
  readonly #writer: ReturnType<Ledger['answerWriter']>;
  readonly #onDone: RefreshOptions['onDone'];
  readonly #previousStates = new Map<number, string>();
  readonly #errors = new Map<number, unknown>();

  constructor(ledger: Ledger, onDone: RefreshOptions['onDone']) {
    this.#writer = ledger.answerWriter();
    this.#onDone = onDone;
  }

  /** Does not wait for its write where the ledger gathers them. */
  async add(at: number, file: AudioFile, answer: ServiceAnswer): Promise<void> {
    void this.#writer.add(answer).then(
      (previousState) => {
        if (previousState !== undefined) this.#previousStates.set(at, previousState);
        this.#onDone?.(at, { file, previousState });
      },
      (error: unknown) => {
        this.#errors.set(at, error);
        this.#onDone?.(at, undefined);
      },
    );
    await this.#writer.room();
    if (this.#errors.has(at)) throw this.#errors.get(at);
  }

  finish(): Promise<void> {
    return this.#writer.finish();
  }

  outcome(at: number, outcome: Outcome<RefreshedFile>): Outcome<RefreshedFile> {
    const error = this.#errors.get(at);
    if (error === undefined) {
      const { value } = outcome;
      return value
        ? { what: outcome.what, value: { ...value, previousState: this.#previousStates.get(at) } }
        : outcome;
    }
    if (error instanceof StenoError) return { what: outcome.what, error };
    throw error;
  }
}
