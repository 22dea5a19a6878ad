/** The files that match what is asked for, in order, kept for as long as nobody writes: who scrolls asks again and again. */
import type { Changes } from '../../ledger/changes.ts';
import { type FileKind, type FileQuery, FileWindows } from '../../ledger/file-windows.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { Kept } from '../../lib/kept.ts';

interface Found {
  readonly places: readonly number[];
  /** How many files there are. */
  readonly all: number;
}

/** What is overdue changes by itself. */
const KEPT_MS = 60_000;

export class FoundFiles {
  readonly #ledger: Ledger;
  readonly #changes: Changes;
  readonly #kept = new Kept<Found>({ max: 8, maxAgeMs: KEPT_MS });
  readonly #counts = new Kept<Readonly<Record<FileKind | 'uncertain', number>>>({
    max: 1,
    maxAgeMs: KEPT_MS,
  });

  constructor(ledger: Ledger, changes: Changes) {
    this.#ledger = ledger;
    this.#changes = changes;
  }

  async get(query: FileQuery): Promise<Found> {
    const key = `${await this.#changes.version()} ${JSON.stringify(query)}`;
    return this.#kept.get(key, async () => ({
      places: await new FileWindows(this.#ledger).places(query),
      all: await new Files(this.#ledger).count({}),
    }));
  }

  async counts(): Promise<Readonly<Record<FileKind | 'uncertain', number>>> {
    return this.#counts.get(await this.#changes.version(), async () => ({
      ...(await new FileWindows(this.#ledger).counts()),
      uncertain: await new OpenAttempts(this.#ledger).countUnclear(),
    }));
  }
}
