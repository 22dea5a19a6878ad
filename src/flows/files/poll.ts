/** Asks the service about files until each has ended: pauses, the time limit, failures, and news from the ledger. */
import type { AudioFile } from '../../api/files.ts';
import { CallError } from '../../api/http/failures.ts';
import type { Transport } from '../../api/http/transport.ts';
import { findFileState } from '../../catalog/states.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import type { TableContext } from '../../ledger/table.ts';
import { POLL_PAUSE_MS } from '../../lib/defaults.ts';
import { StenoError } from '../../lib/errors.ts';
import { monotonicMs, sleep } from '../../lib/time.ts';
import { doEach, isServiceDown } from '../bulk.ts';
import { REFRESH_CONCURRENCY, refreshFile } from './refresh.ts';

export interface PollOptions {
  /** Milliseconds between two rounds; without it the pause starts short and grows. */
  readonly interval: number | undefined;
  /** Milliseconds after which polling ends, whatever is still open. */
  readonly timeout: number | undefined;
  readonly signal: AbortSignal;
}

export interface Polling {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  readonly notes?: LedgerNotes | undefined;
  readonly poll: PollOptions;
  /** The first poll of a file that fails ends it: nothing is known of it yet that could be waited for. */
  readonly failFast?: boolean;
  /** Work for a file that is delivered. If it fails and may work later, the file is polled again. */
  readonly onDelivered?: (id: string, file: AudioFile) => Promise<void>;
  /** Called with each file that was polled, and what it was before. */
  readonly onPolled?: (now: PolledFile, before: PolledFile | undefined) => void;
  /** Called after each round with all files that were polled so far, in the order asked. */
  readonly onRound?: (files: readonly PolledFile[]) => void | Promise<void>;
  /** Whether to stop although these files are still open. */
  readonly isEnough?: (open: readonly PolledFile[]) => boolean;
}

export interface PolledFile {
  readonly id: string;
  /** The latest answer, if there was one. */
  readonly file: AudioFile | undefined;
  /** Why the latest poll failed. */
  readonly error: StenoError | undefined;
  /** How many polls in a row have failed. */
  readonly failures: number;
  /** Another poll may bring something new. */
  readonly open: boolean;
  /** It was upgraded, and is in the state of its first delivery still. */
  readonly awaitsRework?: boolean;
}

const PAUSE_GROWTH = 1.4;
/** How often the ledger is read during a pause, for news from another process. */
const NEWS_INTERVAL_MS = 500;
/**
 * More files than this are polled in batches, so that the service gets at most 600 calls a minute, however many files
 * there are: a thousand take two minutes.
 */
const BATCH_SIZE = 50;
const BATCH_INTERVAL_MS = 5_500;
/** Where another process, `listen` mostly, brings news, all files are polled this seldom: an event may be lost. */
const ROUND_BESIDE_NEWS_MS = 600_000;
/** The last round comes this long before the time is over, so that it can still be answered. */
const LAST_ROUND_MS = 1_000;
/** How many polls of a file may fail in a row; more where the service has answered before. */
const FAILURE_LIMIT = { first: 5, later: 20 };

/** Gives the files in the order asked, and whether the time was over. */
export const pollFiles = (ids: readonly string[], polling: Polling) => new Poller(ids, polling).run();

class Poller {
  readonly #ids: readonly string[];
  readonly #polling: Polling;
  readonly #polled = new Map<string, PolledFile>();
  readonly #deadline: number;
  readonly #lastRoundMs: number;
  /** Upgraded files whose next delivery is waited for. */
  #awaitingRework = new Set<string>();
  #ledgerVersion: number | undefined;
  #newsAt = Number.NEGATIVE_INFINITY;

  constructor(ids: readonly string[], polling: Polling) {
    const { timeout = Number.POSITIVE_INFINITY } = polling.poll;
    this.#ids = ids;
    this.#polling = polling;
    this.#deadline = monotonicMs() + timeout;
    this.#lastRoundMs = Math.min(LAST_ROUND_MS, timeout / 5);
  }

