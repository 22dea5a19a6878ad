/** Writes events to the ledger with all that follows from them: the rows of their files, and their actions. */

import { randomUUID } from 'node:crypto';
import { isOfTestEvent } from '../catalog/check.ts';
import { Actions, type NewAction } from '../ledger/actions.ts';
import { type EventRow, Events, type Source } from '../ledger/events.ts';
import { FileWatch, type MissedFile } from '../ledger/file-watch.ts';
import { Files, type KnownFile } from '../ledger/files.ts';
import { Runs } from '../ledger/runs.ts';
import type { TableContext } from '../ledger/table.ts';
import type { ActionRule, Arrival } from '../ledger/waiting.ts';
import { nowMs } from '../lib/time.ts';
import type { Commits } from './commits.ts';
import { type ParsedForm, parseForm } from './event.ts';
import type { Delivery } from './server.ts';

export interface RecorderOptions {
  readonly commits: Commits;
  /** The session that has to show and act on what is written; 0: one that has ended, made with each transaction. */
  readonly runId: () => number;
  readonly actions: readonly ActionRule[];
  /** The events that are acted on; empty: all. */
  readonly only: readonly string[];
  /** Whether a delivery may still be the test event that a listener asked for. */
  readonly expectsTest: () => boolean;
}

interface NewEvent {
  readonly source: Source;
  readonly delivery: Delivery;
  readonly parsed: ParsedForm;
  /** Of a delivery: the id that it got when it came in. */
  readonly arrival?: string;
}

/** An event that is in the ledger, and what was known of its file before. */
interface AddedEvent extends NewEvent {
  readonly row: EventRow;
  readonly file: KnownFile | undefined;
}

export interface Written {
  readonly rows: readonly EventRow[];
  /** Those that can't be written though others can. */
  readonly refused: readonly Arrival[];
}

export class Recorder {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** Writes deliveries that came just now; a lock is waited for no longer than this. */
  writeNew(arrivals: readonly Arrival[], lockWaitMs: number): Promise<readonly EventRow[]> {
    return this.#options.commits.add(
      (context) => this.#writeArrivals(tablesOf(context), arrivals),
      lockWaitMs,
    );
  }

  /** Writes those that the ledger does not have yet, each once, however often it is tried. Throws if none can be. */
  async writeMissing(arrivals: readonly Arrival[]): Promise<Written> {
    try {
      return { rows: await this.#commitMissing(arrivals), refused: [] };
    } catch (error) {
      if (this.#options.commits.isUnusable(error)) throw error;
      // One that can't be written must not keep the others from it.
      const written = await Promise.allSettled(arrivals.map((each) => this.#commitMissing([each])));
      const refused = arrivals.filter((_, at) => written[at]?.status === 'rejected');
      if (refused.length === arrivals.length) throw error;
      return { rows: written.flatMap((each) => (each.status === 'fulfilled' ? each.value : [])), refused };
    }
  }

  #commitMissing(arrivals: readonly Arrival[]): Promise<readonly EventRow[]> {
    return this.#options.commits.add(async (context) => {
      const tables = tablesOf(context);
      // Whoever moves the same deliveries waits.
      await tables.events.lock();
      const known = await tables.events.ofArrivals(arrivals.map(({ id }) => id));
      const ids = new Set(known.map(({ arrival }) => arrival));
      const missing = arrivals.filter(({ id }) => !ids.has(id));
      return this.#writeArrivals(tables, missing);
    });
  }

  /** Writes an event for a file that is delivered though none came; false if one came after all. */
  writeFound(file: MissedFile): Promise<boolean> {
    return this.#options.commits.add(async (context) => {
      const tables = tablesOf(context);
      await tables.events.lock();
      if (!(await tables.fileWatch.stopExpecting(file.id))) return false;
      await this.#write(tables, [foundEvent(file)]);
      return true;
    });
  }

  /** It may be called twice: after a lock, all that the first call did is undone. */
  async #writeArrivals(tables: Tables, arrivals: readonly Arrival[]): Promise<EventRow[]> {
    let expectsTest = this.#options.expectsTest();
    const newEvents: NewEvent[] = [];
    for (const delivery of arrivals) {
      const parsed = parseForm(delivery.body);
      const isTest = expectsTest && delivery.mayBeTest && (await isOfTest(tables, parsed));
      if (isTest) expectsTest = false;
      newEvents.push({ source: isTest ? 'test' : 'received', delivery, parsed, arrival: delivery.id });
    }
    return this.#write(tables, newEvents);
  }

  /**
   * The tables are those of a transaction. Over a network, statements that are not awaited one by one share a round trip:
   * so each step is done for all events, in their order.
   */
  async #write(tables: Tables, newEvents: readonly NewEvent[]): Promise<EventRow[]> {
    const { events, files, actions } = tables;
    const [, known, ids] = await Promise.all([
      events.lock(),
      files.known(newEvents.map(({ parsed }) => parsed.audiofile)),
      events.newIds(newEvents.length),
    ]);
    // In the same transaction: who takes over a session that has ended finds all of its events.
    const run =
      this.#options.runId() || (newEvents.length && (await tables.runs.addEnded(this.#options.only)));
    const added = newEvents.map((newEvent, at): AddedEvent => {
      const { source, delivery, parsed } = newEvent;
      const file = known.get(parsed.audiofile);
      // Speed: to spread the event takes 4 µs.
      return { source, delivery, parsed, file, row: eventRow(Number(ids[at]), newEvent) };
    });
    await events.add(
      added.map(({ row }) => row),
      run,
    );
    await Promise.all(added.flatMap((event) => effectsOf(tables, event)));
    const paired = await Promise.all(added.map((event) => pairWithFound(tables, event)));
    const due = await Promise.all(paired.map((event) => this.#dueActions(tables, event)));
    await actions.add(due.flat(), run);
    return paired.map(({ row }) => row);
  }

  /** What is to be done about an event. */
  async #dueActions(tables: Tables, { row, file, delivery }: AddedEvent): Promise<NewAction[]> {
    const { id, source, event, duplicate: found, audiofile, order_id } = row;
    const { actions: rules, only } = this.#options;
    if (source === 'test' || (only.length && !only.includes(event))) return [];
    const due = rules.filter(({ events }) => !events || events.includes(event));
    if (due.length === 0) return [];
    const isUnknown = audiofile ? !file : !(await tables.files.hasOrder(order_id));
    const about = { event: id, isUnknown, via: delivery.via };
    // What is done for the event that was found is not done again for its delivery; what is forwarded follows as it came.
    const isDone = await Promise.all(
      due.map((rule) => found !== null && rule.kind !== 'forward' && tables.actions.has(found, rule)),
    );
    return due.filter((_, at) => !isDone[at]).map(({ kind, target }) => ({ kind, target, ...about }));
  }
}

