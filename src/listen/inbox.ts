/** Keeps each delivery in the ledger, with the actions that it asks for, before its sender gets an answer. */
import type { EventRow } from '../ledger/events.ts';
import type { MissedFile } from '../ledger/expected-events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { cleanDelivery } from './clean-delivery.ts';
import { ReceivedEvent } from './event.ts';
import { GroupCommit } from './group-commit.ts';
import { type ParsedForm, parseForm } from './parse.ts';
import { RawBodies } from './raw-bodies.ts';
import { eventRow, type NewEvent, Recorder, type RecorderRules } from './recorder.ts';
import type { Delivery } from './server.ts';
import { type OnError, runInBackground } from './timers.ts';

interface KeepCallbacks {
  readonly onKept: (event: ReceivedEvent) => void;
  /** Gets the event without a number, because the service does not send it again. */
  readonly onFailed: (error: unknown, event: ReceivedEvent) => void;
}

interface WaitingDelivery extends NewEvent {
  readonly callbacks: KeepCallbacks;
  readonly test: ExpectedTest | undefined;
  /** The body that is forwarded, where a signature was cut out of what is kept. */
  readonly raw: Uint8Array | undefined;
}

interface ExpectedTest {
  readonly type: string;
  readonly arrived: () => void;
}

export class Inbox {
  /** Every write of the session goes through it. */
  readonly commits: GroupCommit;
  readonly rawBodies: RawBodies;
  readonly #ledger: Ledger;
  readonly #recorder: Recorder;
  readonly #hide: (text: string) => string;
  readonly #onError: OnError;
  #waiting: WaitingDelivery[] = [];
  #expected: ExpectedTest | undefined;

  /** `hide` masks the key. */
  constructor(ledger: Ledger, rules: RecorderRules, hide: (text: string) => string, onError: OnError) {
    this.#ledger = ledger;
    this.#recorder = new Recorder(ledger, rules);
    this.#hide = hide;
    this.#onError = onError;
    this.rawBodies = new RawBodies(rules.actions.filter(({ kind }) => kind === 'forward').length);
    this.commits = new GroupCommit((work) => {
      ledger.checkInPlace();
      return ledger.transaction(work);
    });
  }

  keep(received: Delivery, callbacks: KeepCallbacks): void {
    const { kept: delivery, forwarded: raw } = cleanDelivery(received, this.#hide);
    const parsed = parseForm(delivery.body);
    let test: ExpectedTest | undefined;
    try {
      test = this.#takeTest(parsed);
    } catch (error) {
      const event = unkeptEvent({ source: 'received', delivery, parsed });
      return void callbacks.onFailed(error, event);
    }
    const source = test ? 'test' : 'received';
    if (this.#waiting.push({ source, delivery, parsed, callbacks, test, raw }) === 1)
      runInBackground(() => this.#writeWaiting(), this.#onError);
  }

  /** Takes what has come in by the time of the commit: many rows in one statement cost less than one by one. */
  async #writeWaiting(): Promise<void> {
    let batch: readonly WaitingDelivery[] | undefined;
    let rows: readonly EventRow[];
    const held = new Set<number>();
    try {
      rows = await this.commits.add(() => {
        batch ??= this.#waiting.splice(0);
        const written = this.#recorder.write(batch);
        // Within the transaction: its end may wake the queue of a forward before this goes on.
        this.#holdRaw(batch, written, held);
        return written;
      });
    } catch (error) {
      for (const n of held) this.rawBodies.delete(n);
      for (const each of batch ?? this.#waiting.splice(0)) each.callbacks.onFailed(error, unkeptEvent(each));
      return;
    }
    batch?.forEach(({ callbacks, test }, at) => {
      callbacks.onKept(new ReceivedEvent(rows[at] as EventRow));
      test?.arrived();
    });
  }

  /** A transaction may be tried again, with other numbers. */
  #holdRaw(batch: readonly WaitingDelivery[], rows: readonly EventRow[], held: Set<number>): void {
    for (const n of held) this.rawBodies.delete(n);
    held.clear();
    batch.forEach(({ raw }, at) => {
      const n = rows[at]?.id;
      if (!raw || n === undefined) return;
      this.rawBodies.set(n, raw);
      held.add(n);
    });
  }

  /** Keeps an event for a file that is delivered though no event came; undefined if one came after all. */
  async addFound({ id, order_id, url }: MissedFile): Promise<ReceivedEvent | undefined> {
    const fields = { event: 'TRANSCRIPT_COMPLETE', audiofile: id, order: order_id, originallink: url };
    const body = Buffer.from(new URLSearchParams(fields).toString());
    const delivery = { body, contentType: '', receivedAt: new Date().toISOString(), remote: '' };
    const newEvent = { source: 'found' as const, delivery, parsed: parseForm(body) };
    const row = await this.commits.add(() =>
      this.#ledger.expectedEvents.stopExpecting(id) ? this.#recorder.write([newEvent])[0] : undefined,
    );
    return row && new ReceivedEvent(row);
  }

  /** Resolves when the test delivery that was asked for comes in; it leads to no action. */
  expectTest(type: string): Promise<void> {
    return new Promise((arrived) => {
      this.#expected = { type, arrived };
    });
  }

  expectNoTest(): void {
    this.#expected = undefined;
  }

  /** A test is about a file and an order that the ledger does not know. */
  #takeTest({ event, audiofile, order }: ParsedForm): ExpectedTest | undefined {
    const expected = this.#expected;
    if (expected?.type !== event) return undefined;
    const { files } = this.#ledger;
    if (files.get(audiofile) || files.ofOrder(order).length) return undefined;
    this.#expected = undefined;
    return expected;
  }
}

const unkeptEvent = (newEvent: NewEvent): ReceivedEvent => new ReceivedEvent(eventRow(0, newEvent));
