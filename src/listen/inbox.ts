/**
 * Keeps each delivery on disk before its sender gets an answer: in the ledger, together with the actions that it asks
 * for, or in the spool where the ledger can't take it at once.
 */
import { randomBytes } from 'node:crypto';
import { Duties } from '../ledger/duties.ts';
import { type EventRow, Events } from '../ledger/events.ts';
import { ExpectedEvents, type MissedFile } from '../ledger/expected-events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Arrival, Spool, SpoolOwner } from '../ledger/spool.ts';
import { nowMs } from '../lib/clock.ts';
import { errorMessage } from '../lib/errors.ts';
import { countStreamedBytes, limitHeapGrowth } from '../lib/memory.ts';
import { plural } from '../lib/text.ts';
import { ArrivalWriter } from './arrival-writer.ts';
import { cleanDelivery } from './clean-delivery.ts';
import { completeForm, ReceivedEvent } from './event.ts';
import { type GroupCommit, reopeningCommits } from './group-commit.ts';
import { parseForm } from './parse.ts';
import { RawBodies } from './raw-bodies.ts';
import { eventRow, Recorder, type RecorderRules } from './recorder.ts';
import type { Delivery } from './server.ts';
import { movedNote, moveLeft, SpoolMover } from './spool-mover.ts';
import { type OnError, runInBackground } from './timers.ts';
import { BACK_TEXT, type LedgerWatch, waitingText } from './warnings.ts';

interface InboxOptions {
  readonly ledger: Ledger;
  readonly spool: Spool;
  readonly rules: RecorderRules;
  /** Whether the ledger knows of this session; else `begin` comes first, as in one that was put in its place. */
  readonly isBegun: boolean;
  readonly begin: () => Promise<void>;
  readonly watch: LedgerWatch;
  /** Masks the key. */
  readonly hide: (text: string) => string;
  /** The event is in the ledger, and has its number. */
  readonly onEvent: (event: ReceivedEvent) => void;
  /** A delivery could not be kept: its event has no number, and the service does not send it again. */
  readonly onLost: (error: unknown, event: ReceivedEvent) => void;
  readonly onNote: (text: string) => void;
  readonly onWarning: (text: string, hint?: string) => void;
  readonly onError: OnError;
}

interface ExpectedTest {
  readonly type: string;
  readonly arrived: (isTest: boolean) => void;
}

interface Waiting {
  readonly arrival: Arrival;
  readonly done: (error?: unknown) => void;
}

/** How long a sender waits for a locked ledger; then the spool takes its delivery. */
const LOCK_WAIT_MS = 250;
/** In one commit: it holds up everything else for its length. */
const MAX_BATCH = 500;
const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** From then on the heap is kept small. */
const MANY_ARRIVALS = 10_000;

export class Inbox {
  /** Every write of the session to the ledger goes through it. */
  readonly commits: GroupCommit;
  readonly rawBodies: RawBodies;
  readonly #options: InboxOptions;
  readonly #recorder: Recorder;
  readonly #writer: ArrivalWriter;
  readonly #owner: SpoolOwner;
  readonly #mover: SpoolMover;
  #arrivals = 0;
  #waiting: Waiting[] = [];
  #keeping: Promise<void> | undefined;
  #expected: ExpectedTest | undefined;
  /** Nothing else says it. */
  #saysWhenOver = false;

