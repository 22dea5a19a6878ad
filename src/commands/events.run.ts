import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseFailures, values } from '../flows/bulk.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { usage } from '../lib/errors.ts';
import { parseSince } from '../lib/since.ts';
import { checkUrl } from '../lib/urls.ts';
import { eventNames } from '../listen/event-names.ts';
import { followEvents, getEvents, listEvents, replayTo, replayWith } from '../listen/history.ts';
import { eventLines, eventPage, eventPages, eventsView, replayedView } from '../views/event.ts';

const ledgerOf = (context: Context): Promise<Ledger> => context.requireLedger('events reads the ledger');

export async function show(context: Context, { args }: Input): Promise<void> {
  const ledger = await ledgerOf(context);
  for (const event of getEvents(ledger, args))
    await context.out.show(eventPage(event, ledger.actions.forEvent(event.n)));
}

interface ReplayOptions {
  readonly to: string | undefined;
  readonly exec: string | undefined;
  readonly execTimeout: number;
}

export async function replay(context: Context, { args, options }: Input<ReplayOptions>): Promise<void> {
  const { to, exec, execTimeout } = options;
  if ((to === undefined) === (exec === undefined)) throw usage('replay wants one of --to and --exec');
  if (to !== undefined) checkUrl(to, 'hook');
  const ledger = await ledgerOf(context);
  const { env, signal, out } = context;
  const events = getEvents(ledger, args);
  const onOutput = (chunk: Buffer): void => out.passOn(String(chunk));
  const outcomes =
    to === undefined
      ? await replayWith(
          { command: exec ?? '', env, timeoutMs: execTimeout, jobs: 1, onOutput },
          events,
          signal,
        )
      : await replayTo(to, events, env, signal);
  await out.show(replayedView(values(outcomes)));
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
  const { out, signal } = context;
  const ledger = await ledgerOf(context);
  const { file, order, found, since } = options;
  const filter = {
    events: eventNames(options.event, (what) => out.note(what)),
    file,
    order,
    found,
    since: since === undefined ? undefined : parseSince(since, Date.now()),
  };
  const { forPeople } = out;
  if (options.follow) {
    for await (const page of followEvents(ledger, filter, options.limit ?? 10, signal)) {
      if (out.mode.json)
        for (const event of page) await out.showNext({ ...eventsView([], 'line'), json: event.json });
      else await out.showNext(forPeople ? eventLines(page, false) : eventsView(page, 'body'));
    }
  }
  const limit = options.limit ?? (forPeople ? 50 : Number.POSITIVE_INFINITY);
  await out.showPages(eventPages(listEvents(ledger, filter, limit), forPeople ? 'line' : 'body'));
  if (!forPeople) return;
  const all = ledger.events.count(filter);
  if (all === 0) out.note('no events; receive some with: steno listen');
  if (all > limit) out.note(`${limit} of ${all}; more with --limit`);
}
