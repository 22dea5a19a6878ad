import { readFileSync, statSync } from 'node:fs';
import { refreshMany } from '../flows/files/refresh.ts';
import { checkIsFree, writeExport } from '../flows/ledger.ts';
import { fetchInvoices, missingInvoices } from '../flows/prices/invoices.ts';
import { gatherReport } from '../flows/report/gather.ts';
import { type Grouping, makeReport, type Report } from '../flows/report/report.ts';
import { Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { errorMessage, usage } from '../lib/errors.ts';
import { goOnHint, untilInterrupted } from '../lib/interruption.ts';
import { justOne } from '../lib/lines.ts';
import { LatestProgress } from '../lib/progress.ts';
import { didYouMean, plural } from '../lib/text.ts';
import { nowMs, parseSince, parseUntil } from '../lib/time.ts';
import { command, SEVERAL_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { count, flag, text } from '../spec/options.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { groupings, reportOutput, reportPages, reportView, spendView } from '../views/report.ts';
import { isReportPage, reportPage } from '../views/report-page.ts';

export const report = command({
  name: 'report',
  summary: 'Report spending, turnaround and late files',
  about:
    'Adds up the invoices of the files in the ledger: spending by month and SKU, turnaround against the ' +
    'target of each SKU, and files that are open, on hold, uncertain or late.',
  details: [
    'Spent is what was billed and paid, less refunds; unpaid bills are shown separately. Purchases that are not ' +
      'billed yet count by their date of purchase, and their estimate is shown separately. Unknown amounts are ' +
      'reported as unknown, never counted as zero.',
    'Invoices are fetched from the service and saved in the ledger; a paid invoice is fetched again only after an ' +
      'upgrade or refund. The rows of each grouping add up to the total: files with the same set of tags share a ' +
      'row (radio + tv), and (none) stands for files without one. steno looks up the cost of a delivered file for 30 days. --json and --csv contain every ' +
      'part with exact amounts; with --by, --csv contains only that part. --html replaces an earlier report; to ' +
      'replace any other file, add --force.',
  ],
  options: {
    since: text(
      '--since <time>',
      'only spending and deliveries since this time: 2026-01-01, yesterday or 90d',
    ),
    until: text(
      '--until <time>',
      'only spending and deliveries until this time; a date includes the whole day',
    ),
    by: text(
      '--by <grouping>',
      `show only spending, by ${groupings.slice(0, -1).join(', ')} or ${groupings.at(-1)}`,
      {
        values: groupings,
      },
    ),
    limit: count('--limit <n>', 'show at most this many rows of each part; months are always shown', {
      defaultNote: 'all',
    }),
    offline: flag('--offline', 'use only what the ledger has; ask the service nothing'),
    html: text('--html <file>', 'write an HTML page with charts, to view or print', {
      values: 'file',
      effect: 'local',
      excludes: ['--by', '--csv'],
    }),
    force: flag('--force', 'with --html, replace a file that is not a report', { needs: ['--html'] }),
  },
  examples: [
    ['steno report', 'the whole report'],
    ['steno report --since 2026-01-01 --by sku', 'this year, by SKU'],
    ['steno report --since 2026-09-01 --until 2026-09-30 --by order', 'one month, by order'],
    ['steno report --html report.html', 'a page to open, send or print'],
    ['steno report --json | jq ".totals"', 'exact amounts for a script'],
  ],
  effect: 'read',
  exits: SEVERAL_EXITS,
  output: reportOutput,
  async run(context, { options, line }) {
    const { out } = context;
    const by = options.by === undefined ? undefined : checkGrouping(options.by);
    if (options.html === '') throw usage('the name after --html is empty', 'name a file');
    const replaces = options.html !== undefined && (options.force || isReport(options.html));
    if (options.html !== undefined && !replaces) checkIsFree(options.html);
    const now = nowMs();
    const since = options.since === undefined ? undefined : parseSince(options.since, now);
    const until = options.until === undefined ? undefined : parseUntil(options.until, now);
    if (since !== undefined && until !== undefined && until < since)
      throw usage('--until is before --since', 'name a later time after --until');
    const ledger = await context.ledgers.required('report reads the ledger');
    if (!options.offline) await fetchMissing(context, ledger, line);
    const { currency } = context.settings;
    const report = limited(
      makeReport(await gatherReport(ledger, { since, until, now, currency })),
      options.limit,
    );
    if (options.html !== undefined) {
      const page = context.mask.hide(reportPage(report));
      await writeExport(options.html, justOne(page), replaces);
      out.done(`${options.html} is written`, { path: options.html }, options.html);
      return;
    }
    await show(context, report, by);
  },
});

const limited = (report: Report, limit = Number.POSITIVE_INFINITY): Report => ({
  ...report,
  groups: Object.fromEntries(
    Object.entries(report.groups).map(([by, rows]) => [by, by === 'month' ? rows : rows.slice(0, limit)]),
  ) as Report['groups'],
  waiting: report.waiting.slice(0, limit),
});

function checkGrouping(text: string): Grouping {
  const found = groupings.find((each) => each === text.toLowerCase());
  if (found) return found;
  throw usage(
    `unknown --by value '${text}'`,
    didYouMean(text, groupings, `choose from: ${groupings.join(', ')}`),
  );
}

/** The report is made of what is kept, where the service can't be asked. */
async function fetchMissing(context: Context, ledger: Ledger, line: readonly string[]): Promise<void> {
  const { out } = context;
  try {
    const unbilled = await new Files(ledger).unbilled();
    if (unbilled.length) await refreshMany(await context.connect(), ledger, unbilled, {});
    const missing = await missingInvoices(ledger);
    if (missing.length === 0) return;
    const transport = await context.connect();
    const latest = new LatestProgress();
    const summary = () => ({
      done: `${latest.done} of ${plural(latest.of, 'invoice')} are fetched and kept`,
      hint: goOnHint('resume with', line),
    });
    const outcomes = await untilInterrupted(context.signal, summary, () =>
      whileWorking(out, 'Fetching invoices', (report) =>
        fetchInvoices(transport, ledger, missing, latest.through(report)),
      ),
    );
    const failed = outcomes.filter(({ error }) => error);
    const [first] = failed;
    if (first?.error)
      await out.warn(
        `could not fetch ${plural(failed.length, 'invoice')}; the report does not include them: ${first.error.message}`,
      );
  } catch (error) {
    if (context.signal.aborted) throw error;
    await out.warn(`only invoices that were fetched before are counted: ${errorMessage(error)}`);
  }
}

async function show(context: Context, report: Report, by: Grouping | undefined): Promise<void> {
  const { out } = context;
  if (!out.isBrief) return out.show(by ? spendView(report, by) : reportView(report));
  const pages = reportPages(report, by, !out.mode.markdown);
  await withPager(context, async () => {
    for (const [at, { title, view }] of pages.entries()) {
      out.stdout.write(`${at ? '\n' : ''}${out.mode.markdown ? `### ${title}\n` : title}\n`);
      await out.show(view);
    }
  });
  for (const note of report.notes) out.note(note);
  if (pages.length === 0)
    out.note('nothing has been ordered yet; order something with: steno order <url> --sku TRANS14');
}

/** One that was written before, or an empty file, as mktemp makes it. */
function isReport(path: string): boolean {
  try {
    if (!statSync(path).isFile()) return false;
    const text = readFileSync(path, 'utf8');
    return text === '' || isReportPage(text);
  } catch {
    // There is none, or it can't be read.
    return false;
  }
}
