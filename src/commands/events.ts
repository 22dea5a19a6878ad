import { eventTypes, meaningOfEvent } from '../catalog/events.ts';
import { raiseFailures } from '../flows/bulk.ts';
import { Actions } from '../ledger/actions.ts';
import { type EventFilter, Events } from '../ledger/events.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { FOLLOW_ROWS, LIST_ROWS } from '../lib/defaults.ts';
import { errorMessage, StenoError, usage } from '../lib/errors.ts';
import { justOne } from '../lib/lines.ts';
import { plural } from '../lib/text.ts';
import { nowMs, parseSince } from '../lib/time.ts';
import { checkUrl, maskUserinfo } from '../lib/url.ts';
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
import { command, LEDGER_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { count, execOptions, flag, list, type OptionValues, text } from '../spec/options.ts';
import { showLines } from '../ui/output.ts';
import { findPager, withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import {
  eventOutput,
  eventPage,
  eventPages,
  eventRecord,
  eventsView,
  replayedRecord,
  replayedView,
} from '../views/events.ts';
import { EventLines } from '../views/lines.ts';
import { printed } from '../views/record.ts';
import { anyOf, arrayOf, described } from '../views/schema.ts';

const show = command({
  name: 'show',
  summary: 'Show one event in full, and its actions',
  about:
    'Shows every field of an event, its body as received, and each action with its outcome. With --quiet, prints ' +
    'only the body; with --json, adds the body as base64.',
  args: [{ name: '<n>', help: 'event number', values: 'event' }],
  examples: [
    ['steno events show 12', 'everything about event 12'],
    ['steno events show 12 --json | jq .actions', 'only its actions'],
  ],
  effect: 'read',
  exits: LEDGER_EXITS,
  output: eventOutput,
  async run(context, { args }) {
    const ledger = await ledgerOf(context);
    const events = await getEvents(ledger, args);
    await withPager(context, async () => {
      for (const event of events)
        await context.out.show(
          eventPage(event, await new Actions(ledger).forEvent(event.n), context.out.isBrief),
        );
    });
  },
});

const replay = command({
  name: 'replay',
  summary: 'Send events again, or run a command for them',
  about:
    'Sends the delivery of each event to a URL again, or runs a command for it as listen --exec does. Events are ' +
    'sent one at a time, once each.',
  details: [
    'Body and content type are identical byte for byte, but links come without their signature (S3, Google, ' +
      'Azure, CloudFront), which is never saved. Exits with 7 if the target cannot be reached, with 1 if it ' +
      'refuses, and with 10 if only some events succeed.',
  ],
  args: [{ name: '<n…>', help: 'event numbers', values: 'event' }],
  options: {
    to: text('--to <url>', 'send the events to this URL', { excludes: ['--exec'] }),
    exec: text(
      '--exec <command>',
      'run this command for each event: JSON on stdin, STENO_EVENT_* variables',
      { effect: 'exec' },
    ),
    ...execOptions(),
  },
  examples: [
    ['steno events replay 12 --to http://127.0.0.1:3000/hook', 'send one event to your program again'],
    ['steno events replay 12 13 --exec "jq .fields"', 'run a command for two events'],
    ['steno events --quiet --since 1d | xargs steno events replay --exec cat', 'all events of the last day'],
  ],
  effect: 'account',
  once: true,
  exits: ['network', 'partial'],
  output: () => replayedRecord.printedList,
  async run(context, { args, options }) {
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
    const onOutput = (lines: string): void => out.stderr.passOn(lines);
    const command = { command: exec ?? '', env, key, timeoutMs: execTimeout, jobs: 1, onOutput };
    const outcomes = await whileWorking(out, 'Replaying', (report) =>
      to === undefined
        ? replayWith(command, events, { signal, report })
        : replayTo(to, events, { env, signal, report }),
    );
    const target = exec ?? maskUserinfo(to ?? '');
    await out.show(
      replayedView(
        outcomes.map(
          ({ value, error }, at) => value ?? { n: events[at]?.n ?? 0, target, outcome: '', error },
        ),
      ),
    );
    raiseFailures(outcomes);
  },
});

const options = {
  limit: count('--limit <n>', 'show at most this many', {
    defaultNote: `all; ${LIST_ROWS} on a terminal without a pager, ${FOLLOW_ROWS} with --follow`,
  }),
  event: list('--event <EVENT…>', 'only these events', {
    values: eventTypes.map(({ name }) => name),
    meaning: meaningOfEvent,
  }),
  file: text('--file <id>', 'only events about this file', { values: 'audiofile' }),
  order: text('--order <id>', 'only events about this order', { values: 'order' }),
  since: text('--since <time>', 'only events since this time: 2026-11-01, yesterday or 3d'),
  found: flag('--found', 'only events that never arrived; steno found them by asking the service'),
  follow: flag('--follow', 'keep running and print new events until Ctrl-C'),
};

type EventsOptions = OptionValues<typeof options>;

export const events = command({
  name: 'events',
  summary: 'List received events, and replay them',
  about:
    'Lists the events that listen has received, newest first, with their numbers. With --follow, prints the ' +
    'latest events and then each new one, whichever process receives it.',
  details: [
    '--quiet prints only the numbers. An event that is saved but not yet in the ledger has no number (null in ' +
      'JSON).',
  ],
  options,
  children: [show, replay],
  examples: [
    ['steno events', 'the latest'],
    ['steno events --event TRANSCRIPT_COMPLETE --since 7d', 'completed in the last week'],
    ['steno events --order 4nX --json', 'everything about an order, for a script'],
    ['steno events --follow', 'watch events arrive at a running listener'],
    ['steno events replay 12 --to http://127.0.0.1:3000/hook', 'send one event again'],
  ],
  effect: 'read',
  exits: LEDGER_EXITS,
  output: () =>
    printed(
      anyOf(arrayOf(eventRecord.schema), described('with --follow, one per line', eventRecord.schema)),
      eventRecord.columnHelp,
    ),
  async run(context, { options }) {
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
    const kept = await new Events(ledger).withNames(options.event);
    const waiting = await context.ledgers.waiting();
    const onTheirWay = await namesOnTheWay(waiting, options.event);
    const filter = filterOf(options, (name) => kept.has(name) || onTheirWay.has(name));
    if (options.follow) return follow(context, ledger, filter, options.limit ?? FOLLOW_ROWS);
    const pager = findPager(context);
    const limit = options.limit ?? (forPeople && !pager ? LIST_ROWS : Number.POSITIVE_INFINITY);
    const onTheWay = await eventsOnTheWay(ledger, waiting, filter);
    const events = listEvents(ledger, filter, limit, onTheWay);
    await withPager(context, () => out.showPages(eventPages(events)), pager);
    if (!forPeople) return;
    if (onTheWay.length)
      out.note(`${plural(onTheWay.length, 'event')} not in the ledger yet; each gets its number there`);
    const all = (await new Events(ledger).count(filter)) + onTheWay.length;
    if (all === 0) out.note(await noneText(ledger));
    if (all > limit) out.note(`${limit} of ${all}; show more with --limit`);
  },
});

async function noneText(ledger: Ledger): Promise<string> {
  const inAll = await new Events(ledger).count({});
  return inAll ? `no events match (${inAll} in all)` : 'no events yet; receive some with: steno listen';
}

const ledgerOf = (context: Context): Promise<Ledger> => context.ledgers.required('events reads the ledger');

/** What is on its way is all that is known of it, whatever has become of the ledger. */
async function listWithoutLedger(
  context: Context,
  filter: EventFilter,
  limit: number | undefined,
  error: unknown,
): Promise<void> {
  const { out } = context;
  if (!context.globals.ledger) throw error;
  const rows = await eventsOnTheWay(undefined, await context.ledgers.waiting(), filter);
  if (rows.length === 0) throw error;
  const events = rows.slice(0, limit).map((row) => new ReceivedEvent(row));
  await out.showPages(eventPages(justOne(events)));
  const { hint } = error instanceof StenoError ? error : {};
  await out.warn(`only events that are not in the ledger yet are listed: ${errorMessage(error)}`, hint);
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
    if (out.mode.json) for (const event of page) await out.showNext({ ...eventsView([]), json: event.json });
    else if (out.forPeople && out.isBrief) await showLines(out, lines.events(page, false));
    else await out.showNext(eventsView(page));
  }
}
