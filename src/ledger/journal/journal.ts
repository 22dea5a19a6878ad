/**
 * Keeps deliveries on disk before they are in the ledger. Speed: all that has arrived is written and synced at once, and
 * what arrives meanwhile comes next; SQLite is not waited for. DECISIONS.md has the figures.
 */
import { randomBytes } from 'node:crypto';
import { JournalFile, lengthOf } from './journal-file.ts';
import { type Arrival, encodeArrivals, type JournalHead, scan } from './record.ts';

/** A part of a file: deliveries that were kept with one sync. */
export interface KeptBatch {
  readonly file: JournalFile;
  readonly start: number;
  readonly length: number;
  /** How many deliveries. */
  readonly count: number;
  /** Absent where they are only on disk. */
  readonly bytes: Buffer | undefined;
}

export interface JournalOptions {
  readonly folder: string;
  readonly head: JournalHead;
  /** Called after the deliveries were answered. */
  readonly onKept: (batch: KeptBatch) => void;
}

type KeptDelivery = Pick<Arrival, 'body' | 'contentType' | 'receivedAt' | 'remote'> &
  Partial<Pick<Arrival, 'hops'>>;

interface Waiting {
  readonly arrival: Arrival;
  readonly done: (error?: unknown) => void;
}

/** A file that has grown so far is not written on: it can be removed when its deliveries are in the ledger. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;
/** Of all bodies in one batch: it is read back into memory at once. */
const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** With one at a time, everything would stand still during a sync if all senders waited for it. */
const MAX_SYNCS = 2;

export class Journal {
  readonly #options: JournalOptions;
  readonly #idPrefix = randomBytes(9).toString('base64url');
  readonly #files = new Set<JournalFile>();
  #current: JournalFile | undefined;
  #waiting: Waiting[] = [];
  #isScheduled = false;
  #syncs = 0;
  #onSettled: Array<() => void> = [];
  /** How many deliveries came so far. */
  arrivals = 0;

  /** Throws if its file can't be made. */
  constructor(options: JournalOptions) {
    this.#options = options;
    this.#current = this.#newFile();
  }

  /** Calls back when the delivery is on disk, or with the error; gives the id that it gets. */
  append(delivery: KeptDelivery, mayBeTest: boolean, done: Waiting['done']): string {
    this.arrivals += 1;
    const { body, contentType, receivedAt, remote, hops = '' } = delivery;
    const id = `${this.#idPrefix}-${this.arrivals.toString(36)}`;
    const { profile } = this.#options.head;
    const arrival = { id, profile, receivedAt, remote, contentType, mayBeTest, hops, body };
    this.#waiting.push({ arrival, done });
    this.#schedule();
    return id;
  }

  get isWriting(): boolean {
    return this.#syncs > 0 || this.#waiting.length > 0;
  }

  /** These deliveries of a batch are in the ledger. */
  markMoved(file: JournalFile, count: number): void {
    file.unmoved -= count;
    if (file.unmoved > 0) return;
    if (file !== this.#current) this.#forget(file);
    else if (!this.isWriting) file.empty();
  }

  touch(): void {
    for (const file of this.#files) file.touch();
  }

  /** Resolves when everything that came is kept, or has failed. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      if (this.isWriting) this.#onSettled.push(resolve);
      else resolve();
    });
  }

  /** Removes the files whose deliveries are in the ledger; gives the paths of the others. */
  close(): string[] {
    const left = [...this.#files].filter(({ unmoved }) => unmoved > 0);
    for (const file of this.#files) {
      if (file.unmoved > 0) file.close();
      else file.remove();
    }
    this.#files.clear();
    return left.map(({ path }) => path);
  }

  /** Requests that have arrived by then come into the same batch. */
  #schedule(): void {
    if (this.#isScheduled || this.#syncs >= MAX_SYNCS) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      // It never rejects.
      void this.#keep(this.#takeBatch());
      if (this.#waiting.length) this.#schedule();
    });
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ arrival: { body } }, at) => {
      bytes += body.byteLength;
      return at > 0 && bytes > MAX_BATCH_BYTES;
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #keep(waiting: readonly Waiting[]): Promise<void> {
    this.#syncs += 1;
    let batch: KeptBatch | undefined;
    let failure: unknown;
    try {
      batch = await this.#writeBatch(waiting.map(({ arrival }) => arrival));
    } catch (error) {
      failure = error;
    }
    this.#syncs -= 1;
    for (const { done } of waiting) done(failure);
    if (batch) this.#options.onKept(batch);
    if (this.#waiting.length) this.#schedule();
    else if (!this.isWriting) for (const resolve of this.#onSettled.splice(0)) resolve();
  }

  async #writeBatch(arrivals: readonly Arrival[]): Promise<KeptBatch> {
    const count = arrivals.length;
    for (;;) {
      this.#current ??= this.#newFile();
      const file = this.#current;
      const pieces = encodeArrivals(arrivals, file.marker);
      // From here on the file must not be removed.
      file.unmoved += count;
      try {
        const start = file.append(pieces);
        if (file.size > MAX_FILE_BYTES) this.#current = undefined;
        await file.sync();
        const bytes = pieces.length === 1 ? pieces[0] : undefined;
        if (file.isInPlace()) return { file, start, length: lengthOf(pieces), count, bytes };
      } catch (error) {
        this.#giveUp(file, count);
        throw error;
      }
      // Another process has taken it over, and may have read it before this was in it.
      this.#giveUp(file, count);
    }
  }

  /** Nothing more goes into the file: after an error, what the disk has of it is not known. */
  #giveUp(file: JournalFile, count: number): void {
    if (this.#current === file) this.#current = undefined;
    this.markMoved(file, count);
  }

  #newFile(): JournalFile {
    const { folder, head } = this.#options;
    const file = new JournalFile(folder, head);
    this.#files.add(file);
    return file;
  }

  #forget(file: JournalFile): void {
    if (this.#files.delete(file)) file.remove();
  }
}

/** The deliveries of a batch, read back from disk where they are not in memory. */
export function arrivalsOf({ file, start, length, bytes }: KeptBatch): Arrival[] {
  const arrivals: Arrival[] = [];
  for (const record of scan(bytes ?? file.read(start, length), file.marker, true))
    if (record.kind === 'arrival') arrivals.push(record.arrival);
  return arrivals;
}
