/** Moves deliveries that wait into the ledger: those of a running listener, and those of listeners that are gone. */

import type { EventRow } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { readMoved } from '../ledger/moved.ts';
import type { Waiting, WaitingOwner } from '../ledger/waiting.ts';
import { plural } from '../lib/text.ts';
import { Commits } from './commits.ts';
import { Recorder } from './recorder.ts';

interface MovedSlice {
  readonly rows: readonly EventRow[];
  readonly count: number;
  readonly refused: number;
  /** Where the next one begins: those that were refused stay for the next listener. */
  readonly after: number;
}

/** Moves some of the deliveries after this number; undefined where there are none. */
export async function moveSlice(
  waiting: Waiting,
  owner: WaitingOwner,
  recorder: Recorder,
  after: number,
): Promise<MovedSlice | undefined> {
  const { arrivals, last } = await waiting.eventsOf(owner, after);
  if (arrivals.length === 0) return undefined;
  const { rows, refused } = await recorder.writeMissing(arrivals);
  await waiting.remove(arrivals.filter((arrival) => !refused.includes(arrival)).map(({ id }) => id));
  return { rows, count: arrivals.length, refused: refused.length, after: refused.length ? last : after };
}

export interface LeftOptions {
  readonly waiting: Waiting;
  /** Ends it after the commit that is under way. */
  readonly signal: AbortSignal;
  readonly onWarning: (text: string) => void;
}

/** Moves what listeners that are gone have left; gives the number of deliveries that are in the ledger by this. */
export async function moveLeft(commits: Commits, options: LeftOptions): Promise<number> {
  let moved = 0;
  for (const owner of await options.waiting.gone()) moved += await moveAllOf(owner, commits, options);
  return moved;
}

/** The same for a command that receives nothing; it opens a connection only if there is something to move. */
export async function moveLeftInto(ledger: Ledger, options: LeftOptions): Promise<number> {
  const { waiting } = options;
  try {
    // In one that has moved they would be forgotten: they wait for a command that uses the shared ledger.
    if ((await readMoved(ledger)) || (await waiting.gone()).length === 0) return 0;
    const synced = await ledger.openSecondConnection();
    try {
      return await moveLeft(new Commits(synced), options);
    } finally {
      await synced.close();
    }
  } finally {
    waiting.close();
  }
}

/** What its own listener was asked for is done and shown by one that is asked for the same. */
async function moveAllOf(
  owner: WaitingOwner,
  commits: Commits,
  { waiting, signal, onWarning }: LeftOptions,
): Promise<number> {
  // The listener that asked for a test is gone: what may be one is shown like the others.
  const recorder = new Recorder({ ...owner.rules, commits, runId: () => 0, expectsTest: () => false });
  let moved = 0;
  let refused = 0;
  for (let after = 0; !signal.aborted; ) {
    const slice = await moveSlice(waiting, owner, recorder, after);
    if (!slice) break;
    moved += slice.rows.length;
    refused += slice.refused;
    after = slice.after;
  }
  if (refused > 0)
    onWarning(`${plural(refused, 'event')} can't be written to the ledger; saved in ${waiting.path}`);
  return moved;
}

/** What a person is told. */
export const movedNote = (moved: number): string =>
  `moved ${plural(moved, 'event')} of listeners that crashed to the ledger`;
