/** Writes events down with all that follows from them: the rows of their files, and what is to be done about each. */
import type { Asked } from '../ledger/actions.ts';
import type { EventRow, Source } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Parsed } from './parse.ts';
import type { Delivery } from './server.ts';

/** For which events an action is to be done. */
export interface Duty extends Asked {
  readonly sources: readonly Source[];
  /** Absent: every event. */
  readonly events?: readonly string[];
}

export interface Duties {
  readonly run: number;
  readonly all: readonly Duty[];
  /** The events that are to be acted on; empty: all. */
  readonly only: readonly string[];
}

export interface Arrival {
  readonly source: Source;
  readonly delivery: Delivery;
  readonly parsed: Parsed;
}

export class Recorder {
  readonly #ledger: Ledger;
  readonly #duties: Duties;

  constructor(ledger: Ledger, duties: Duties) {
    this.#ledger = ledger;
    this.#duties = duties;
  }

  /** For use within a transaction, in which nobody else gives numbers. */
  write(arrivals: readonly Arrival[]): EventRow[] {
    const { events, heard } = this.#ledger;
    const titles = heard.titlesOf(arrivals.map(({ parsed }) => parsed.audiofile));
    const last = events.last();
    const rows = arrivals.map((arrival, at) =>
      rowOf(last + 1 + at, arrival, titles.get(arrival.parsed.audiofile)),
    );
    events.add(rows);
    arrivals.forEach(({ source, parsed }, at) => {
      const id = last + 1 + at;
      const isKnown = titles.has(parsed.audiofile) || !parsed.audiofile;
      for (const file of parsed.files) if (file !== parsed.audiofile) events.addFile(id, file);
      if (source === 'received' && isKnown) heard.note(parsed);
      if (source !== 'test') this.#oblige(id, source, parsed.event);
    });
    return rows;
  }

  #oblige(id: number, source: Source, event: string): void {
    const { run, all, only } = this.#duties;
    if (only.length && !only.includes(event)) return;
    for (const duty of all) {
      if (duty.sources.includes(source) && (duty.events?.includes(event) ?? true))
        this.#ledger.actions.add(id, duty, run);
    }
  }
}

/** Field by field, for this is done thousands of times a second. */
const rowOf = (id: number, { source, delivery, parsed }: Arrival, title: string | undefined): EventRow => ({
  id,
  source,
  received_at: delivery.receivedAt,
  remote: delivery.remote,
  content_type: delivery.contentType,
  body: delivery.body,
  event: parsed.event,
  version: parsed.version,
  audiofile: parsed.audiofile,
  order_id: parsed.order,
  title: title ?? null,
});
