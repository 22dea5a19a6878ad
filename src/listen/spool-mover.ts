/** Moves deliveries from the spool into the ledger: those of this listener, and those of listeners that are gone. */
import type { EventRow } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { readMoved } from '../ledger/moved.ts';
import type { Spool, SpoolOwner } from '../ledger/spool.ts';
import { countStreamedBytes } from '../lib/memory.ts';
import { sleep } from '../lib/sleep.ts';
import { plural } from '../lib/text.ts';
import { ArrivalWriter } from './arrival-writer.ts';
import { durableCommits, type GroupCommit } from './group-commit.ts';
import { Recorder } from './recorder.ts';
import { type OnError, runInBackground } from './timers.ts';

export interface MoverCallbacks {
  readonly onMoved: (rows: readonly EventRow[]) => void;
  /** The ledger can't take deliveries. */
  readonly onTrouble: (error: unknown) => void;
  /** It can again. */
  readonly onTroubleOver: () => void;
  /** This many can't be written though others can. */
  readonly onRefused: (count: number) => void;
  readonly onError: OnError;
}

const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;

/** Moves what this listener has put into the spool. */
export class SpoolMover {
  readonly #spool: Spool;
  readonly #owner: SpoolOwner;
  readonly #writer: ArrivalWriter;
  readonly #callbacks: MoverCallbacks;
  readonly #ending = new AbortController();
  /** Deliveries up to this one were refused: they stay for the next listener. */
  #refusedUpTo = 0;
  #pauseMs = 0;
  #running: Promise<void> | undefined;
  /** How many deliveries are not in the ledger, as far as is known. */
  pending = 0;

  constructor(spool: Spool, owner: SpoolOwner, writer: ArrivalWriter, callbacks: MoverCallbacks) {
    this.#spool = spool;
    this.#owner = owner;
    this.#writer = writer;
    this.#callbacks = callbacks;
  }

  /** So many more are in the spool. `error`: why the ledger has not taken them. */
  add(count: number, error?: unknown): void {
    this.pending += count;
    if (error !== undefined && this.#pauseMs === 0) this.#noteFailure(error);
    if (this.#running !== undefined) return;
    const running = this.#run();
    this.#running = running;
    runInBackground(() => running, this.#callbacks.onError);
  }

  /** Moves what is there at once, and gives up at the first failure. */
  async finish(): Promise<void> {
    this.#ending.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    try {
      while (this.pending > 0) {
        // The end of the session cuts it short.
        await sleep(this.#pauseMs, signal).catch(() => {});
        if (!(await this.#moveSlice()) && signal.aborted) return;
      }
    } finally {
      this.#running = undefined;
    }
  }

  /** False if it failed. */
  async #moveSlice(): Promise<boolean> {
    try {
      const before = this.pending;
      const slice = await moveSlice(this.#spool, this.#owner, this.#writer, this.#refusedUpTo);
      // Another process may have moved some of them, and more may have come meanwhile.
      this.pending = Math.max(0, this.pending - (slice.isLast ? before : slice.count));
      this.#refusedUpTo = slice.refusedUpTo;
      this.#noteSuccess(slice.refused);
      this.#callbacks.onMoved(slice.rows);
      return true;
    } catch (error) {
      this.#noteFailure(error);
      return false;
    }
  }

  #noteFailure(error: unknown): void {
    if (this.#pauseMs === 0) this.#callbacks.onTrouble(error);
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2 || FIRST_PAUSE_MS);
  }

  #noteSuccess(refused: number): void {
    if (this.#pauseMs > 0) this.#callbacks.onTroubleOver();
    this.#pauseMs = 0;
    if (refused > 0) this.#callbacks.onRefused(refused);
  }
}

interface MovedSlice {
  readonly rows: readonly EventRow[];
  readonly count: number;
  readonly refused: number;
  readonly refusedUpTo: number;
  /** There were no more. */
  readonly isLast: boolean;
}

async function moveSlice(
  spool: Spool,
  owner: SpoolOwner,
  writer: ArrivalWriter,
  after: number,
): Promise<MovedSlice> {
  const { arrivals, last } = await spool.next(owner, after);
  const count = arrivals.length;
  if (count === 0) return { rows: [], count, refused: 0, refusedUpTo: after, isLast: true };
  const { rows, refused } = await writer.writeMissing(arrivals);
  const stay = new Set(refused);
  await spool.remove(arrivals.filter((arrival) => !stay.has(arrival)));
  for (const { body } of arrivals) countStreamedBytes(body.length);
  return { rows, count, refused: stay.size, refusedUpTo: stay.size ? last : after, isLast: false };
}

export interface LeftOptions {
  /** Every commit of it is durable. */
  readonly commits: GroupCommit;
  readonly spool: Spool;
  /** Ends it after the commit that is under way. */
  readonly signal: AbortSignal;
  readonly onWarning: (text: string) => void;
}

/** Moves what listeners that are gone have left; gives the number of deliveries that are in the ledger by this. */
export const moveLeft = async (options: LeftOptions): Promise<number> =>
  moveAll(await options.spool.left(), options);

async function moveAll(left: readonly SpoolOwner[], options: LeftOptions): Promise<number> {
  let moved = 0;
  for (const owner of left) moved += await moveAllOf(owner, options);
  return moved;
}

/** The same for a command that receives nothing; it opens a connection only if there is something to move. */
export async function moveLeftInto(ledger: Ledger, options: Omit<LeftOptions, 'commits'>): Promise<number> {
  const { spool } = options;
  try {
    // In one that has moved they would be forgotten: they wait for a command that uses the shared ledger.
    const left = (await readMoved(ledger)) ? [] : await spool.left();
    if (left.length === 0) return 0;
    const synced = await ledger.openSecondConnection();
    try {
      return await moveAll(left, { ...options, commits: durableCommits(synced) });
    } finally {
      await synced.close();
    }
  } finally {
    spool.close();
  }
}

/** What its own listener was asked for is done and shown by one that is asked for the same. */
async function moveAllOf(owner: SpoolOwner, options: LeftOptions): Promise<number> {
  const { commits, spool, signal, onWarning } = options;
  const { actions, only } = owner.rules;
  const recorder = new Recorder({ run: 0, actions, only });
  // The listener that asked for a test is gone: what may be one is shown like the others.
  const writer = new ArrivalWriter({ commits, recorder, expectsTest: () => false });
  let moved = 0;
  let refused = 0;
  for (let after = 0; !signal.aborted; ) {
    const slice = await moveSlice(spool, owner, writer, after);
    if (slice.isLast) break;
    moved += slice.rows.length;
    refused += slice.refused;
    after = slice.refusedUpTo;
  }
  if (refused > 0)
    onWarning(`${plural(refused, 'event')} can't be written to the ledger: kept in ${spool.path}`);
  return moved;
}

/** What a person is told. */
export const movedNote = (moved: number): string =>
  `${plural(moved, 'event')} of listeners that broke off ${moved === 1 ? 'is' : 'are'} in the ledger now`;
