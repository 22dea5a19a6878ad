/** Writes deliveries into the ledger, each of them once, however often it is tried. */
import { isOfTestEvent } from '../catalog/check.ts';
import { type EventRow, Events } from '../ledger/events.ts';
import { Files } from '../ledger/files.ts';
import type { Arrival } from '../ledger/spool.ts';
import type { TableContext } from '../ledger/table.ts';
import type { GroupCommit } from './group-commit.ts';
import { type ParsedForm, parseForm } from './parse.ts';
import type { NewEvent, Recorder } from './recorder.ts';

interface ArrivalWriterOptions {
  readonly commits: GroupCommit;
  readonly recorder: Recorder;
  /** Whether one of them may still be the test event that a listener asked for. */
  readonly expectsTest: () => boolean;
}

export interface Written {
  /** Those that this listener has to show. */
  readonly rows: readonly EventRow[];
  /** Those that can't be written though others can. */
  readonly refused: readonly Arrival[];
}

/** If this many can't be written one by one, and none can, it is not about them. */
const PROBES = 4;

export class ArrivalWriter {
  readonly #options: ArrivalWriterOptions;

  constructor(options: ArrivalWriterOptions) {
    this.#options = options;
  }

  /** Writes deliveries that came just now; a lock is waited for no longer than this. */
  writeNew(arrivals: readonly Arrival[], lockWaitMs: number): Promise<readonly EventRow[]> {
    const { commits, recorder } = this.#options;
    return commits.add(
      async (tables) => recorder.write(tables, await this.#newEvents(tables, arrivals)),
      lockWaitMs,
    );
  }

  /** Writes those that the ledger does not have yet. Throws if none can be written. */
  async writeMissing(arrivals: readonly Arrival[]): Promise<Written> {
    try {
      return { rows: await this.#commitMissing(arrivals), refused: [] };
    } catch (error) {
      if (this.#options.commits.isUnusable(error)) throw error;
      return this.#writeEach(arrivals, error);
    }
  }

  /** One that can't be written must not keep the others from it. */
  async #writeEach(arrivals: readonly Arrival[], error: unknown): Promise<Written> {
    const rows: EventRow[] = [];
    const refused: Arrival[] = [];
    for (const [at, arrival] of arrivals.entries()) {
      if (at === PROBES && refused.length === PROBES) throw error;
      try {
        rows.push(...(await this.#commitMissing([arrival])));
      } catch (again) {
        if (this.#options.commits.isUnusable(again)) throw again;
        refused.push(arrival);
      }
    }
    if (refused.length === arrivals.length) throw error;
    return { rows, refused };
  }

  #commitMissing(arrivals: readonly Arrival[]): Promise<readonly EventRow[]> {
    const { commits, recorder } = this.#options;
    return commits.add(async (tables) => {
      // Whoever moves the same deliveries waits.
      await new Events(tables).lock();
      const known = await new Events(tables).ofArrivals(arrivals.map(({ id }) => id));
      const ids = new Set(known.map(({ arrival }) => arrival));
      const missing = known.length ? arrivals.filter(({ id }) => !ids.has(id)) : arrivals;
      // What another listener has moved meanwhile is shown by it.
      const ours = known.filter(({ run }) => run === recorder.run);
      return [...ours, ...(await recorder.write(tables, await this.#newEvents(tables, missing)))];
    });
  }

  /** It may be called twice: after a lock, all that the first call did is undone. */
  async #newEvents(tables: TableContext, arrivals: readonly Arrival[]): Promise<NewEvent[]> {
    let expectsTest = this.#options.expectsTest();
    const newEvents: NewEvent[] = [];
    for (const delivery of arrivals) {
      const parsed = parseForm(delivery.body);
      const isTest = expectsTest && delivery.mayBeTest && (await isOfTest(tables, parsed));
      if (isTest) expectsTest = false;
      newEvents.push({ source: isTest ? 'test' : 'received', delivery, parsed, arrival: delivery.id });
    }
    return newEvents;
  }
}

/** A test event is about a file of the service's own, and an order, that the ledger does not know. */
const isOfTest = async (tables: TableContext, { audiofile, order }: ParsedForm): Promise<boolean> =>
  !(await new Files(tables).get(audiofile)) &&
  !(await new Files(tables).hasOrder(order)) &&
  isOfTestEvent(audiofile);
