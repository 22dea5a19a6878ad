/** Tells open pages what has changed in the ledger, and whether it can be read. Looks only while a page is open. */
import { type FSWatcher, watch } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { dirname } from 'node:path';
import { type Changes, type Marks, topics } from '../ledger/changes.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Spool } from '../ledger/spool.ts';
import { DatabaseError } from '../ledger/stores/store.ts';
import { errorMessage } from '../lib/errors.ts';
import { isDamaged, isLocked } from '../lib/sqlite.ts';
import { monotonicMs } from '../lib/time.ts';
import type { PageSource } from './source.ts';

const POLL_MS = 1_000;
/** A change that the system tells of is looked at sooner, but many are looked at together. */
const MIN_PAUSE_MS = 200;
const BEAT_MS = 15_000;
/** A database that takes longer does not answer. */
const SLOW_MS = 3_000;
const REFRESH_MS = 2_000;
/** A lock is held for milliseconds; one that is held for so long is trouble. */
const LOCKED_MS = 2_000;
/** A page that has not read so much does not read at all. */
const MAX_UNREAD_BYTES = 65_536;
const MAX_PAGES = 50;

type Message =
  | { readonly type: 'hello' | 'well' | 'beat' }
  | { readonly type: 'changed'; readonly topics: readonly string[] }
  | { readonly type: 'trouble'; readonly message: string };

/** Whether an error is about the ledger itself. */
export const isLedgerTrouble = (error: unknown): boolean =>
  error instanceof DatabaseError || isLocked(error) || isDamaged(error);

export class Live {
  readonly #source: PageSource;
  /** The ledger, and the connection by which it is watched: that sees what this process writes with the other. */
  readonly #ledgers: readonly [Ledger, Ledger];
  readonly #changes: Changes;
  readonly #spool: Spool;
  readonly #pages = new Set<ServerResponse>();
  #seen: { readonly version: string; readonly marks: Marks } | undefined;
  #trouble: string | undefined;
  #lockedSince: number | undefined;
  /** The file must be opened again. */
  #isDamaged = false;
  #isRunning = false;
  #isClosed = false;
  /** The file has changed since the last look. */
  #isStale = false;
  #wake = (): void => {};

  constructor(source: PageSource, watched: Ledger, changes: Changes, spool: Spool) {
    this.#source = source;
    this.#ledgers = [source.ledger, watched];
    this.#changes = changes;
    this.#spool = spool;
  }

  /** Takes over a response, until its page is closed. False: too many are open. */
  add(response: ServerResponse): boolean {
    if (this.#pages.size >= MAX_PAGES) return false;
    response.writeHead(200, { 'content-type': 'application/x-ndjson; charset=utf-8' });
    this.#pages.add(response);
    response.on('close', () => {
      this.#pages.delete(response);
      this.#wake();
    });
    this.#sendTo(response, { type: 'hello' });
    if (this.#trouble !== undefined) this.#sendTo(response, { type: 'trouble', message: this.#trouble });
    if (!this.#isRunning) void this.#run();
    return true;
  }

  /** A call has found that the ledger can't be used: what is cached may hide that from the next look. */
  report(error: unknown): void {
    if (this.#pages.size > 0 && !isLocked(error)) this.#tellTrouble(error);
  }

  close(): void {
    this.#isClosed = true;
    for (const page of this.#pages) page.end();
    this.#wake();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const { refresh } = this.#source;
    const timers = [
      setInterval(() => this.#send({ type: 'beat' }), BEAT_MS),
      refresh && setInterval(refresh, REFRESH_MS),
    ];
    const watcher = this.#watchFile();
    while (this.#pages.size > 0 && !this.#isClosed) {
      const begun = monotonicMs();
      const slow = setTimeout(() => this.#tellTrouble(new Error('the ledger does not answer')), SLOW_MS);
      await this.#look().catch((error: unknown) => this.#onFailure(error));
      clearTimeout(slow);
      await this.#pause(begun);
    }
    for (const timer of timers) clearInterval(timer);
    watcher?.close();
    // What happens while nobody looks is read by the next page anyway.
    this.#seen = undefined;
    this.#isRunning = false;
  }

  /** Until a second after the last look began, or until the system tells of a change; it may have told meanwhile. */
  async #pause(begun: number): Promise<void> {
    const leftOf = (milliseconds: number): number => Math.max(0, milliseconds - (monotonicMs() - begun));
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, leftOf(POLL_MS));
      this.#wake = () => {
        clearTimeout(timer);
        setTimeout(resolve, leftOf(MIN_PAUSE_MS));
      };
      if (this.#isStale) this.#wake();
    });
    this.#isStale = false;
  }

  /** Sooner than by the second, where the ledger is a file and the system tells of changes. */
  #watchFile(): FSWatcher | undefined {
    const path = this.#ledgers[0].db.file?.path;
    if (path === undefined) return undefined;
    try {
      const watcher = watch(dirname(path), { persistent: false }, (_, name) => {
        if (!/^(ledger|spool)\.db(-wal)?$/.test(name ?? '')) return;
        this.#isStale = true;
        this.#wake();
      });
      return watcher.on('error', () => watcher.close());
    } catch {
      return undefined;
    }
  }

  async #look(): Promise<void> {
    const wasReplaced = await this.#reopen();
    const waiting = await this.#spool.countAll().catch(() => 0);
    const version = `${await this.#changes.version()} ${waiting}`;
    const isWell = this.#trouble === undefined && !wasReplaced;
    this.#lockedSince = undefined;
    if (isWell && version === this.#seen?.version) return;
    const before = this.#seen?.marks;
    const { events, spend } = await this.#changes.marks();
    const marks = { events: `${events} ${waiting}`, spend };
    this.#seen = { version, marks };
    if (!isWell) {
      this.#trouble = undefined;
      this.#send({ type: 'well' });
    } else if (before) {
      const changed = topics.filter((topic) => topic === 'files' || before[topic] !== marks[topic]);
      this.#send({ type: 'changed', topics: changed });
    }
  }

  /** After the file was replaced or damaged; a shared ledger is connected to again by the next question. */
  async #reopen(): Promise<boolean> {
    const isInPlace = this.#ledgers.every((each) => each.isInPlace) && !this.#isDamaged;
    if (this.#ledgers[0].db.isShared || isInPlace) return false;
    for (const each of this.#ledgers) await each.reopen();
    this.#isDamaged = false;
    return true;
  }

  #onFailure(error: unknown): void {
    if (isLocked(error)) {
      this.#lockedSince ??= monotonicMs();
      if (monotonicMs() - this.#lockedSince < LOCKED_MS) return;
    }
    this.#tellTrouble(error);
  }

  #tellTrouble(error: unknown): void {
    this.#isDamaged ||= isDamaged(error);
    const message = this.#source.hide(errorMessage(error));
    if (this.#trouble === message || this.#isClosed) return;
    this.#trouble = message;
    this.#send({ type: 'trouble', message });
  }

  #send(message: Message): void {
    for (const page of this.#pages) this.#sendTo(page, message);
  }

  #sendTo(page: ServerResponse, message: Message): void {
    if (page.writableLength > MAX_UNREAD_BYTES) page.destroy();
    else page.write(`${JSON.stringify(message)}\n`);
  }
}
