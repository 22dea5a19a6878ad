/** Moves what listeners that are gone have left in their journals into the ledger. */
import { renameSync, rmSync } from 'node:fs';
import { type JournalFolder, type LeftJournal, readJournal } from '../ledger/journal/journal-folder.ts';
import type { Arrival } from '../ledger/journal/record.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { plural } from '../lib/text.ts';
import { ArrivalWriter } from './arrival-writer.ts';
import { durableCommits, type GroupCommit } from './group-commit.ts';
import { Recorder } from './recorder.ts';

export interface LeftJournalOptions {
  readonly ledger: Ledger;
  /** Every commit of it is durable. */
  readonly commits: GroupCommit;
  readonly journals: JournalFolder;
  /** Ends it after the commit that is under way. */
  readonly signal: AbortSignal;
  readonly onWarning: (text: string) => void;
}

const MAX_SLICE = 500;

/** Gives the number of deliveries that are in the ledger by this. */
export const moveLeftJournals = (options: LeftJournalOptions): Promise<number> =>
  move(options.journals.takeOver(), options);

/** The same for a command that receives nothing; it opens a connection only if there is something to move. */
export async function moveLeftJournalsInto(
  ledger: Ledger,
  options: Omit<LeftJournalOptions, 'ledger' | 'commits'>,
): Promise<number> {
  // In one that has moved they would be forgotten: they wait for a command that uses the shared ledger.
  if (await ledger.moved()) return 0;
  const left = options.journals.takeOver();
  if (left.length === 0) return 0;
  const synced = await ledger.another();
  try {
    return await move(left, { ...options, ledger: synced, commits: durableCommits(synced) });
  } finally {
    await synced.close();
  }
}

async function move(left: readonly LeftJournal[], options: LeftJournalOptions): Promise<number> {
  let moved = 0;
  for (const journal of left) {
    const one = new LeftJournalMove(journal, options);
    await one.run();
    moved += one.moved;
    if (options.signal.aborted) break;
  }
  return moved;
}

/** What a person is told. */
export const movedNote = (moved: number): string =>
  `${plural(moved, 'event')} of listeners that broke off ${moved === 1 ? 'is' : 'are'} in the ledger now`;

class LeftJournalMove {
  moved = 0;
  readonly #journal: LeftJournal;
  readonly #options: LeftJournalOptions;
  #writer: ArrivalWriter | undefined;
  #damagedBytes = 0;
  #staysHere = false;

  constructor(journal: LeftJournal, options: LeftJournalOptions) {
    this.#journal = journal;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { path, marker } = this.#journal;
    const { signal, journals } = this.#options;
    let slice: Arrival[] = [];
    let unknown = 0;
    for (const record of readJournal(path, marker)) {
      if (signal.aborted) return;
      if (record.kind === 'unknown') unknown += 1;
      if (record.kind === 'gap') this.#addGap(record);
      if (record.kind === 'arrival' && record.arrival.profile === journals.profile)
        slice.push(record.arrival);
      if (slice.length < MAX_SLICE) continue;
      await this.#write(slice);
      slice = [];
    }
    if (slice.length) await this.#write(slice);
    if (unknown > 0) this.#keepFile(`${unknown} of its records are of a newer steno`);
    this.#finish();
  }

  /**
   * At the end are zeros that were written ahead, or what a crash left of a write that was never answered. A file in which
   * nothing is whole tells nothing.
   */
  #addGap({ start, end, isTail }: { start: number; end: number; isTail: boolean }): void {
    if (!isTail || start === 0) this.#damagedBytes += end - start;
  }

  async #write(arrivals: readonly Arrival[]): Promise<void> {
    this.#writer ??= await this.#openWriter();
    const { events } = this.#options.ledger;
    const inLedger = await events.ofArrivals(arrivals.map(({ id }) => id));
    const known = new Set(inLedger.map(({ arrival }) => arrival));
    const { rows, refused } = await this.#writer.write(arrivals, true);
    this.moved += rows.filter(({ arrival }) => !known.has(arrival)).length;
    if (refused.length) this.#keepFile(`${refused.length} of its events can't be written to the ledger`);
  }

  /** The actions are those that its own listener was asked for: only one that is asked for the same does them. */
  async #openWriter(): Promise<ArrivalWriter> {
    const { commits } = this.#options;
    const { actions = [], only = [] } = this.#journal.head ?? {};
    const run = actions.length ? await commits.add((tables) => tables.runs.addEnded()) : 0;
    const recorder = new Recorder({ run, actions, only });
    // The listener that asked for a test is gone: what may be one is shown like the others.
    return new ArrivalWriter({ commits, recorder, expectsTest: () => false });
  }

  #keepFile(why: string): void {
    this.#staysHere = true;
    this.#options.onWarning(`${this.#journal.path} stays: ${why}`);
  }

  #finish(): void {
    const { path } = this.#journal;
    if (this.#staysHere) return;
    if (this.#damagedBytes === 0) {
      rmSync(path, { force: true });
      return;
    }
    const kept = `${path}.damaged`;
    renameSync(path, kept);
    this.#options.onWarning(
      `${this.#damagedBytes} bytes of a journal are damaged, and events may be lost: it is kept as ${kept}`,
    );
  }
}
