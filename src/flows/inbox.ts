/** Keeps what comes in, with what is to be done about it, before anyone is told that it came. */

import type { Source } from '../ledger/events.ts';
import type { Missed } from '../ledger/heard.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Action } from '../listen/action.ts';
import { HeardEvent } from '../listen/event.ts';
import { GroupCommit } from '../listen/group-commit.ts';
import { type Parsed, parseForm } from '../listen/parse.ts';
import type { Delivery } from '../listen/server.ts';

interface Expected {
  readonly type: string;
  readonly arrived: () => void;
}

export class Inbox {
  readonly commits: GroupCommit;
  readonly #ledger: Ledger;
  readonly #run: number;
  readonly #actions: readonly Action[];
  readonly #concerns: (event: string) => boolean;
  #expected: Expected | undefined;
  /** The highest number in this transaction, in which nobody else writes. */
  #last: number | undefined;

  /** `concerns` tells which events are to be acted on; all are kept. */
  constructor(ledger: Ledger, run: number, actions: readonly Action[], concerns: (event: string) => boolean) {
    this.commits = new GroupCommit((work) =>
      ledger.atomically(() => {
        this.#last = undefined;
        return work();
      }),
    );
    this.#ledger = ledger;
    this.#run = run;
    this.#actions = actions;
    this.#concerns = concerns;
  }

  async keep(delivery: Delivery): Promise<HeardEvent> {
    const parsed = parseForm(delivery.body);
    const test = this.#takeTest(parsed);
    const heard = await this.commits.add(() => this.#write(test ? 'test' : 'received', delivery, parsed));
    test?.arrived();
    return heard;
  }

  /** Writes down that a file is delivered though no event came; nothing if one came after all. */
  found({ id, order_id, url }: Missed): Promise<HeardEvent | undefined> {
    const fields = { event: 'TRANSCRIPT_COMPLETE', audiofile: id, order: order_id, originallink: url };
    const body = Buffer.from(new URLSearchParams(fields).toString());
    const made = { body, contentType: '', receivedAt: new Date().toISOString(), remote: '' };
    return this.commits.add(() =>
      this.#ledger.heard.settle(id) ? this.#write('found', made, parseForm(body)) : undefined,
    );
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

  #write(source: Source, delivery: Delivery, parsed: Parsed): HeardEvent {
    const { events, heard, actions } = this.#ledger;
    const id = (this.#last ?? events.last()) + 1;
    this.#last = id;
    const { audiofile } = parsed;
    const title = audiofile ? heard.titleOf(audiofile) : undefined;
    // Field by field, for this is done thousands of times a second.
    const row = {
      id,
      source,
      received_at: delivery.receivedAt,
      remote: delivery.remote,
      content_type: delivery.contentType,
      body: delivery.body,
      event: parsed.event,
      version: parsed.version,
      audiofile,
      order_id: parsed.order,
      title: title ?? null,
    };
    events.add(row, parsed.files);
    if (source === 'received' && (title !== undefined || !audiofile)) heard.note(parsed);
    if (source !== 'test' && this.#concerns(row.event)) {
      for (const action of this.#actions) if (action.concerns(row)) actions.add(id, action, this.#run);
    }
    return new HeardEvent(row);
  }
}
