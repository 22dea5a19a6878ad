/** Writes events down with all that follows from them: the rows of their files, and what is to be done about each. */
import type { ActionKey } from '../ledger/actions.ts';
import type { EventRow, Source } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Parsed } from './parse.ts';
import type { Delivery } from './server.ts';

/** For which events an action is to be done. */
export interface Duty extends ActionKey {
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
    const { events, files, eventEffects, expectedEvents } = this.#ledger;
    const known = files.known(arrivals.map(({ parsed }) => parsed.audiofile));
    const last = events.lastId();
    const rows = arrivals.map((arrival, at) =>
      rowOf(last + 1 + at, arrival, known.get(arrival.parsed.audiofile)?.title),
    );
    events.add(rows);
    arrivals.forEach(({ source, parsed }, at) => {
      const row = rows[at] as EventRow;
      const file = known.get(parsed.audiofile);
      for (const each of parsed.files) if (each !== parsed.audiofile) events.addFile(row.id, each);
      if (source === 'received' && (file || !parsed.audiofile)) eventEffects.apply(parsed);
      if (source === 'received' && file?.found) rows[at] = this.#paired(row, file.found);
      if (source === 'found') expectedEvents.setSubstitute(parsed.audiofile, row.id);
      if (source !== 'test') this.#oblige(rows[at] as EventRow);
    });
    return rows;
  }

  /** A delivery whose file was found to be delivered before it came is the same completion. */
  #paired(row: EventRow, found: number): EventRow {
    const { id, event, audiofile } = row;
    if (
      event !== 'TRANSCRIPT_COMPLETE' ||
      !this.#ledger.expectedEvents.pairWithSubstitute(audiofile, found, id)
    )
      return row;
    return { ...row, twin: found };
  }

  #oblige({ id, source, event, twin }: EventRow): void {
    const { run, all, only } = this.#duties;
    const { actions } = this.#ledger;
    if (only.length && !only.includes(event)) return;
    for (const duty of all) {
      if (!duty.sources.includes(source) || !(duty.events?.includes(event) ?? true)) continue;
      // What is done for the event that was found is not done for its delivery again.
      if (twin === null || !actions.has(twin, duty)) actions.add(id, duty, run);
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
  twin: null,
});
