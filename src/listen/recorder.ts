/** Writes events to the ledger with all that follows from them: the rows of their files, and their actions. */
import type { ActionRule } from '../ledger/actions.ts';
import type { EventRow, Source } from '../ledger/events.ts';
import type { KnownFile } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ParsedForm } from './parse.ts';
import type { Delivery } from './server.ts';

export interface RecorderRules {
  readonly run: number;
  readonly actions: readonly ActionRule[];
  /** The events that are acted on; empty: all. */
  readonly only: readonly string[];
}

export interface NewEvent {
  readonly source: Source;
  readonly delivery: Delivery;
  readonly parsed: ParsedForm;
  /** Of a delivery: the id that it got when it came in. */
  readonly arrival?: string;
}

export class Recorder {
  readonly #ledger: Ledger;
  readonly #rules: RecorderRules;

  constructor(ledger: Ledger, rules: RecorderRules) {
    this.#ledger = ledger;
    this.#rules = rules;
  }

  /** For use within a transaction: meanwhile no other process gives numbers. */
  write(newEvents: readonly NewEvent[]): EventRow[] {
    const { events, files } = this.#ledger;
    const known = files.known(newEvents.map(({ parsed }) => parsed.audiofile));
    const last = events.lastId();
    const rows = newEvents.map((newEvent, at) =>
      eventRow(last + 1 + at, newEvent, known.get(newEvent.parsed.audiofile)?.title),
    );
    events.add(rows);
    return rows.map((row, at) => this.#apply(row, newEvents[at] as NewEvent, known));
  }

  /** What follows from an event that was just added. */
  #apply(
    row: EventRow,
    { source, parsed, delivery }: NewEvent,
    known: ReadonlyMap<string, KnownFile>,
  ): EventRow {
    const { events, eventEffects, expectedEvents } = this.#ledger;
    const file = known.get(parsed.audiofile);
    for (const id of parsed.files) if (id !== parsed.audiofile) events.addFile(row.id, id);
    if (source === 'received' && (file || !parsed.audiofile)) eventEffects.apply(parsed);
    if (source === 'found') expectedEvents.setSubstitute(parsed.audiofile, row.id);
    const paired = source === 'received' && file?.found ? this.#pair(row, file.found) : row;
    if (source !== 'test') this.#addActions(paired, file !== undefined, delivery.hops ?? '');
    return paired;
  }

  /** A delivery whose file was found to be delivered before it came is the same completion. */
  #pair(row: EventRow, found: number): EventRow {
    const { id, event, audiofile } = row;
    if (event !== 'TRANSCRIPT_COMPLETE') return row;
    const isPaired = this.#ledger.expectedEvents.pairWithSubstitute(audiofile, found, id);
    return isPaired ? { ...row, twin: found } : row;
  }

  #addActions(
    { id, source, event, twin, audiofile, order_id }: EventRow,
    knowsFile: boolean,
    hops: string,
  ): void {
    const { run, actions: rules, only } = this.#rules;
    const { actions, files } = this.#ledger;
    if (rules.length === 0 || (only.length && !only.includes(event))) return;
    const isStranger = audiofile ? !knowsFile : !files.hasOrder(order_id);
    const about = { id, subject: audiofile || order_id, isStranger, hops };
    for (const rule of rules) {
      if (!rule.sources.includes(source) || (rule.events && !rule.events.includes(event))) continue;
      // What is done for the event that was found is not done again for its delivery.
      if (twin === null || !actions.has(twin, rule)) actions.add(about, rule, run);
    }
  }
}

export const eventRow = (
  id: number,
  { source, delivery, parsed, arrival }: NewEvent,
  title?: string | undefined,
): EventRow => ({
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
  arrival: arrival ?? null,
});
