import { type LogEntry, PurchaseLog } from '../ledger/purchase-log.ts';
import { LOG_ROWS } from '../lib/defaults.ts';
import { nowMs, parseSince } from '../lib/time.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import { count, text } from '../spec/options.ts';
import { withPager } from '../ui/pager.ts';
import { logRecord, logView } from '../views/purchases.ts';

export const log = command({
  name: 'log',
  summary: 'Show who bought or refunded what, and what it cost',
  about:
    'Lists every call that costs or returns money, newest first: orders, upgrades and refunds, including those ' +
    'sent with steno api. Each entry shows when it was sent, by which user or CI job, its outcome and its cost.',
  details: [
    'The source of each cost:',
    [
      ['billed', 'the amount that the service billed; negative for a refund'],
      ['estimated', 'not billed yet; based on the price and length known at the time of purchase'],
      ['unknown', 'neither billed nor estimated; steno files --refresh and steno report ask the service'],
    ],
    'Money that the service returned without a refund request is deducted from the cost of the order. A settled ' +
      'attempt shows who settled it, and whether that was undone.',
  ],
  options: {
    since: text('--since <time>', 'only calls sent since this time: 2026-11-01, yesterday or 30d'),
    file: text('--file <id>', 'only calls about this file', { values: 'audiofile' }),
    order: text('--order <id>', 'only this order, and the upgrades and refunds of its files', {
      values: 'order',
    }),
    limit: count('--limit <n>', 'show at most this many', {
      defaultNote: `${LOG_ROWS}; all with --since, --file or --order`,
    }),
  },
  examples: [
    ['steno log', 'the latest'],
    ['steno log --since 30d --csv > purchases.csv', 'a month, for a spreadsheet'],
    ['steno log --file 12345', 'the history of one file'],
    ['steno log --since 30d --json | jq "map(.cost // 0) | add"', 'the known cost of a month'],
  ],
  effect: 'read',
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
