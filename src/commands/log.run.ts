import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { type LogEntry, PurchaseLog } from '../ledger/purchase-log.ts';
import { nowMs } from '../lib/clock.ts';
import { LOG_ROWS } from '../lib/defaults.ts';
import { parseSince } from '../lib/since.ts';
import { withPager } from '../ui/pager.ts';
import { logView } from '../views/purchases.ts';

interface LogOptions {
  readonly since: string | undefined;
  readonly file: string | undefined;
  readonly order: string | undefined;
  readonly limit: number | undefined;
}

export async function run(context: Context, { options }: Input<LogOptions>): Promise<void> {
  const { out, settings } = context;
  const since = options.since === undefined ? undefined : parseSince(options.since, nowMs());
  const { file, order } = options;
  const isFiltered = [since, file, order].some((each) => each !== undefined);
  const limit = options.limit ?? (isFiltered ? Number.POSITIVE_INFINITY : LOG_ROWS);
  const ledger = await context.requireLedger('log reads the ledger');
  const entries: LogEntry[] = [];
  // One more tells whether there are others.
  for await (const page of new PurchaseLog(ledger).entries({ since, file, order }, limit + 1))
    entries.push(...page);
  const shown = entries.slice(0, limit);
  await withPager(context, () => out.show(logView(shown, settings.currency, out.forPeople)));
  if (entries.length > shown.length && options.limit === undefined)
    out.note(`the latest ${shown.length} are shown; --limit or --since shows more`);
  if (out.forPeople && entries.length === 0)
    out.note(isFiltered ? 'no purchases match' : 'nothing was bought with this ledger yet');
}