  async run(): Promise<{ files: PolledFile[]; timedOut: boolean }> {
    const { interval, signal } = this.#polling.poll;
    this.#awaitingRework = new Set(await this.#stillAwaiting(this.#ids));
    await this.#poll(this.#ids);
    for (let pause = interval ?? POLL_PAUSE_MS.first; !this.#isOver(); ) {
      const left = this.#deadline - monotonicMs();
      const retryAfter = this.#retryAfterMs();
      if (Math.max(retryAfter, this.#lastRoundMs) >= left) {
        await sleep(Math.max(0, left), signal);
        return { files: this.#files(), timedOut: true };
      }
      // What the service asks for holds for news too.
      await sleep(retryAfter, signal);
      // Batches pause for themselves.
      if (!this.#pollsInBatches())
        await this.#pauseWithNews(Math.min(pause, left - this.#lastRoundMs) - retryAfter);
      if (!this.#isOver()) await this.#pollAll();
      if (interval === undefined) pause = Math.min(POLL_PAUSE_MS.max, Math.round(pause * PAUSE_GROWTH));
    }
    return { files: this.#files(), timedOut: false };
  }

  /** All that are open; many of them in batches, with news between two. */
  async #pollAll(): Promise<void> {
    const ids = this.#open().map(({ id }) => id);
    if (!this.#pollsInBatches()) return this.#poll(ids);
    for (let at = 0; at < ids.length && !this.#isOver(); at += BATCH_SIZE) {
      const startedAt = monotonicMs();
      const batch = ids.slice(at, at + BATCH_SIZE).filter((id) => this.#polled.get(id)?.open);
      await this.#poll(batch);
      const left = this.#deadline - this.#lastRoundMs - monotonicMs();
      if (left <= 0) return;
      const pause = this.#batchIntervalMs(ids.length) - (monotonicMs() - startedAt);
      await this.#pauseWithNews(Math.min(pause, left));
    }
  }

  #pollsInBatches(): boolean {
    return this.#polling.poll.interval === undefined && this.#open().length > BATCH_SIZE;
  }

  #batchIntervalMs(count: number): number {
    const hasNews = monotonicMs() - this.#newsAt < ROUND_BESIDE_NEWS_MS;
    return hasNews
      ? Math.max(BATCH_INTERVAL_MS, (ROUND_BESIDE_NEWS_MS * BATCH_SIZE) / count)
      : BATCH_INTERVAL_MS;
  }

  #files(): PolledFile[] {
    return this.#ids.flatMap((id) => this.#polled.get(id) ?? []);
  }

  #open(): PolledFile[] {
    return this.#files().filter(({ open }) => open);
  }

  #isOver(): boolean {
    const open = this.#open();
    return open.length === 0 || (this.#polling.isEnough?.(open) ?? false);
  }

  /** Lets a pause pass. Files that another process has news of, `listen` mostly, are polled meanwhile, and no others. */
  async #pauseWithNews(milliseconds: number): Promise<void> {
    const end = monotonicMs() + milliseconds;
    for (let left = milliseconds; left > 0 && !this.#isOver(); left = end - monotonicMs()) {
      await sleep(Math.min(NEWS_INTERVAL_MS, left), this.#polling.poll.signal);
      const ids = await this.#idsWithNews();
      if (ids.length === 0) continue;
      this.#newsAt = monotonicMs();
      await this.#poll(ids);
    }
  }

  async #idsWithNews(): Promise<readonly string[]> {
    const version = await this.#polling.ledger?.db.version();
    if (version === this.#ledgerVersion) return [];
    this.#ledgerVersion = version;
    const ids = this.#open().map(({ id }) => id);
    // Without the ledger the service is asked as often as before.
    return this.#ask((tables) => new Files(tables).withNews(ids), []);
  }

  /** Those of these files whose rework no process has seen begin. */
  #stillAwaiting(ids: Iterable<string>): Promise<ReadonlySet<string>> {
    return this.#ask((tables) => new Files(tables).awaitingRework([...ids]), new Set());
  }

  async #ask<Value>(read: (tables: TableContext) => Promise<Value>, otherwise: Value): Promise<Value> {
    const { ledger, notes } = this.#polling;
    if (notes) return notes.read(read, otherwise);
    return ledger ? read(ledger) : otherwise;
  }

