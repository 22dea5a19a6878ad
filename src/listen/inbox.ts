/**
 * Keeps each delivery on disk before its sender gets an answer: in the ledger, together with the actions that it asks
 * for, or in the waiting place where the ledger can't take it at once.
 */

import { randomBytes } from 'node:crypto';
import { Batcher } from '../ledger/batcher.ts';
import type { EventRow } from '../ledger/events.ts';
import type { MissedFile } from '../ledger/file-watch.ts';
import { Runs } from '../ledger/runs.ts';
import type { Arrival, WaitingOwner } from '../ledger/waiting.ts';
import { errorMessage } from '../lib/errors.ts';
import { cutFormSignatures } from '../lib/signatures.ts';
import { plural } from '../lib/text.ts';
import { sleep } from '../lib/time.ts';
import { runInBackground } from './background.ts';
import { parseForm, ReceivedEvent } from './event.ts';
import { eventRow, Recorder } from './recorder.ts';
import type { Delivery } from './server.ts';
import type { SessionContext } from './session-run.ts';
import { movedNote, moveLeft, moveSlice } from './waiting-events.ts';

interface ExpectedTest {
  readonly type: string;
  readonly arrived: (isTest: boolean) => void;
}

/** How long a sender waits for a locked ledger; then it waits beside the ledger. */
const LOCK_WAIT_MS = 250;
/** In one commit: it holds up everything else for its length. */
const MAX_BATCH = 500;
const MAX_BATCH_BYTES = 2 * 1024 * 1024;
/** Between two tries to move waiting deliveries. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 10_000;
/** How often it is asked whether what waits has been moved. */
const MOVE_WAIT_MS = 20;

export class Inbox {
  readonly rawBodies: RawBodies;
  readonly #session: SessionContext;
  /** Events are in the ledger, and have their numbers. */
  readonly #onKept: () => void;
  readonly #recorder: Recorder;
  readonly #owner: WaitingOwner;
  readonly #batcher: Batcher<Arrival, undefined>;
  #arrivals = 0;
  #expected: ExpectedTest | undefined;
  /** How many deliveries of this session had to wait, and how many of them are in the ledger, as far as is known. */
  #put = 0;
  #moved = 0;
  /** Those up to this one were refused: they stay for the next listener. */
  #refusedUpTo = 0;
  #moving: Promise<void> | undefined;
  /** 0 while the ledger takes deliveries. */
  #pauseMs = 0;
  readonly #ending = new AbortController();

