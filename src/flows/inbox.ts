/** Keeps what comes in, with what is to be done about it, before anyone is told that it came. */

import type { NewEvent } from '../ledger/events.ts';
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

  /** `concerns` tells which events are to be acted on; all are kept. */
  constructor(ledger: Ledger, run: number, actions: readonly Action[], concerns: (event: string) => boolean) {
    this.commits = new GroupCommit((work) => ledger.atomically(work));
    this.#ledger = ledger;
    this.#run = run;
    this.#actions = actions;
    this.#concerns = concerns;
  }

  async keep({ receivedAt, remote, contentType, body }: Delivery): Promise<HeardEvent> {
    const parsed = parseForm(body);
    const test = this.#takeTest(parsed);
    const source = test ? ('test' as const) : ('received' as const);
    const event = { ...parsed, source, receivedAt, remote, contentType, body };
    const heard = await this.commits.add(() => this.#write(event, parsed));
    test?.arrived();
    return heard;
  }

  /** Writes down that a file is delivered though no event came; nothing if one came after all. */
  found({ id, order_id, url }: Missed): Promise<HeardEvent | undefined> {
    const fields = { event: 'TRANSCRIPT_COMPLETE', audiofile: id, order: order_id, originallink: url };
    const body = Buffer.from(new URLSearchParams(fields).toString());
    const receivedAt = new Date().toISOString();
    const made = { source: 'found' as const, receivedAt, remote: '', contentType: '', body };
    const parsed = parseForm(body);
    return this.commits.add(() =>
      this.#ledger.heard.settle(id) ? this.#write({ ...parsed, ...made }, parsed) : undefined,
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

  #write(event: NewEvent, details: Parsed): HeardEvent {
    const { events, heard, actions, files } = this.#ledger;
    const id = events.add(event);
    if (event.source === 'received') heard.note(event, details);
    if (event.source !== 'test' && this.#concerns(event.event)) {
      for (const action of this.#actions) if (action.concerns(event)) actions.add(id, action, this.#run);
    }
    const { receivedAt, contentType, order, ...rest } = event;
    const title = event.audiofile ? (files.get(event.audiofile)?.title ?? null) : null;
    return new HeardEvent({
      ...rest,
      id,
      received_at: receivedAt,
      content_type: contentType,
      order_id: order,
      title,
    });
  }
}
