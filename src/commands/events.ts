import { eventTypes } from '../catalog/events.ts';
import { command } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { count, duration, flag, list, text } from '../cli/options.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { usage } from '../lib/errors.ts';
import { parseSince } from '../lib/since.ts';
import { checkUrl } from '../lib/urls.ts';

async function ledgerOf(context: Context): Promise<Ledger> {
  const ledger = await context.ledger();
  if (!ledger) throw usage('events reads the ledger, so --no-ledger makes no sense here');
  return ledger;
}

const show = command({
  name: 'show',
  summary: 'Show one event whole, and what was done about it',
  about:
    'Shows every field of an event, its body as it came, and each action with its outcome. With --quiet it prints ' +
    'the body alone; with --json also its bytes as base64.',
  args: [{ name: '<n>', help: 'number of the event' }],
  examples: [
    ['steno events show 12', 'all that is known of it'],
    ['steno events show 12 --json | jq .actions', 'what was done about it'],
  ],
  async run(context, { args }) {
    const ledger = await ledgerOf(context);
    const [{ findEvents }, { eventPage }] = await Promise.all([
      import('../listen/history.ts'),
      import('../views/event.ts'),
    ]);
    for (const event of findEvents(ledger, args))
      await context.out.show(eventPage(event, ledger.actions.of(event.n)));
  },
});

const replay = command({
  name: 'replay',
  summary: 'Send events once more, as they came',
  about:
    'Sends the delivery of each event to a URL once more, body and content type to the byte, or runs a command for ' +
    'it as listen --exec does. One after the other, each once. If the target is out of reach it exits with 7, if it ' +
    'refuses with 1, if only some worked with 10.',
  args: [{ name: '<n…>', help: 'numbers of the events' }],
  options: {
    to: text('--to <url>', 'send them here'),
    exec: text('--exec <command>', 'run this for each: JSON on stdin, STENO_EVENT_* variables'),
    execTimeout: duration('--exec-timeout <duration>', 'end a command that takes longer', { default: '10m' }),
  },
  examples: [
    ['steno events replay 12 --to http://127.0.0.1:3000/hook', 'once more to a program of yours'],
    ['steno events replay 12 13 --exec "jq .fields"', 'once more through a command'],
    [
      'steno events --quiet --since 1d | xargs steno events replay --to http://127.0.0.1:3000/hook',
      'a whole day',
    ],
  ],
  async run(context, { args, options }) {
    const { to, exec } = options;
    if ((to === undefined) === (exec === undefined)) throw usage('replay wants one of --to and --exec');
    if (to !== undefined) checkUrl(to, 'hook');
    const ledger = await ledgerOf(context);
    const [flow, { replayedView }, { raiseFailures, values }] = await Promise.all([
      import('../listen/history.ts'),
      import('../views/event.ts'),
      import('../flows/bulk.ts'),
    ]);
    const { env, signal, out } = context;
    const events = flow.findEvents(ledger, args);
    const command = { command: exec ?? '', env, timeout: options.execTimeout ?? 600_000, jobs: 1 };
    const outcomes =
      to === undefined
        ? await flow.replayWith(
            { ...command, onOutput: (chunk) => out.passOn(String(chunk)) },
            events,
            signal,
          )
        : await flow.replayTo(to, events, env, signal);
    await out.show(replayedView(values(outcomes)));
    raiseFailures(outcomes);
  },
});

export const events = command({
  name: 'events',
  summary: 'List what listen has received',
  about:
    'Lists the events that listen has received, newest first, with their numbers. On a terminal it shows a page; ' +
    'elsewhere, and with --json or --csv, everything. With --follow the order is turned round: the latest ones, and ' +
    'then each as it comes, whichever process receives it. --quiet prints the numbers.',
  options: {
    limit: count(
      '--limit <n>',
      'at most so many (default: 50 on a terminal, all elsewhere; 10 with --follow)',
    ),
    event: list('--event <EVENT…>', 'only these events', { values: eventTypes.map(({ name }) => name) }),
    file: text('--file <id>', 'only events about this file', { values: 'audiofile' }),
    order: text('--order <id>', 'only events about this order', { values: 'order' }),
    since: text('--since <time>', 'only events since then: 2026-11-01, or 3d for three days ago'),
    found: flag('--found', 'instead: deliveries that never came, which listen found by looking'),
    follow: flag('--follow', 'go on as events come in, until Ctrl-C'),
  },
  children: [show, replay],
  examples: [
    ['steno events', 'the latest'],
    ['steno events --event TRANSCRIPT_COMPLETE --since 7d', 'what was completed lately'],
    ['steno events --order 4nX --json', 'all about an order, for a script'],
    ['steno events --follow', 'watch another process listen'],
    ['steno events replay 12 --to http://127.0.0.1:3000/hook', 'send one once more'],
  ],
  async run(context, { options }) {
    const { out, signal } = context;
    const ledger = await ledgerOf(context);
    const [flow, view, { eventNames }] = await Promise.all([
      import('../listen/history.ts'),
      import('../views/event.ts'),
      import('../listen/event-names.ts'),
    ]);
    const { file, order, found, since } = options;
    const filter = {
      events: eventNames(options.event, (what) => out.note(what)),
      file,
      order,
      found,
      since: since === undefined ? undefined : parseSince(since, Date.now()),
    };
    const forPeople = out.onTerminal && !out.mode.json && !out.mode.csv && !out.mode.quiet;
    if (options.follow) {
      for await (const page of flow.followEvents(ledger, filter, options.limit ?? 10, signal)) {
        if (out.mode.json)
          for (const event of page) await out.showNext({ ...view.eventsView([], 'line'), json: event.json });
        else await out.showNext(forPeople ? view.eventLines(page, false) : view.eventsView(page, 'body'));
      }
    }
    const limit = options.limit ?? (forPeople ? 50 : Number.POSITIVE_INFINITY);
    await out.showPages(view.eventPages(flow.listEvents(ledger, filter, limit), forPeople ? 'line' : 'body'));
    if (!forPeople) return;
    const all = ledger.events.count(filter);
    if (all === 0) out.note('no events; receive some with: steno listen');
    if (all > limit) out.note(`${limit} of ${all}; more with --limit`);
  },
});
