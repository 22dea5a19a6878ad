import { command } from '../spec/command.ts';
import { flag, text } from '../spec/options.ts';

export const report = command({
  name: 'report',
  summary: 'Show what was spent, how long it took, and what is late',
  about:
    'Adds up the invoices of the files of the ledger: what was spent by month, SKU and order, how long transcripts took ' +
    'against the target of their SKU, and what is open, on hold, unclear or late.',
  details: [
    'Spent is what was billed and paid, less refunds; unpaid bills are shown separately. What is not billed yet counts by ' +
      'the date of its purchase, with its estimate apart. Unknown amounts are reported as unknown, never counted as zero.',
    'Invoices are fetched from the service and kept in the ledger; one that is paid is fetched again only after an ' +
      'upgrade or a refund. The cost of a delivered file is looked up for 30 days. --json and --csv have every part, ' +
      'exactly; with --by, --csv has one of them. --html replaces an earlier report; any other file only with --force.',
  ],
  options: {
    since: text('--since <time>', 'leave out what was spent or delivered before: 2026-01-01, or 90d ago'),
    until: text(
      '--until <time>',
      'leave out what was spent or delivered after; a date is the end of that day',
    ),
    by: text('--by <month|sku|order|feed|tag>', 'show what was spent by this alone', {
      values: ['month', 'sku', 'order', 'feed', 'tag'],
    }),
    html: text('--html <file>', 'write a page with charts, for a browser or a printer', {
      values: 'file',
      excludes: ['--by', '--csv'],
    }),
    force: flag('--force', 'with --html, replace a file that is no report', { needs: ['--html'] }),
  },
  examples: [
    ['steno report', 'all of it'],
    ['steno report --since 2026-01-01 --by sku', 'this year, by SKU'],
    ['steno report --since 2026-09-01 --until 2026-09-30 --by order', 'one month, by order'],
    ['steno report --html report.html', 'a page to open, send or print'],
    ['steno report --json | jq ".totals"', 'exact amounts for a script'],
  ],
  load: async () => (await import('./report.run.ts')).run,
});
