/** Waits until every file has its transcript, or can't get one any more. */

import type { AudioFile } from '../../api/files.ts';
import { CallError } from '../../api/http/failures.ts';
import type { Transport } from '../../api/http/transport.ts';
import { findFileState } from '../../catalog/states.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { BulkError, StenoError } from '../../lib/errors.ts';
import { sleep } from '../../lib/sleep.ts';
import { doEach, type Outcome, raiseFailures } from '../bulk.ts';
import { followFile, JOBS } from './refresh.ts';

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
/** So long before the time runs out comes the last look, that it still gets an answer. */
const LAST_LOOK = 1_000;
/** So many looks in a row may fail before waiting is given up: more where the service has answered before. */
const BEARABLE = { first: 5, later: 20 };

/** What one look at a file gave; `open` while it may still change. */
interface Look extends Outcome<AudioFile> {
  readonly open: boolean;
  /** How many looks have failed in a row. */
  readonly failures: number;
}

/** One outcome a file, in the order asked: the delivered file, or why there is none. */
export async function waitForFiles(ids: readonly string[], waiting: Waiting): Promise<Outcome<AudioFile>[]> {
  const { patience, ledger } = waiting;
  const deadline = patience.timeout === undefined ? Number.POSITIVE_INFINITY : Date.now() + patience.timeout;
  const lastLook = Math.min(LAST_LOOK, (patience.timeout ?? 0) / 5);
  const looks = new Map<string, Look>();
  const open = (): string[] => ids.filter((id) => looks.get(id)?.open !== false);
  let pause = patience.interval ?? FIRST_PAUSE;
  for (;;) {
    const version = ledger?.version;
    await doEach(open(), JOBS, String, async (id) => {
      looks.set(id, await look(id, waiting, looks.get(id), deadline));
    });
    const left = open();
    waiting.onLook?.(ids.length - left.length, ids.length);
    // A held file moves only when somebody pays: with nothing else under way there is nothing to wait for.
    if (left.every((id) => looks.get(id)?.error?.kind === 'held'))
      return ids.flatMap((id) => looks.get(id) ?? []);
    const time = deadline - Date.now();
    const asked = left.reduce((longest, id) => Math.max(longest, askedToWait(looks.get(id))), 0);
    if (Math.max(asked, lastLook) >= time) {
      await sleep(Math.max(0, time), patience.signal);
      return ids.flatMap((id) => outOfTime(looks.get(id)) ?? []);
    }
    await pauseUntilNews(Math.max(asked, Math.min(pause, time - lastLook)), left, waiting, version);
    if (patience.interval === undefined) pause = Math.min(LONGEST_PAUSE, Math.round(pause * 1.4));
  }
}

async function look(id: string, waiting: Waiting, before: Look | undefined, deadline: number): Promise<Look> {
  let file: AudioFile | undefined;
  try {
    ({ file } = await followFile(waiting.transport, waiting.ledger, id));
    if (findFileState(file.state)?.end === 'delivered') await waiting.onDelivered?.(id);
  } catch (error) {
    if (!(error instanceof StenoError) || error.kind === 'interrupted') throw error;
    const failures = (before?.failures ?? 0) + 1;
    const bearable = before?.value && !file ? BEARABLE.later : BEARABLE.first;
    const passes = file ? mayPass(error) : !isClear(error);
    const value = file ?? before?.value;
    // Who has set an end, and is near it, waits for it: then the time is the reason.
    const goesOn = failures < bearable || deadline - Date.now() < LONGEST_PAUSE;
    return { what: id, error, failures, open: passes && goesOn, ...(value && { value }) };
  }
  return judge(id, file);
}

const mayPass = (error: StenoError): boolean =>
  error.kind === 'timeout' || (error instanceof CallError && error.transient);

/** The service has said no, and will say so again. */
const isClear = (error: StenoError): boolean =>
  error.kind === 'usage' || ((error.status ?? 0) >= 400 && (error.status ?? 0) < 500 && !mayPass(error));

const askedToWait = (last: Look | undefined): number =>
  last?.error instanceof CallError ? (last.error.retryAfter ?? 0) : 0;

/** When the time has run out, that is the reason, whatever the last look came to. */
function outOfTime(last: Look | undefined): Look | undefined {
  if (!last?.open || last.error?.kind === 'held') return last;
  const why = last.value ? `is still '${last.value.state}'` : `is not delivered: ${last.error?.message}`;
  return { ...last, error: new StenoError('timeout', why) };
}

function judge(id: string, file: AudioFile): Look {
  const state = findFileState(file.state);
  const found = { what: id, value: file, open: !state?.end, failures: 0 };
  if (state?.end === 'delivered') return found;
  const error = state?.end
    ? new StenoError('unfinished', `ended as '${file.state}': no transcript comes`)
    : state?.held
      ? new StenoError('held', 'is on hold: no work begins until the hold is released')
      : undefined;
  return error ? { ...found, error } : found;
}

/** Raises what kept files from being delivered, the most telling reason first. */
export function raiseUndelivered(outcomes: ReadonlyArray<Outcome<AudioFile>>): void {
  for (const kind of ['timeout', 'unfinished', 'held'] as const) {
    const failures = outcomes.flatMap(({ what, error }) => (error?.kind === kind ? [{ what, error }] : []));
    const [first] = failures;
    if (!first) continue;
    const one = `${first.what}${first.error instanceof CallError ? ':' : ''} ${first.error.message}`;
    const all = outcomes.flatMap(({ what, error }) => (error ? [{ what, error }] : []));
    throw new BulkError(
      kind,
      failures.length === 1 ? one : `${one}, and ${failures.length - 1} more like it`,
      all.length === 1 ? [] : all,
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

/** Sleeps, but wakes as soon as another process has news of a file: `listen` may have heard of it. */
async function pauseUntilNews(
  pause: number,
  left: readonly string[],
  { ledger, patience }: Waiting,
  version: number | undefined,
): Promise<void> {
  const end = Date.now() + pause;
  let known = version;
  while (Date.now() < end) {
    await sleep(Math.min(GLANCE, end - Date.now()), patience.signal);
    if (!ledger || ledger.version === known) continue;
    known = ledger.version;
    if (ledger.heard.hasNews(left)) return;
  }
}
