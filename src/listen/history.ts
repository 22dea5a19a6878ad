/** Reads what was received, and sends it once more where one likes. */

import { PostTarget } from '../api/http/post.ts';
import { type Outcome as Done, doEach } from '../flows/bulk.ts';
import type { EventFilter } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { sleep } from '../lib/sleep.ts';
import type { Outcome } from './actions/action.ts';
import { type ExecOptions, runFor } from './actions/exec.ts';
import { judge, withoutPassword } from './actions/forward.ts';
import { ReceivedEvent } from './event.ts';

const PAGE = 200;
/** How often --follow reads the ledger. */
const GLANCE = 250;

/** Pages of events, newest first. */
export function* listEvents(ledger: Ledger, filter: EventFilter, limit: number): Generator<ReceivedEvent[]> {
  let before: number | undefined;
  for (let left = limit; left > 0; left -= PAGE) {
    const rows = ledger.events.page(filter, Math.min(PAGE, left), before);
    if (rows.length) yield rows.map((row) => new ReceivedEvent(row));
    if (rows.length < PAGE) return;
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
  let version = ledger.version;
  let rows = ledger.events.page(filter, limit).reverse();
  let last = rows.at(-1)?.id ?? 0;
  for (;;) {
    if (rows.length) yield rows.map((row) => new ReceivedEvent(row));
    last = rows.at(-1)?.id ?? last;
    while (rows.length < PAGE && version === ledger.version) await sleep(GLANCE, signal);
    version = ledger.version;
    rows = ledger.events.following(filter, last, PAGE);
    if (rows.length === 0) await sleep(GLANCE, signal);
  }
}

/** Finds events by their numbers, all of them or none. */
export function findEvents(ledger: Ledger, numbers: readonly string[]): ReceivedEvent[] {
  return numbers.map((text) => {
    const row = /^\d{1,15}$/.test(text) ? ledger.events.get(Number(text)) : undefined;
    if (!row) throw usage(`there is no event ${text}`, 'see their numbers with: steno events');
    return new ReceivedEvent(row);
  });
}

export interface Replayed {
  readonly n: number;
  readonly target: string;
  readonly outcome: string;
}

/** Sends deliveries once more, as they came, one after the other. */
export async function replayTo(
  url: string,
  events: readonly ReceivedEvent[],
  env: Env,
  signal: AbortSignal,
): Promise<Done<Replayed>[]> {
  const made = events.find(({ source }) => source === 'found');
  if (made) throw usage(`event ${made.n} was found by looking: nothing came that could be sent again`);
  const target = await PostTarget.open(url, env);
  try {
    return await replay(events, withoutPassword(url), async ({ n, contentType, body }) => {
      const headers = { 'steno-event': String(n) };
      const result = await target.post({ contentType, body, headers }, signal);
      if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
      if ('error' in result) throw new StenoError('network', result.error);
      const { end, text } = judge(result);
      if (end !== 'done') throw refused(text, result.status);
      return { end, text };
    });
  } finally {
    await target.close();
  }
}

export const replayWith = (
  options: ExecOptions,
  events: readonly ReceivedEvent[],
  signal: AbortSignal,
): Promise<Done<Replayed>[]> =>
  replay(events, options.command, async (event) => {
    const { end, text } = await runFor(event, 1, options, signal);
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    if (end !== 'done') throw new StenoError('failed', `the command failed: ${text}`);
    return { end, text };
  });

const replay = (
  events: readonly ReceivedEvent[],
  target: string,
  work: (event: ReceivedEvent) => Promise<Outcome>,
): Promise<Done<Replayed>[]> =>
  doEach(
    events,
    1,
    ({ n }) => `event ${n}`,
    async (event) => ({ n: event.n, target, outcome: (await work(event)).text }),
  );

const refused = (text: string, status: number): StenoError =>
  new StenoError('failed', `the target refused (${text})`, { status });
