/** Writes events to the ledger with all that follows from them: the rows of their files, and their actions. */
import type { ActionRule } from '../ledger/actions.ts';
import type { EventRow, Source } from '../ledger/events.ts';
import type { KnownFile } from '../ledger/files.ts';
import type { LedgerTables } from '../ledger/ledger-tables.ts';
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
  readonly #rules: RecorderRules;

  constructor(rules: RecorderRules) {
    this.#rules = rules;
  }

  /** The tables are those of a transaction. */
  async write(tables: LedgerTables, newEvents: readonly NewEvent[]): Promise<EventRow[]> {
    const { events, files } = tables;
    const known = await files.known(newEvents.map(({ parsed }) => parsed.audiofile));
    const ids = await events.newIds(newEvents.length);
    const rows = newEvents.map((newEvent, at) =>
      eventRow(Number(ids[at]), newEvent, known.get(newEvent.parsed.audiofile)?.title),
    );
    await events.add(rows);
    const written: EventRow[] = [];
    for (const [at, row] of rows.entries())
      written.push(await this.#apply(tables, row, newEvents[at] as NewEvent, known));
    return written;
  }

  /** What follows from an event that was just added. */
  async #apply(
    tables: LedgerTables,
    row: EventRow,
    { source, parsed, delivery }: NewEvent,
    known: ReadonlyMap<string, KnownFile>,
  ): Promise<EventRow> {
    const { events, eventEffects, expectedEvents } = tables;
    const file = known.get(parsed.audiofile);
    for (const id of parsed.files) if (id !== parsed.audiofile) await events.addFile(row.id, id);
    if (source === 'received' && (file || !parsed.audiofile)) await eventEffects.apply(parsed);
    if (source === 'found') await expectedEvents.setSubstitute(parsed.audiofile, row.id);
    const paired = source === 'received' && file?.found ? await pair(tables, row, file.found) : row;
    if (source !== 'test') await this.#addActions(tables, paired, file !== undefined, delivery.hops ?? '');
    return paired;
  }

  async #addActions(
    tables: LedgerTables,
    { id, source, event, twin, audiofile, order_id }: EventRow,
    knowsFile: boolean,
    hops: string,
  ): Promise<void> {
    const { run, actions: rules, only } = this.#rules;
    const { actions, files } = tables;
    if (rules.length === 0 || (only.length && !only.includes(event))) return;
    const isStranger = audiofile ? !knowsFile : !(await files.hasOrder(order_id));
    const about = { id, subject: audiofile || order_id, isStranger, hops };
    for (const rule of rules) {
      if (!rule.sources.includes(source) || (rule.events && !rule.events.includes(event))) continue;
      // What is done for the event that was found is not done again for its delivery.
      if (twin === null || !(await actions.has(twin, rule))) await actions.add(about, rule, run);
    }
  }
}

/** A delivery whose file was found to be delivered before it came is the same completion. */
async function pair({ expectedEvents }: LedgerTables, row: EventRow, found: number): Promise<EventRow> {
  const { id, event, audiofile } = row;
  if (event !== 'TRANSCRIPT_COMPLETE') return row;
  const isPaired = await expectedEvents.pairWithSubstitute(audiofile, found, id);
  return isPaired ? { ...row, twin: found } : row;
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
