/** Keeps what comes in, with what is to be done about it, before anyone is told that it came. */
import type { EventRow } from '../ledger/events.ts';
import type { MissedFile } from '../ledger/expected-events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ReceivedEvent } from './event.ts';
import { GroupCommit } from './group-commit.ts';
import { type Parsed, parseForm } from './parse.ts';
import { type Arrival, type Duties, Recorder } from './recorder.ts';
import type { Delivery } from './server.ts';

/** Told when an event is kept, or why it is not. */
export interface Sender {
  readonly kept: (event: ReceivedEvent) => void;
  readonly failed: (error: unknown) => void;
}

interface Waiting extends Arrival {
  readonly sender: Sender;
  readonly test: Expected | undefined;
}

interface Expected {
  readonly type: string;
  readonly arrived: () => void;
}

export class Inbox {
  readonly commits: GroupCommit;
  readonly #ledger: Ledger;
  readonly #recorder: Recorder;
  #waiting: Waiting[] = [];
  #expected: Expected | undefined;

  constructor(ledger: Ledger, duties: Duties) {
    this.#ledger = ledger;
    this.#recorder = new Recorder(ledger, duties);
    this.commits = new GroupCommit((work) => ledger.transaction(work));
  }

  keep(delivery: Delivery, sender: Sender): void {
    let waiting: Waiting;
    try {
      const parsed = parseForm(delivery.body);
      const test = this.#takeTest(parsed);
      waiting = { source: test ? 'test' : 'received', delivery, parsed, sender, test };
    } catch (error) {
      return void sender.failed(error);
    }
    if (this.#waiting.push(waiting) === 1) void this.#write();
  }

  /** Whatever has come in by the time of the commit is written together. */
  async #write(): Promise<void> {
    let batch: readonly Waiting[] | undefined;
    let rows: readonly EventRow[];
    try {
      rows = await this.commits.add(() => {
        batch ??= this.#waiting.splice(0);
        return this.#recorder.write(batch);
      });
    } catch (error) {
      for (const { sender } of batch ?? this.#waiting.splice(0)) sender.failed(error);
      return;
    }
    batch?.forEach(({ sender, test }, at) => {
      sender.kept(new ReceivedEvent(rows[at] as EventRow));
      test?.arrived();
    });
  }

  /** Writes down that a file is delivered though no event came; nothing if one came after all. */
  async found({ id, order_id, url }: MissedFile): Promise<ReceivedEvent | undefined> {
    const fields = { event: 'TRANSCRIPT_COMPLETE', audiofile: id, order: order_id, originallink: url };
    const body = Buffer.from(new URLSearchParams(fields).toString());
    const delivery = { body, contentType: '', receivedAt: new Date().toISOString(), remote: '' };
    const arrival = { source: 'found' as const, delivery, parsed: parseForm(body) };
    const row = await this.commits.add(() =>
      this.#ledger.expectedEvents.stopExpecting(id) ? this.#recorder.write([arrival])[0] : undefined,
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

  /** A test is about a file and an order that nobody ordered here. */
  #takeTest({ event, audiofile, order }: Parsed): Expected | undefined {
    const expected = this.#expected;
    if (expected?.type !== event) return undefined;
    const { files } = this.#ledger;
    if (files.get(audiofile) || files.ofOrder(order).length) return undefined;
    this.#expected = undefined;
    return expected;
  }
}
