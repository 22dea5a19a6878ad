/** What has changed in the ledger since a page last asked, and whether the ledger can be read. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Changes } from '../ledger/changes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { DatabaseError } from '../ledger/stores/store.ts';
import { errorMessage } from '../lib/errors.ts';
import { isDamaged, isLocked } from '../lib/sqlite.ts';
import { monotonicMs } from '../lib/time.ts';
import type { PageSource } from './source.ts';

/** A database that takes longer does not answer. */
const SLOW_MS = 3_000;
const REFRESH_MS = 2_000;
/** A lock is held for milliseconds; one that is held for so long is trouble. */
const LOCKED_MS = 2_000;

/** Each text differs after a change; with `trouble`, nothing is known. */
type Marks = Readonly<Partial<Record<'files' | 'events' | 'spend' | 'trouble', string>>>;

export class Live {
  readonly #source: PageSource;
  /** The ledger, and the connection by which it is watched: that sees what this process writes with the other. */
  readonly #ledgers: readonly [Ledger, Ledger];
  readonly #changes: Changes;
  #seen: Marks = {};
  #looking: Promise<Marks> | undefined;
  #lockedSince: number | undefined;
  #isDamaged = false;
  #isRefreshing = false;

  constructor(source: PageSource, watched: Ledger, changes: Changes) {
    this.#source = source;
    this.#ledgers = [source.ledger, watched];
    this.#changes = changes;
  }

  /** Cheap enough for every page to poll once a second. */
  async marks(): Promise<Marks> {
    this.#refresh();
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#troubleOf(error))
      .finally(() => {
        this.#looking = undefined;
      });
    const end = new AbortController();
    const slow = sleep(SLOW_MS, { trouble: 'the ledger does not answer' }, { signal: end.signal });
    return Promise.race([this.#looking, slow]).finally(() => end.abort());
  }

  /** Whether an error is about the ledger itself. What is cached may hide damage from the next look. */
  isTrouble(error: unknown): boolean {
    this.#isDamaged ||= isDamaged(error);
    return error instanceof DatabaseError || isLocked(error) || isDamaged(error);
  }

  #refresh(): void {
    const { refresh } = this.#source;
    if (!refresh || this.#isRefreshing) return;
    this.#isRefreshing = true;
    const end = () => {
      setTimeout(() => {
        this.#isRefreshing = false;
      }, REFRESH_MS).unref();
    };
    void refresh().then(end, end);
  }

  async #look(): Promise<Marks> {
    await this.#reopen();
    const waiting = await this.#source.waiting.count('event').catch(() => 0);
    const files = `${await this.#changes.version()} ${waiting}`;
    this.#lockedSince = undefined;
    if (files !== this.#seen.files) {
      const { events, spend } = await this.#changes.marks();
      this.#seen = { files, events: `${events} ${waiting}`, spend };
    }
    return this.#seen;
  }

  /** After the file was replaced or damaged; a shared ledger is connected to again by the next question. */
  async #reopen(): Promise<void> {
    const isInPlace = this.#ledgers.every((each) => each.db.isInPlace) && !this.#isDamaged;
    if (this.#ledgers[0].db.isShared || isInPlace) return;
    for (const each of this.#ledgers) await each.db.reopen();
    this.#isDamaged = false;
    this.#seen = {};
  }

  #troubleOf(error: unknown): Marks {
    this.#isDamaged ||= isDamaged(error);
    if (isLocked(error)) {
      this.#lockedSince ??= monotonicMs();
      if (monotonicMs() - this.#lockedSince < LOCKED_MS) return this.#seen;
    }
    return { trouble: this.#source.hide(errorMessage(error)) };
  }
}
