/** Writes events to the ledger with all that follows from them: the rows of their files, and their actions. */
import { type ActionRule, Actions } from '../ledger/actions.ts';
import { EventEffects } from '../ledger/event-effects.ts';
import { type EventRow, Events, type Source } from '../ledger/events.ts';
import { ExpectedEvents } from '../ledger/expected-events.ts';
import { Files, type KnownFile } from '../ledger/files.ts';
import { type NewAction, NewActions } from '../ledger/new-actions.ts';
import { Runs } from '../ledger/runs.ts';
import type { TableContext } from '../ledger/table.ts';
import type { ParsedForm } from './parse.ts';
import type { Delivery } from './server.ts';

export interface RecorderRules {
  /** The session that has to show and act on what is written; 0: one that has ended, made with each transaction. */
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

  get run(): number {
    return this.#rules.run;
  }

  /**
   * The tables are those of a transaction. Over a network, statements that are not awaited one by one share a round trip:
   * so each step is done for all events, in their order.
   */
  async write(tables: TableContext, newEvents: readonly NewEvent[]): Promise<EventRow[]> {
    const events = new Events(tables);
    const files = new Files(tables);
    const [, known, ids] = await Promise.all([
      events.lock(),
      files.known(newEvents.map(({ parsed }) => parsed.audiofile)),
      events.newIds(newEvents.length),
    ]);
    // In the same transaction: who takes over a session that has ended finds all of its events.
    const run = this.run || (newEvents.length && (await new Runs(tables).addEnded(this.#rules.only)));
    const added = newEvents.map((newEvent, at): AddedEvent => {
      const { source, delivery, parsed } = newEvent;
      const file = known.get(parsed.audiofile);
      // Speed: to spread the event takes 4 µs.
      return { source, delivery, parsed, file, row: eventRow(Number(ids[at]), run, newEvent, file) };
    });
    await events.add(added.map(({ row }) => row));
    await Promise.all(added.flatMap((event) => effectsOf(tables, event)));
    // Speed: most events have no twin, and lead to no action of a listener that only shows them.
    const paired = added.some(mayHaveTwin)
      ? await Promise.all(added.map((event) => withTwin(tables, event)))
      : added;
    if (this.#rules.actions.length) {
      const dues = await Promise.all(paired.map((event) => this.#dueActions(tables, event)));
      await new NewActions(tables).add(dues.flat(), run);
    }
    return paired.map(({ row }) => row);
  }

  /** What is to be done about an event. */
  async #dueActions(tables: TableContext, { row, file, delivery }: AddedEvent): Promise<NewAction[]> {
    const { id, source, event, twin, audiofile, order_id } = row;
    const { actions: rules, only } = this.#rules;
    const isActedOn = source !== 'test' && (only.length === 0 || only.includes(event));
    const due = rules.filter(
      ({ sources, events }) => isActedOn && sources.includes(source) && (!events || events.includes(event)),
    );
    if (due.length === 0) return [];
    const isStranger = audiofile ? !file : !(await new Files(tables).hasOrder(order_id));
    const about = { id, subject: audiofile || order_id, isStranger, hops: delivery.hops ?? '' };
    // What is done for the event that was found is not done again for its delivery; what is forwarded follows as it came.
    const isDone = await Promise.all(
      due.map((rule) => twin !== null && rule.kind !== 'forward' && new Actions(tables).has(twin, rule)),
    );
    return due.filter((_, at) => !isDone[at]).map((rule) => ({ about, rule }));
  }
}

/** An event that is in the ledger, and what was known of its file before. */
interface AddedEvent extends NewEvent {
  readonly row: EventRow;
  readonly file: KnownFile | undefined;
}

function effectsOf(tables: TableContext, { source, parsed, row, file }: AddedEvent): Array<Promise<unknown>> {
  const effects: Array<Promise<unknown>> = [];
  for (const id of parsed.files)
    if (id !== parsed.audiofile) effects.push(new Events(tables).addFile(row.id, id));
  if (source === 'received' && (file || !parsed.audiofile))
    effects.push(new EventEffects(tables).apply(parsed));
  if (source === 'found') effects.push(new ExpectedEvents(tables).setSubstitute(parsed.audiofile, row.id));
  return effects;
}

const mayHaveTwin = ({ source, file }: AddedEvent): boolean => source === 'received' && !!file?.found;

async function withTwin(tables: TableContext, event: AddedEvent): Promise<AddedEvent> {
  const found = event.file?.found;
  return found && mayHaveTwin(event) ? { ...event, row: await pair(tables, event.row, found) } : event;
}

/** A delivery whose file was found to be delivered before it came is the same completion. */
async function pair(tables: TableContext, row: EventRow, found: number): Promise<EventRow> {
  const { id, event, audiofile } = row;
  if (event !== 'TRANSCRIPT_COMPLETE') return row;
  const isPaired = await new ExpectedEvents(tables).pairWithSubstitute(audiofile, found, id);
  return isPaired ? { ...row, twin: found } : row;
}

export const eventRow = (
  id: number,
  run: number,
  { source, delivery, parsed, arrival }: NewEvent,
  file?: KnownFile | undefined,
): EventRow => ({
  id,
  run,
  source,
  received_at: delivery.receivedAt,
  remote: delivery.remote,
  content_type: delivery.contentType,
  body: delivery.body,
  event: parsed.event,
  version: parsed.version,
  audiofile: parsed.audiofile,
  order_id: parsed.order,
  title: file?.title ?? null,
  key: file?.key ?? null,
  details: file?.details ?? null,
  twin: null,
  arrival: arrival ?? null,
});
