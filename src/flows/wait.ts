/** Waits until every file has its transcript, or can't get one any more. */
import type { AudioFile } from '../api/files.ts';
import type { Transport } from '../api/transport.ts';
import { findFileState } from '../catalog/states.ts';
import { BulkError, StenoError } from '../errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { sleep } from '../sleep.ts';
import { doEach, type Outcome, raiseFailures } from './bulk.ts';
import { followFile, JOBS } from './follow.ts';

export interface Patience {
  /** A fixed pause between two looks; without one it starts short and grows. */
  readonly interval: number | undefined;
  readonly timeout: number | undefined;
  readonly signal: AbortSignal;
}

export interface Waiting {
  readonly transport: Transport;
  readonly ledger: Ledger | undefined;
  readonly patience: Patience;
  readonly onLook?: (ended: number, all: number) => void;
  /** Called once for each file as it is delivered. */
  readonly onDelivered?: (id: string) => Promise<void>;
}

const FIRST_PAUSE = 1_000;
const LONGEST_PAUSE = 30_000;
/** How often the ledger is read between two looks, for events that came in. */
const GLANCE = 500;
/** So many looks in a row may fail before waiting is given up. */
const BEARABLE_FAILURES = 5;

/** What one look at a file gave; `open` while it may still change. */
interface Look extends Outcome<AudioFile> {
  readonly open: boolean;
}

/** One outcome a file, in the order asked: the delivered file, or why there will be none. */
export async function waitForFiles(ids: readonly string[], waiting: Waiting): Promise<Outcome<AudioFile>[]> {
  const { patience } = waiting;
  const deadline = patience.timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + patience.timeout;
  const looks = new Map<string, Look>();
  const failures = new Map<string, number>();
  const open = (): string[] => ids.filter((id) => looks.get(id)?.open !== false);
  let pause = patience.interval ?? FIRST_PAUSE;
  for (;;) {
    await doEach(open(), JOBS, String, async (id) => {
      looks.set(id, await look(id, waiting, failures));
    });
    const left = open();
    waiting.onLook?.(ids.length - left.length, ids.length);
    // A held file moves only when somebody pays: with nothing else under way there is nothing to wait for.
    if (left.every((id) => looks.get(id)?.error?.kind === 'held'))
      return ids.flatMap((id) => looks.get(id) ?? []);
    if (Date.now() + pause >= deadline) {
      await sleep(Math.max(0, deadline - Date.now()), patience.signal);
      return ids.flatMap((id) => looks.get(id) ?? []);
    }
    await pauseUntilNews(pause, left, waiting);
    if (patience.interval === undefined) pause = Math.min(LONGEST_PAUSE, Math.round(pause * 1.4));
  }
}

async function look(id: string, waiting: Waiting, failures: Map<string, number>): Promise<Look> {
  let file: AudioFile | undefined;
  try {
    ({ file } = await followFile(waiting.transport, waiting.ledger, id));
    failures.delete(id);
    if (findFileState(file.state)?.end === 'delivered') await waiting.onDelivered?.(id);
  } catch (error) {
    if (!(error instanceof StenoError) || error.kind === 'auth' || error.kind === 'interrupted') throw error;
    const count = (failures.get(id) ?? 0) + 1;
    failures.set(id, count);
    const passes = error.kind === 'network' || error.kind === 'timeout' || (error.status ?? 0) >= 429;
    return { what: id, error, open: passes && count < BEARABLE_FAILURES, ...(file && { value: file }) };
  }
  return judge(id, file);
}

function judge(id: string, file: AudioFile): Look {
  const state = findFileState(file.state);
  const found = { what: id, value: file, open: !state?.end };
  if (state?.end === 'delivered') return found;
  const error = state?.end
    ? new StenoError('unfinished', `ended as '${file.state}': no transcript comes`)
    : state?.held
      ? new StenoError('held', 'is on hold: no work begins until the hold is released')
      : new StenoError('timeout', `is still '${file.state}'`);
  return { ...found, error };
}

/** Raises what kept files from being delivered, the most telling reason first. */
export function raiseUndelivered(outcomes: ReadonlyArray<Outcome<AudioFile>>): void {
  for (const kind of ['timeout', 'unfinished', 'held'] as const) {
    const failures = outcomes.flatMap(({ what, error }) => (error?.kind === kind ? [{ what, error }] : []));
    const [first] = failures;
    if (!first) continue;
    const one = `${first.what} ${first.error.message}`;
    throw new BulkError(
      kind,
      failures.length === 1 ? one : `${one}, and ${failures.length - 1} more like it`,
      failures.length === 1 ? [] : failures,
      hints[kind],
    );
  }
  raiseFailures(outcomes);
}

const hints = {
  timeout: 'wait on with: steno wait   or look again later: steno sync',
  unfinished: undefined,
  held: 'a past-due balance is the usual cause: pay it and the order resumes by itself',
};

/** Sleeps, but wakes as soon as the ledger has a file as ended: `listen` may have heard of it. */
async function pauseUntilNews(
  pause: number,
  left: readonly string[],
  { ledger, patience }: Waiting,
): Promise<void> {
  const end = Date.now() + pause;
  while (Date.now() < end) {
    await sleep(Math.min(GLANCE, end - Date.now()), patience.signal);
    if (ledger && left.some((id) => ledger.files.get(id)?.ended)) return;
  }
}
