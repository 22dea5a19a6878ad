/**
 * What a command notes in the ledger though it can do without: where the ledger is held by another process, damaged or
 * on a full disk, the work goes on and that is told once, at the end.
 */
import { Files, type ServiceAnswer } from './files.ts';
import type { Ledger } from './ledger.ts';
import type { TableContext } from './table.ts';

export interface NotesTrouble {
  readonly error: unknown;
  /** How many notes are lost. */
  readonly lost: number;
}

type Note = (tables: TableContext) => Promise<unknown>;

const NOTES_PER_TRANSACTION = 500;

export class LedgerNotes {
  readonly #ledger: Ledger;
  /** The latest note of each thing, by what it is about: so their number is bounded. */
  readonly #waiting = new Map<string, Note | ServiceAnswer>();
  /** What is done when a note is written, or is lost. */
  readonly #afterwards = new Map<string, () => Promise<void>>();
  #writing: Promise<void> | undefined;
  #readError: unknown;
  #writeError: unknown;

  constructor(ledger: Ledger, signal: AbortSignal) {
    this.#ledger = ledger.withShortLockWait(signal);
  }

  /** What the ledger says, or `otherwise` where it can't be read. */
  async read<Value>(ask: (tables: TableContext) => Promise<Value>, otherwise: Value): Promise<Value> {
    try {
      return await ask(this.#ledger);
    } catch (error) {
      this.#readError = error;
      return otherwise;
    }
  }

  /** Written at once, or as soon as the ledger can take it; replaces one about the same that is not written yet. */
  add(about: string, note: Note, afterwards?: () => Promise<void>): void {
    if (afterwards) this.#afterwards.set(about, afterwards);
    this.#add(about, note);
  }

  /** The same for what the service said of a file: several are written as one. */
  addAnswer(answer: ServiceAnswer): void {
    this.#add(`state ${answer.id}`, answer);
  }

  #add(about: string, note: Note | ServiceAnswer): void {
    this.#waiting.set(about, note);
    this.#writing ??= this.#writeWaiting().finally(() => {
      this.#writing = undefined;
    });
  }

  /** Waits for what is not written yet; gives the trouble that there was, if something could not be read or written. */
  async finish(): Promise<NotesTrouble | undefined> {
    await this.#writing;
    if (this.#waiting.size) await this.#writeWaiting();
    for (const about of [...this.#afterwards.keys()]) await this.#end(about);
    const error = this.#writeError ?? this.#readError;
    return error === undefined ? undefined : { error, lost: this.#waiting.size };
  }

  /** What fails stays in the list, and is tried again with the next one. */
  async #writeWaiting(): Promise<void> {
    try {
      while (this.#waiting.size) {
        const batch = firstOf(this.#waiting, NOTES_PER_TRANSACTION);
        await this.#write(batch.map(([, note]) => note));
        for (const [about, note] of batch) if (this.#waiting.get(about) === note) this.#waiting.delete(about);
        for (const [about] of batch) if (!this.#waiting.has(about)) await this.#end(about);
      }
      this.#writeError = undefined;
    } catch (error) {
      this.#writeError = error;
    }
  }

  async #end(about: string): Promise<void> {
    const afterwards = this.#afterwards.get(about);
    this.#afterwards.delete(about);
    await afterwards?.();
  }

  #write(batch: ReadonlyArray<Note | ServiceAnswer>): Promise<void> {
    return this.#ledger.transaction(async (tables) => {
      const answers = batch.filter((note) => typeof note !== 'function');
      const others = batch.filter((note) => typeof note === 'function');
      // Side by side, so that over a network they share round trips; none may go on after the transaction has failed.
      const written = await Promise.allSettled([
        ...others.map((note) => note(tables)),
        ...(answers.length ? [new Files(tables).updateMany(answers)] : []),
      ]);
      for (const each of written) if (each.status === 'rejected') throw each.reason;
    });
  }
}

function firstOf<Key, Value>(map: ReadonlyMap<Key, Value>, count: number): Array<[Key, Value]> {
  const found: Array<[Key, Value]> = [];
  for (const entry of map) {
    if (found.length === count) break;
    found.push(entry);
  }
  return found;
}
