/** Reads the events that were received, and sends them once more. */

import { openPostTarget } from '../api/http/keyless.ts';
import { doEach, type Outcome as ItemOutcome } from '../flows/bulk.ts';
import { type EventFilter, type EventRow, Events } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Pruning } from '../ledger/prune.ts';
import type { Waiting } from '../ledger/waiting.ts';
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import type { Report } from '../lib/progress.ts';
import { isLocked } from '../lib/sqlite.ts';
import { monotonicMs, nowMs, sleep } from '../lib/time.ts';
import { maskUserinfo } from '../lib/url.ts';
import type { Outcome } from './action.ts';
import { type ParsedForm, parseForm, ReceivedEvent } from './event.ts';
import { type ExecOptions, runCommand } from './exec.ts';
import { outcomeOf } from './forward.ts';
import { eventRow } from './recorder.ts';

const PAGE_SIZE = 200;
/** How often --follow reads the ledger. */
const POLL_INTERVAL_MS = 250;

/** Deliveries that are not in the ledger yet (all, where that can't be read), newest first. They have no number. */
export async function eventsOnTheWay(
  ledger: Ledger | undefined,
  waiting: Waiting,
  filter: EventFilter,
): Promise<EventRow[]> {
  const arrivals = await waiting.events();
  waiting.close();
  const rows = arrivals.reverse().flatMap((arrival) => {
    const parsed = parseForm(arrival.body);
    const row = eventRow(0, { source: 'received', delivery: arrival, parsed, arrival: arrival.id });
    return matches(row, parsed, filter) ? [row] : [];
  });
  const inLedger = (await (ledger && new Events(ledger).ofArrivals(rows.map(arrivalOf)))) ?? [];
  const known = new Set(inLedger.map(arrivalOf));
  return rows
    .filter((row) => !known.has(arrivalOf(row)))
    .sort((a, b) => b.received_at.localeCompare(a.received_at));
}

/** Which of these names events have that are on their way. */
export async function namesOnTheWay(
  waiting: Waiting,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (names.length === 0) return new Set();
  const arrivals = await waiting.events();
  return new Set(arrivals.map(({ body }) => parseForm(body).event));
}

const arrivalOf = ({ arrival }: EventRow): string => arrival ?? '';

/** What the ledger's own query does for events that are in it. */
function matches(row: EventRow, { files }: ParsedForm, filter: EventFilter): boolean {
  const { events = [], file, order, since, found = false, words = [] } = filter;
  if (found || (since !== undefined && row.received_at < since)) return false;
  if (events.length && !events.includes(row.event)) return false;
  const text = [row.event, row.audiofile, row.order_id, Buffer.from(row.body)].join('\n').toLowerCase();
  const isIn = (word: string): boolean =>
    [word, encodeURIComponent(word)].some((form) => text.includes(form.toLowerCase()));
  if (!words.every(isIn)) return false;
  return (file === undefined || files.includes(file)) && (order === undefined || row.order_id === order);
}

/** Pages of events, newest first; those that are on their way come before the others. */
export async function* listEvents(
  ledger: Ledger,
  filter: EventFilter,
  limit: number,
  onTheWay: readonly EventRow[] = [],
): AsyncGenerator<ReceivedEvent[]> {
  let before: number | undefined;
  let left = limit;
  for (let waiting = onTheWay; left > 0; waiting = []) {
    const rows = await new Events(ledger).page(filter, Math.min(PAGE_SIZE, left), before);
    // One of them may have come into the ledger just now.
    const ids = new Set(rows.map(arrivalOf));
    const page = [...waiting.filter((row) => !ids.has(arrivalOf(row))), ...rows].slice(0, left);
    if (page.length) yield page.map((row) => new ReceivedEvent(row));
    if (rows.length < PAGE_SIZE) return;
    left -= page.length;
    before = rows.at(-1)?.id;
  }
}

/** The latest events, oldest first, and then each as it comes, until the user interrupts. */
export async function* followEvents(
  ledger: Ledger,
  filter: EventFilter,
  limit: number,
  signal: AbortSignal,
): AsyncGenerator<ReceivedEvent[]> {
  let version = await ledger.db.version();
  let rows = (await new Events(ledger).page(filter, limit)).reverse();
  let last = rows.at(-1)?.id ?? 0;
  for (;;) {
    if (rows.length) yield rows.map((row) => new ReceivedEvent(row));
    last = rows.at(-1)?.id ?? last;
    while (rows.length < PAGE_SIZE && version === (await ledger.db.version()))
      await sleep(POLL_INTERVAL_MS, signal);
    version = await ledger.db.version();
    rows = await new Events(ledger).following(filter, last, PAGE_SIZE);
    if (rows.length === 0) await sleep(POLL_INTERVAL_MS, signal);
  }
}