  constructor(options: InboxOptions) {
    const { rules, spool } = options;
    const { actions, only } = rules;
    this.#options = options;
    this.rawBodies = new RawBodies(actions.filter(({ kind }) => kind === 'forward').length);
    this.commits = reopeningCommits({ ...options, onCommitted: () => options.watch.noteSuccess() });
    this.#recorder = new Recorder(rules);
    const kept = actions.map(({ kind, target, sources, events }) => ({
      ...{ kind, target, sources },
      ...(events && { events }),
    }));
    this.#owner = { id: randomBytes(9).toString('base64url'), rules: { actions: kept, only } };
    this.#writer = new ArrivalWriter({
      commits: this.commits,
      recorder: this.#recorder,
      expectsTest: () => this.#expected !== undefined,
    });
    this.#mover = new SpoolMover(spool, this.#owner, this.#writer, {
      onMoved: (rows) => this.#addEvents(rows),
      onTrouble: (error) => this.#noteTrouble(error),
      onTroubleOver: () => this.#noteTroubleOver(),
      onRefused: (count) =>
        options.onWarning(
          `${plural(count, 'event')} could not be written to the ledger: kept in the spool; the next listen retries`,
        ),
      onError: options.onError,
    });
  }

  /** Calls back when the delivery is on disk, or with the error if it can't be kept. */
  keep(received: Delivery, done: (error?: unknown) => void): void {
    const { kept, forwarded } = cleanDelivery(received, this.#options.hide);
    // Of a large body, cleaning leaves copies behind.
    countStreamedBytes(2 * received.body.length);
    this.#arrivals += 1;
    if (this.#arrivals > MANY_ARRIVALS) limitHeapGrowth();
    const id = `${this.#owner.id}-${this.#arrivals.toString(36)}`;
    const { receivedAt, remote, contentType, hops = '', body } = kept;
    const mayBeTest = this.#mayBeTest(kept);
    this.#waiting.push({ arrival: { id, receivedAt, remote, contentType, mayBeTest, hops, body }, done });
    if (forwarded) this.rawBodies.set(id, forwarded);
    if (this.#keeping !== undefined) return;
    const keeping = this.#keepAll();
    this.#keeping = keeping;
    runInBackground(() => keeping, this.#options.onError);
  }

  async #keepAll(): Promise<void> {
    while (this.#waiting.length) {
      // Requests that have arrived by then come into the same commit.
      await new Promise(setImmediate);
      await this.#keepBatch(this.#takeBatch());
    }
    this.#keeping = undefined;
  }

  #takeBatch(): Waiting[] {
    let bytes = 0;
    const end = this.#waiting.findIndex(({ arrival: { body } }, at) => {
      bytes += body.byteLength;
      return at > 0 && (at >= MAX_BATCH || bytes > MAX_BATCH_BYTES);
    });
    return this.#waiting.splice(0, end < 0 ? this.#waiting.length : end);
  }

  async #keepBatch(batch: readonly Waiting[]): Promise<void> {
    const arrivals = batch.map(({ arrival }) => arrival);
    let rows: readonly EventRow[] = [];
    let failure: unknown;
    try {
      rows = await this.#write(arrivals);
    } catch (error) {
      failure = error;
    }
    for (const { done } of batch) done(failure);
    this.#addEvents(rows);
    if (failure !== undefined) for (const arrival of arrivals) this.#lose(arrival, failure);
  }

  /** Gives the events that are in the ledger by now; the others are in the spool. */
  async #write(arrivals: readonly Arrival[]): Promise<readonly EventRow[]> {
    const { ledger, spool } = this.#options;
    let failure: unknown;
    // While the spool is not empty, all go there: events keep their order. A network is never waited for.
    if (this.#mover.pending === 0 && !new Duties(ledger).areShared)
      try {
        return await this.#writer.writeNew(arrivals, LOCK_WAIT_MS);
      } catch (error) {
        failure = error;
      }
    await spool.append(this.#owner, arrivals);
    this.#mover.add(arrivals.length, failure);
    return [];
  }

  #lose(delivery: Arrival, error: unknown): void {
    this.rawBodies.delete(delivery.id);
    const row = eventRow(0, 0, { source: 'received', delivery, parsed: parseForm(delivery.body) });
    this.#options.onLost(error, new ReceivedEvent(row));
  }

  /** Whether it is one needs the ledger, which may not work now. */
  #mayBeTest({ body }: Delivery): boolean {
    return this.#expected !== undefined && parseForm(body).event === this.#expected.type;
  }

  #noteTrouble(error: unknown): void {
    const { watch, onWarning } = this.#options;
    this.#saysWhenOver = !watch.noteFailure(error);
    if (this.#saysWhenOver) onWarning(waitingText(errorMessage(error)));
  }

  #noteTroubleOver(): void {
    if (this.#saysWhenOver) this.#options.onNote(BACK_TEXT);
  }

  /** Shows other processes that what is in the spool is seen to. */
  async touch(): Promise<void> {
    if (this.#mover.pending > 0) await this.#options.spool.touch(this.#owner);
  }

  /** Moves what listeners that are gone have left into the ledger; gives the number of events. */
  async moveLeft(signal: AbortSignal): Promise<number> {
    const { commits } = this;
    const moved = await moveLeft({ ...this.#options, commits, signal });
    if (moved > 0) this.#options.onNote(movedNote(moved));
    return moved;
  }

  /** Moves what is kept into the ledger, and says where that stays which can't be moved. */
  async close(): Promise<void> {
    const { spool, onWarning } = this.#options;
    await this.#keeping;
    await this.#mover.finish();
    const left = this.#mover.pending > 0 || spool.exists ? await spool.count(this.#owner) : 0;
    spool.close();
    if (left > 0)
      onWarning(
        `${plural(left, 'event')} not in the ledger yet: kept in ${spool.path}`,
        'the next steno listen or steno sync moves them there',
      );
  }

  #addEvents(rows: readonly EventRow[]): void {
    for (const row of rows) {
      const isTest = row.source === 'test';
      if (isTest || row.event === this.#expected?.type) this.#expected?.arrived(isTest);
      if (isTest) this.#expected = undefined;
      this.#options.onEvent(new ReceivedEvent(row));
    }
  }

  /** Keeps an event for a file that is delivered though no event came; undefined if one came after all. */
  async addFound(file: MissedFile): Promise<ReceivedEvent | undefined> {
    // Its delivery may be among those that are on their way.
    if (this.#mover.pending > 0) return undefined;
    const body = completeForm(file);
    const delivery = { body, contentType: '', receivedAt: new Date(nowMs()).toISOString(), remote: '' };
    const newEvent = { source: 'found' as const, delivery, parsed: parseForm(body) };
    const row = await this.commits.add(async (tables) => {
      await new Events(tables).lock();
      if (!(await new ExpectedEvents(tables).stopExpecting(file.id))) return undefined;
      return (await this.#recorder.write(tables, [newEvent]))[0];
    });
    return row && new ReceivedEvent(row);
  }

  /**
   * Resolves with true when the test delivery that was asked for is in the ledger, which leads to no action; with false
   * when another one of the same type is.
   */
  expectTest(type: string): Promise<boolean> {
    return new Promise((arrived) => {
      this.#expected = { type, arrived };
    });
  }
}
