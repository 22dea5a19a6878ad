import { readFileSync, statSync } from 'node:fs';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { refreshMany } from '../flows/files/refresh.ts';
import { checkIsFree, writeExport } from '../flows/ledger/write-export.ts';
import { costSettings } from '../flows/orders/cost.ts';
import { fetchInvoices, missingInvoices } from '../flows/prices/invoices.ts';
import { gatherReport } from '../flows/report/gather.ts';
import { makeReport, type Report } from '../flows/report/report.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { nowMs } from '../lib/clock.ts';
import { errorMessage, usage } from '../lib/errors.ts';
import { goOnHint } from '../lib/go-on-line.ts';
import { untilInterrupted } from '../lib/interruption.ts';
import { LatestProgress } from '../lib/progress.ts';
import { parseSince, parseUntil } from '../lib/since.ts';
import { justOne } from '../lib/streams.ts';
import { didYouMean } from '../lib/suggest.ts';
import { plural } from '../lib/text.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { isReportPage, reportPage } from '../views/report/page.ts';
import { type Grouping, groupings, reportView, spendView } from '../views/report/rows.ts';
import { reportPages } from '../views/report/terminal.ts';

interface ReportOptions {
  readonly since: string | undefined;
  readonly until: string | undefined;
  readonly by: string | undefined;
  readonly html: string | undefined;
  readonly force: boolean;
}

export async function run(context: Context, { options, line }: Input<ReportOptions>): Promise<void> {
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
  const ledger = await context.requireLedger('report reads the ledger');
  await fetchMissing(context, ledger, line);
  const { currency } = costSettings(context.settings);
  const report = makeReport(await gatherReport(ledger, { since, until, now, currency }));
  if (options.html !== undefined) {
    const page = context.mask.hide(reportPage(report));
    await writeExport(options.html, justOne(page), replaces);
    out.done(`${options.html} is written`, { path: options.html });
    if (out.mode.quiet) out.lines([options.html]);
    return;
  }
  await show(context, report, by);
}

function checkGrouping(text: string): Grouping {
  const found = groupings.find((each) => each === text.toLowerCase());
  if (found) return found;
  throw usage(
    `'${text}' for --by is no grouping`,
    didYouMean(text, groupings, `choose from: ${groupings.join(', ')}`),
  );
}

/** The report is made of what is kept, where the service can't be asked. */
async function fetchMissing(context: Context, ledger: Ledger, line: readonly string[]): Promise<void> {
  const { out } = context;
  try {
    const unbilled = await ledger.files.unbilled();
    if (unbilled.length) await refreshMany(await context.connect(), ledger, unbilled, {});
    const missing = await missingInvoices(ledger);
    if (missing.length === 0) return;
    const transport = await context.connect();
    const latest = new LatestProgress();
    const summary = () => ({
      done: `${latest.done} of ${plural(latest.of, 'invoice')} are fetched and kept`,
      hint: goOnHint('the rest with', line),
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
        `${plural(failed.length, 'invoice')} can't be fetched; the report has what is known without: ${first.error.message}`,
      );
  } catch (error) {
    if (context.signal.aborted) throw error;
    await out.warn(`only invoices that were fetched before are counted: ${errorMessage(error)}`);
  }
}

async function show(context: Context, report: Report, by: Grouping | undefined): Promise<void> {
  const { out } = context;
  if (!out.forPeople) return out.show(by ? spendView(report, by) : reportView(report));
  const pages = reportPages(report, by);
  await withPager(context, async () => {
    for (const { title, view } of pages) {
      out.write(`${title}\n`);
      await out.show(view);
    }
  });
  for (const note of report.notes) out.note(note);
  if (pages.length === 0)
    out.note('nothing was ordered yet; order something with: steno order <url> --sku TRANS14');
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