  async #poll(ids: readonly string[]): Promise<void> {
    if (this.#awaitingRework.size)
      this.#awaitingRework = new Set(await this.#stillAwaiting(this.#awaitingRework));
    // Read before the calls: what another process writes during them is news.
    this.#ledgerVersion = await this.#polling.ledger?.db.version();
    // While the service is down, the rest of the round is not asked for.
    let down: StenoError | undefined;
    await doEach(ids, REFRESH_CONCURRENCY, String, async (id) => {
      const polled = down ? this.#failed(id, down) : await this.#pollOne(id);
      down = isServiceDown(polled.error) ? polled.error : undefined;
      this.#polling.onPolled?.(polled, this.#polled.get(id));
      this.#polled.set(id, polled);
    });
    await this.#polling.onRound?.(this.#files());
  }

  async #pollOne(id: string): Promise<PolledFile> {
    const { transport, ledger, notes, onDelivered } = this.#polling;
    let file: AudioFile | undefined;
    try {
      ({ file } = await refreshFile(transport, ledger, id, notes));
      const end = findFileState(file.state)?.end;
      const awaitsRework = end === 'delivered' && this.#awaitingRework.has(id);
      if (!end) this.#awaitingRework.delete(id);
      if (end === 'delivered' && !awaitsRework) await onDelivered?.(id, file);
      return { id, file, error: undefined, failures: 0, open: !end || awaitsRework, awaitsRework };
    } catch (error) {
      if (!(error instanceof StenoError) || error.kind === 'interrupted') throw error;
      return this.#failed(id, error, file);
    }
  }

  /** `file`: the answer, where it came and what was to be done with it failed. */
  #failed(id: string, error: StenoError, file?: AudioFile): PolledFile {
    const before = this.#polled.get(id);
    const failures = (before?.failures ?? 0) + 1;
    const isTransient = file ? mayPass(error) : !isRefusal(error);
    const open = isTransient && this.#mayFailAgain(failures, before?.file !== undefined && !file);
    const awaitsRework = !file && before?.awaitsRework === true;
    return { id, file: file ?? before?.file, error, failures, open, awaitsRework };
  }

  #mayFailAgain(failures: number, answeredBefore: boolean): boolean {
    if (this.#polling.failFast && !answeredBefore) return false;
    if (failures < (answeredBefore ? FAILURE_LIMIT.later : FAILURE_LIMIT.first)) return true;
    // Near the time limit, go on: then that is the reason to end, not the last error.
    return this.#deadline - monotonicMs() < POLL_PAUSE_MS.max;
  }

  /** The longest pause that the service asked for with Retry-After. */
  #retryAfterMs(): number {
    const asked = this.#open().map(({ error }) => (error instanceof CallError ? (error.retryAfter ?? 0) : 0));
    return asked.reduce((longest, each) => Math.max(longest, each), 0);
  }
}

const mayPass = (error: StenoError): boolean =>
  error.kind === 'timeout' || (error instanceof CallError && error.transient);

/** The service has said no, and will say so again. */
const isRefusal = (error: StenoError): boolean => {
  const { kind, status = 0 } = error;
  return kind === 'usage' || (status >= 400 && status < 500 && !mayPass(error));
};

/** Why a file is not delivered though the time is over. */
export function lateReason({ file, error, awaitsRework }: PolledFile): string {
  if (awaitsRework) return 'not delivered again since its upgrade';
  if (findFileState(file?.state ?? '')?.end === 'delivered') return `not downloaded: ${error?.message}`;
  if (file?.state) return `still '${file.state}'`;
  return `not delivered: ${file ? 'the service reports no state' : error?.message}`;
}

/** Tells each file as it is and whenever its state changes, until every file has ended. */
export async function watchFiles(
  transport: Transport,
  ledger: Ledger | undefined,
  ids: readonly string[],
  poll: PollOptions,
  onChange: (id: string, file: AudioFile) => Promise<void>,
): Promise<void> {
  const states = new Map<string, string>();
  const { files, timedOut } = await pollFiles(ids, {
    transport,
    ledger,
    poll,
    failFast: true,
    async onRound(polled) {
      for (const { id, file, error, open } of polled) {
        if (error && !open) throw error;
        if (!file || states.get(id) === file.state) continue;
        states.set(id, file.state);
        await onChange(id, file);
      }
    },
  });
  const late = timedOut && files.find(({ open }) => open);
  if (late) throw new StenoError('timeout', `time ran out: audiofile ${late.id}: ${lateReason(late)}`);
}