  constructor(session: SessionContext, onKept: () => void) {
    const { run, commits, plan } = session;
    this.#session = session;
    this.#onKept = onKept;
    this.rawBodies = new RawBodies(session.actions.some(({ kind }) => kind === 'forward'));
    const actions = session.actions.map(({ kind, target, events }) => ({
      ...{ kind, target },
      ...(events && { events }),
    }));
    const rules = { actions, only: plan.only };
    this.#owner = { id: randomBytes(9).toString('base64url'), rules };
    const expectsTest = (): boolean => this.#expected !== undefined;
    this.#recorder = new Recorder({ ...rules, commits, runId: () => run.id, expectsTest });
    this.#batcher = new Batcher({
      write: (arrivals) => this.#keepAll(arrivals),
      maxItems: MAX_BATCH,
      maxBytes: MAX_BATCH_BYTES,
      sizeOf: ({ body }) => body.byteLength,
    });
  }

  /** Resolves when the delivery is on disk, rejects if it can't be kept. */
  keep(received: Delivery): Promise<void> {
    const { kept, forwarded } = cleanDelivery(received, this.#session.resources.hide);
    this.#arrivals += 1;
    const id = `${this.#owner.id}-${this.#arrivals.toString(36)}`;
    // Whether it is the expected test needs the ledger, which may not work now.
    const mayBeTest = this.#expected !== undefined && parseForm(kept.body).event === this.#expected.type;
    if (forwarded) this.rawBodies.set(id, forwarded);
    const { body, contentType, receivedAt, remote, via } = kept;
    // Speed: to spread the delivery takes 4 µs.
    return this.#batcher.add({ id, receivedAt, remote, contentType, mayBeTest, via, body });
  }

  async #keepAll(arrivals: readonly Arrival[]): Promise<undefined[]> {
    const rows = await this.#write(arrivals).catch((error: unknown) => {
      for (const arrival of arrivals) this.#lose(arrival, error);
      throw error;
    });
    // What fails here does not concern the senders.
    runInBackground(() => this.#addEvents(rows), this.#session.onError);
    return [];
  }

  /** Gives the events that are in the ledger by now; the others wait. */
  async #write(arrivals: readonly Arrival[]): Promise<readonly EventRow[]> {
    const { ledger, commits, resources } = this.#session;
    commits.checkInPlace();
    let failure: unknown;
    // While others wait, all do: events keep their order. A network is never waited for.
    if (this.#inWaiting === 0 && !new Runs(ledger).areShared)
      try {
        return await this.#recorder.writeNew(arrivals, LOCK_WAIT_MS);
      } catch (error) {
        commits.checkInPlace();
        failure = error;
      }
    await resources.waiting.addEvents(this.#owner, arrivals);
    this.#put += arrivals.length;
    if (failure !== undefined) this.#noteFailure(failure);
    this.#startMoving();
    return [];
  }

  /** It could not be kept: its event has no number, and the service does not send it again. */
  #lose(delivery: Arrival, error: unknown): void {
    this.rawBodies.delete(delivery.id);
    const row = eventRow(0, { source: 'received', delivery, parsed: parseForm(delivery.body) });
    const { callbacks, tally } = this.#session;
    tally.lost += 1;
    callbacks.onWarning(`an event could not be saved and was answered with 503: ${errorMessage(error)}`);
    callbacks.onLost(new ReceivedEvent(row));
  }

  #startMoving(): void {
    if (this.#moving !== undefined) return;
    const moving = this.#move();
    this.#moving = moving;
    runInBackground(() => moving, this.#session.onError);
  }

  /** Once the session ends, it moves what is there at once, and gives up at the first failure. */
  async #move(): Promise<void> {
    const { signal } = this.#ending;
    for (let isOver = false; this.#inWaiting > 0 && !isOver; ) {
      await sleep(this.#pauseMs, signal).catch(() => {});
      await this.#moveSlice().catch((error: unknown) => {
        this.#noteFailure(error);
        isOver = signal.aborted;
      });
    }
    this.#moving = undefined;
  }

  async #moveSlice(): Promise<void> {
    const { resources, watch, callbacks } = this.#session;
    const before = this.#put;
    const slice = await moveSlice(resources.waiting, this.#owner, this.#recorder, this.#refusedUpTo);
    // Another process may have moved some of them, and more may have come meanwhile.
    this.#moved = slice ? Math.min(this.#put, this.#moved + slice.count) : before;
    if (this.#pauseMs > 0) watch.noteTaken();
    this.#pauseMs = 0;
    if (!slice) return;
    this.#refusedUpTo = slice.after;
    if (slice.refused > 0)
      callbacks.onWarning(
        `${plural(slice.refused, 'event')} could not be written to the ledger; saved on this machine, the next listen retries`,
      );
    this.#addEvents(slice.rows);
  }

  #noteFailure(error: unknown): void {
    if (this.#pauseMs === 0) this.#session.watch.noteRefused(error);
    this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2 || FIRST_PAUSE_MS);
  }

  /** Moves what listeners that are gone have left into the ledger; gives the number of events. */
  async moveLeft(): Promise<number> {
    const { commits, resources, callbacks, end } = this.#session;
    const options = { waiting: resources.waiting, signal: end.signal, onWarning: callbacks.onWarning };
    const moved = await moveLeft(commits, options);
    if (moved > 0) callbacks.onNote(movedNote(moved));
    return moved;
  }

  /** Moves what is kept into the ledger, and says where that stays which can't be moved. */
  async close(): Promise<void> {
    const { resources, callbacks } = this.#session;
    const { waiting } = resources;
    await this.#batcher.finish();
    this.#ending.abort();
    await this.#moving;
    const left = await waiting.count('event', this.#owner);
    waiting.close();
    if (left > 0)
      callbacks.onWarning(
        `${plural(left, 'event')} not in the ledger yet; saved in ${waiting.path}`,
        'the next steno listen or steno sync moves them to the ledger',
      );
  }

  /** After the ledger was replaced: these wait for the next listener. */
  saveAgain(rows: readonly EventRow[]): Promise<void> {
    const arrivals = rows.map((row) => ({
      ...{
        id: row.arrival ?? '',
        receivedAt: row.received_at,
        remote: row.remote,
        via: '',
        mayBeTest: false,
      },
      ...{ contentType: row.content_type, body: Buffer.from(row.body) },
    }));
    return this.#session.resources.waiting.addEvents(this.#owner, arrivals);
  }

  #addEvents(rows: readonly EventRow[]): void {
    for (const row of rows) {
      const isTest = row.source === 'test';
      if (isTest || row.event === this.#expected?.type) this.#expected?.arrived(isTest);
      if (isTest) this.#expected = undefined;
    }
    this.#onKept();
  }

  /** Keeps an event for a file that is delivered though no event came; false if one came after all. */
  async addFound(file: MissedFile): Promise<boolean> {
    // Its delivery may be among those that are on their way.
    const { signal } = this.#session.end;
    for (const before = this.#put; this.#moved < before; ) {
      if (this.#pauseMs > 0 || signal.aborted) return false;
      await sleep(MOVE_WAIT_MS, signal).catch(() => {});
    }
    return this.#recorder.writeFound(file);
  }

  get #inWaiting(): number {
    return this.#put - this.#moved;
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

export interface CleanDelivery {
  /** What is written: without the key, and without the signatures of links. */
  readonly kept: Delivery;
  /** The body that a live forward sends, without the key alone; undefined where it is the one that is kept. */
  readonly forwarded: Buffer | undefined;
}

/**
 * Takes secrets out of a delivery: whatever writes or forwards one takes it from here. `hide` masks the key. A delivery
 * that holds no secret is given back as it is, to the byte.
 */
export function cleanDelivery(received: Delivery, hide: (text: string) => string): CleanDelivery {
  const contentType = hide(received.contentType);
  const masked = maskBody(received.body, hide);
  const cut = cutFormSignatures(masked);
  // What stood on both sides of a signature could make up the key.
  const body = cut === masked ? masked : maskBody(cut, hide);
  const isClean = body === received.body && contentType === received.contentType;
  return {
    kept: isClean ? received : { ...received, contentType, body },
    forwarded: body === masked ? undefined : masked,
  };
}

function maskBody(body: Buffer, hide: (text: string) => string): Buffer {
  // One character a byte, so that bytes that are no UTF-8 stay what they are.
  const text = body.toString('latin1');
  const masked = hide(text);
  return masked === text ? body : Buffer.from(masked, 'latin1');
}

const MAX_RAW_BYTES = 16 * 1024 * 1024;

/**
 * Bodies as they came, of events that are kept without a signature: a forward in the same process sends these. They are
 * in memory only, and the oldest give way; a later forward sends what is kept.
 */
export class RawBodies {
  readonly #isForwarding: boolean;
  readonly #bodies = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(isForwarding: boolean) {
    this.#isForwarding = isForwarding;
  }

  /** Keeps the body of a delivery by the id that it got on arrival. */
  set(arrival: string, body: Uint8Array): void {
    if (!this.#isForwarding) return;
    this.#bodies.set(arrival, body);
    this.#bytes += body.byteLength;
    for (const [oldest] of this.#bodies) {
      if (this.#bytes <= MAX_RAW_BYTES) return;
      this.delete(oldest);
    }
  }

  get(arrival: string): Uint8Array | undefined {
    return this.#bodies.get(arrival);
  }

  delete(arrival: string): void {
    this.#bytes -= this.#bodies.get(arrival)?.byteLength ?? 0;
    this.#bodies.delete(arrival);
  }
}
