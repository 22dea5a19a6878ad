import { type LogEntry, PurchaseLog } from '../ledger/purchase-log.ts';
import { LOG_ROWS } from '../lib/defaults.ts';
import { nowMs, parseSince } from '../lib/time.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import { count, text } from '../spec/options.ts';
import { withPager } from '../ui/pager.ts';
import { logRecord, logView } from '../views/purchases.ts';

export const log = command({
  name: 'log',
  summary: 'Show who ordered, upgraded or refunded what, and what it cost',
  about:
    'Lists every call that costs or returns money, newest first: orders, upgrades and refunds, those of steno api ' +
    'included. Each entry says when it was sent, by whom or by which CI job, how it ended and what it cost.',
  details: [
    [
      ['billed', 'the cost is what the service billed; a refund has an amount below zero'],
      ['estimated', 'not billed yet: price and length as they were known when it was bought'],
      ['unknown', 'neither is known; steno files --refresh and steno report ask the service'],
    ],
    'Money that the service returned without a refund is deducted from the cost of the order. An unclear purchase that ' +
      'was settled shows who settled it, and whether that was undone.',
  ],
  options: {
    since: text('--since <time>', 'only what was sent since then: 2026-11-01, or 30d ago'),
    file: text('--file <id>', 'only calls about this file', { values: 'audiofile' }),
    order: text('--order <id>', 'only this order, and what was done with its files', { values: 'order' }),
    limit: count('--limit <n>', 'show at most this many', {
      defaultNote: `${LOG_ROWS}; all with --since, --file or --order`,
    }),
  },
  examples: [
    ['steno log', 'the latest'],
    ['steno log --since 30d --csv > purchases.csv', 'a month, for a spreadsheet'],
    ['steno log --file 12345', 'the story of one file'],
    ['steno log --since 30d --json | jq "map(.cost // 0) | add"', 'what a month cost, as far as it is known'],
  ],
  effect: 'none',
  exits: LEDGER_EXITS,
  output: () => logRecord.printedList,
  async run(context, { options }) {
    const { out, settings } = context;
    const since = options.since === undefined ? undefined : parseSince(options.since, nowMs());
    const { file, order } = options;
    const isFiltered = [since, file, order].some((each) => each !== undefined);
    const limit = options.limit ?? (isFiltered ? Number.POSITIVE_INFINITY : LOG_ROWS);
    const ledger = await context.ledgers.required('log reads the ledger');
    const entries: LogEntry[] = [];
    // One more tells whether there are others.
    for await (const page of new PurchaseLog(ledger).entries({ since, file, order }, limit + 1))
      entries.push(...page);
    const shown = entries.slice(0, limit);
    await withPager(context, () => out.show(logView(shown, settings.currency, out.isBrief)));
    if (entries.length > shown.length && options.limit === undefined)
      out.note(`the latest ${shown.length}; show more with --limit or --since`);
    if (out.forPeople && entries.length === 0)
      out.note(isFiltered ? 'no purchases match' : 'no purchases in this ledger yet');
  },
});
