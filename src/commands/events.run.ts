import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseFailures } from '../flows/bulk.ts';
import type { EventFilter } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { nowMs } from '../lib/clock.ts';
import { FOLLOW_ROWS, LIST_ROWS } from '../lib/defaults.ts';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { parseSince } from '../lib/since.ts';
import { justOne } from '../lib/streams.ts';
import { checkUrl } from '../lib/urls.ts';
import { maskUserinfo } from '../lib/userinfo.ts';
import { eventNames, ReceivedEvent } from '../listen/event.ts';
import {
  eventsOnTheWay,
  followEvents,
  getEvents,
  listEvents,
  namesOnTheWay,
  replayTo,
  replayWith,
} from '../listen/history.ts';
import { findPager, withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { showLines } from '../ui/show-lines.ts';
import { eventPage, eventPages, eventsView, replayedView } from '../views/event.ts';
import { EventLines } from '../views/event-lines.ts';

const ledgerOf = (context: Context): Promise<Ledger> => context.requireLedger('events reads the ledger');

export async function show(context: Context, { args }: Input): Promise<void> {
  const ledger = await ledgerOf(context);
  const events = await getEvents(ledger, args);
  await withPager(context, async () => {
    for (const event of events)
      await context.out.show(eventPage(event, await ledger.actions.forEvent(event.n), context.out.forPeople));
  });
}

interface ReplayOptions {
  readonly to: string | undefined;
  readonly exec: string | undefined;
  readonly execTimeout: number;
  readonly execWithKey: boolean;
}

export async function replay(context: Context, { args, options }: Input<ReplayOptions>): Promise<void> {
  const { to, exec, execTimeout, execWithKey } = options;
  if (to === undefined && exec === undefined)
    throw usage(
      'events replay requires either --to or --exec',
      'add --to <url> to send them there, or --exec <command> to run it for each',
    );
  if (to !== undefined) checkUrl(to, 'hook');
  const ledger = await ledgerOf(context);
  const { env, signal, out } = context;
  const events = await getEvents(ledger, args);
  const key = execWithKey ? (await context.requireKey()).value : undefined;
  const onOutput = (lines: string): void => out.passOn(lines);
  const command = { command: exec ?? '', env, key, timeoutMs: execTimeout, jobs: 1, onOutput };
  const outcomes = await whileWorking(out, 'Replaying', (report) =>
    to === undefined
      ? replayWith(command, events, { signal, report })
      : replayTo(to, events, { env, signal, report }),
  );
  const target = exec ?? maskUserinfo(to ?? '');
  await out.show(
    replayedView(
      outcomes.map(({ value, error }, at) => value ?? { n: events[at]?.n ?? 0, target, outcome: '', error }),
    ),
  );
  raiseFailures(outcomes);
}

interface EventsOptions {
  readonly limit: number | undefined;
  readonly event: readonly string[];
  readonly file: string | undefined;
  readonly order: string | undefined;
  readonly since: string | undefined;
  readonly found: boolean;
  readonly follow: boolean;
}

export async function list(context: Context, { options }: Input<EventsOptions>): Promise<void> {
  const { out } = context;
  const { forPeople } = out;
  let ledger: Ledger;
  try {
    ledger = await ledgerOf(context);
  } catch (error) {
    if (options.follow) throw error;
    return listWithoutLedger(
      context,
      filterOf(options, () => true),
      options.limit,
      error,
    );
  }
  const kept = await ledger.events.withNames(options.event);
  const isAsked = options.event.length > 0 && context.hasSpool;
  const onTheirWay = isAsked ? await namesOnTheWay(await context.spool()) : new Set<string>();
  const filter = filterOf(options, (name) => kept.has(name) || onTheirWay.has(name));
  if (options.follow) return follow(context, ledger, filter, options.limit ?? FOLLOW_ROWS);
  const pager = findPager(context);
  const limit = options.limit ?? (forPeople && !pager ? LIST_ROWS : Number.POSITIVE_INFINITY);
  const onTheWay = context.hasSpool ? await eventsOnTheWay(ledger, await context.spool(), filter) : [];
  const events = listEvents(ledger, filter, limit, onTheWay);
  await withPager(context, () => out.showPages(eventPages(events, forPeople ? 'line' : 'body')), pager);
  if (!forPeople) return;
  if (onTheWay.length) out.note(`${onTheWay.length} on the way into the ledger; each gets its number there`);
  const all = (await ledger.events.count(filter)) + onTheWay.length;
  if (all === 0) out.note('no events; receive some with: steno listen');
  if (all > limit) out.note(`${limit} of ${all}; more with --limit`);
}

/** What is on its way is all that is known of it, whatever has become of the ledger. */
async function listWithoutLedger(
  context: Context,
  filter: EventFilter,
  limit: number | undefined,
  error: unknown,
): Promise<void> {
  const { out } = context;
  const isUsable = context.globals.ledger && context.hasSpool;
  const rows = isUsable ? await eventsOnTheWay(undefined, await context.spool(), filter) : [];
  if (rows.length === 0) throw error;
  const events = rows.slice(0, limit).map((row) => new ReceivedEvent(row));
  await out.showPages(eventPages(justOne(events), out.forPeople ? 'line' : 'body'));
  const { hint } = error instanceof StenoError ? error : {};
  await out.warn(`only events on their way into the ledger are listed: ${errorMessage(error)}`, hint);
}

const filterOf = (options: EventsOptions, isAllowed: (name: string) => boolean): EventFilter => ({
  events: eventNames(options.event, isAllowed),
  file: options.file,
  order: options.order,
  found: options.found,
  since: options.since === undefined ? undefined : parseSince(options.since, nowMs()),
});

async function follow(context: Context, ledger: Ledger, filter: EventFilter, limit: number): Promise<void> {
  const { out, signal } = context;
  const lines = new EventLines();
  for await (const page of followEvents(ledger, filter, limit, signal)) {
    if (out.mode.json)
      for (const event of page) await out.showNext({ ...eventsView([], 'line'), json: event.json });
    else if (out.forPeople)
      await showLines(out, lines.events(page, { columns: out.columns, verbose: false }));
    else await out.showNext(eventsView(page, 'body'));
  }
}