/** Events by their numbers; throws if there is one that the ledger does not have. */
export async function getEvents(ledger: Ledger, numbers: readonly string[]): Promise<ReceivedEvent[]> {
  const events: ReceivedEvent[] = [];
  for (const text of numbers) {
    const row = /^\d{1,15}$/.test(text) ? await new Events(ledger).get(Number(text)) : undefined;
    if (!row) throw usage(`there is no event ${text}`, 'list them: steno events');
    events.push(new ReceivedEvent(row));
  }
  return events;
}

export interface Replayed {
  readonly n: number;
  readonly target: string;
  readonly outcome: string;
}

interface ReplayOptions {
  readonly env: Env;
  readonly signal: AbortSignal;
  readonly report?: Report;
  /** Sent in place of the body that came, and marked as such. */
  readonly editedBody?: Uint8Array | undefined;
}

/** Sends deliveries once more, as they came unless told, one after the other. */
export async function replayTo(
  url: string,
  events: readonly ReceivedEvent[],
  { env, signal, report, editedBody }: ReplayOptions,
): Promise<ItemOutcome<Replayed>[]> {
  const found = events.find(({ source }) => source === 'found');
  if (found)
    throw usage(`event ${found.n} was found by asking the service: there is no delivery to send again`);
  const target = await openPostTarget(url, env);
  try {
    const send = async ({ n, contentType, body }: ReceivedEvent): Promise<Outcome> => {
      const headers = { 'steno-event': String(n), ...(editedBody && { 'steno-edited': 'true' }) };
      const result = await target.post({ contentType, body: editedBody ?? body, headers }, signal);
      throwIfInterrupted(signal);
      if ('error' in result) throw new StenoError('network', result.error);
      const outcome = outcomeOf(result);
      if (outcome.end === 'done') return outcome;
      const verdict = result.status < 500 ? 'refused' : 'failed';
      throw new StenoError('failed', `the target ${verdict} (${outcome.text})`, { status: result.status });
    };
    return await replay(events, maskUserinfo(url), send, report);
  } finally {
    await target.close();
  }
}

/** Runs a command for each event once more, one after the other. */
export const replayWith = (
  options: ExecOptions,
  events: readonly ReceivedEvent[],
  { signal, report }: { readonly signal: AbortSignal; readonly report?: Report },
): Promise<ItemOutcome<Replayed>[]> => {
  const run = async (event: ReceivedEvent): Promise<Outcome> => {
    const outcome = await runCommand(event, 1, options, signal);
    throwIfInterrupted(signal);
    if (outcome.end === 'done') return outcome;
    throw new StenoError('failed', `the command failed: ${outcome.text}`);
  };
  return replay(events, options.command, run, report);
};

const replay = (
  events: readonly ReceivedEvent[],
  target: string,
  work: (event: ReceivedEvent) => Promise<Outcome>,
  report?: Report,
): Promise<ItemOutcome<Replayed>[]> =>
  doEach(
    events,
    1,
    ({ n }) => `event ${n}`,
    async (event) => ({ n: event.n, target, outcome: (await work(event)).text }),
    report,
  );

function throwIfInterrupted(signal: AbortSignal): void {
  if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
}

const MAX_INTERVAL_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Some milliseconds for each transaction, and a pause after it. */
const EVENTS_AT_ONCE = 100;
const PAUSE_MS = 10;
/** Fewer free pages than this (4 MB) are left for the events to come. */
const SPARE_PAGES = 1000;

/**
 * `--keep`: removes events as they get older than that, a few at a time, so that receiving goes on meanwhile. Gives what
 * is to be called from time to time; it does nothing where events are kept for good.
 */
export function historyLimit(
  keepMs: number | undefined,
  ledger: Ledger,
  signal: AbortSignal,
): () => Promise<void> {
  if (keepMs === undefined) return async () => {};
  let prunedAt = Number.NEGATIVE_INFINITY;
  let runsPrunedAt = Number.NEGATIVE_INFINITY;
  const prune = async (withRuns: boolean): Promise<void> => {
    const pruning = new Pruning(ledger);
    const before = new Date(nowMs() - keepMs).toISOString();
    const steps = pruning.removeEvents(before, { whole: false, atOnce: EVENTS_AT_ONCE });
    for await (const _ of steps) await sleep(PAUSE_MS, signal);
    for await (const _ of pruning.shrink(SPARE_PAGES)) await sleep(PAUSE_MS, signal);
    if (withRuns) await pruning.removeRuns(before);
  };
  return async () => {
    const now = monotonicMs();
    // At the start, and then every tenth of the time that is kept, or every hour.
    if (now - prunedAt < Math.min(keepMs / 10, MAX_INTERVAL_MS)) return;
    prunedAt = now;
    // Few listeners end in a day.
    const withRuns = now - runsPrunedAt >= DAY_MS;
    if (withRuns) runsPrunedAt = now;
    // What another process keeps from being done now is done the next time.
    await prune(withRuns).catch((error: unknown) => {
      if (!isLocked(error)) throw error;
    });
  };
}