/** Made once for each transaction: to make one takes about as long as to parse an event. */
const tablesOf = (context: TableContext) => ({
  events: new Events(context),
  files: new Files(context),
  fileWatch: new FileWatch(context),
  actions: new Actions(context),
  runs: new Runs(context),
});
type Tables = ReturnType<typeof tablesOf>;

/** A test event is about a file of the service's own, and an order, that the ledger does not know. */
const isOfTest = async (tables: Tables, { audiofile, order }: ParsedForm): Promise<boolean> =>
  !(await tables.files.get(audiofile)) && !(await tables.files.hasOrder(order)) && isOfTestEvent(audiofile);

function effectsOf(
  { events, fileWatch }: Tables,
  { source, parsed, row, file }: AddedEvent,
): Array<Promise<unknown>> {
  const effects: Array<Promise<unknown>> = [];
  for (const id of parsed.files) if (id !== parsed.audiofile) effects.push(events.addFile(row.id, id));
  if (source === 'received' && (file || !parsed.audiofile)) effects.push(fileWatch.applyEvent(parsed));
  if (source === 'found') effects.push(fileWatch.setSubstitute(parsed.audiofile, row.id));
  return effects;
}

/** A delivery whose file was found to be delivered before it came is the same completion. */
async function pairWithFound(tables: Tables, event: AddedEvent): Promise<AddedEvent> {
  const { source, row, file } = event;
  if (!file?.found || source !== 'received' || row.event !== 'TRANSCRIPT_COMPLETE') return event;
  const isPaired = await tables.fileWatch.pairWithSubstitute(row.audiofile, file.found, row.id);
  return isPaired ? { ...event, row: { ...row, duplicate: file.found } } : event;
}

/** An event that the service would have sent of a file that is delivered. */
export function foundEvent({
  id,
  order_id: order,
  url,
}: Pick<MissedFile, 'id' | 'order_id' | 'url'>): NewEvent {
  const form = { event: 'TRANSCRIPT_COMPLETE', audiofile: id, order, originallink: url };
  const body = Buffer.from(new URLSearchParams(form).toString());
  const receivedAt = new Date(nowMs()).toISOString();
  const delivery = { body, contentType: '', receivedAt, remote: '', via: '' };
  return { source: 'found', delivery, parsed: parseForm(body) };
}

/** As it is written: what is known of its file is not a part of it. */
export const eventRow = (id: number, { source, delivery, parsed, arrival }: NewEvent): EventRow => ({
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
  title: null,
  key: null,
  duplicate: null,
  arrival: arrival ?? randomUUID(),
});
