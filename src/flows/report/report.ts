/** Spend, turnaround and what is late, from plain data. */
import { moneyText } from '../../lib/money.ts';
import { plural } from '../../lib/text.ts';
import type { ReportInput } from './input.ts';
import { type TurnaroundRow, turnaroundOf, type WaitingFile, waitingOf } from './progress.ts';
import { type Spend, type SpendRow, spendOf } from './spend.ts';

export interface Report {
  /** All in ISO 8601. */
  readonly madeAt: string;
  readonly since: string | undefined;
  readonly until: string | undefined;
  /** One row for each currency. */
  readonly totals: readonly SpendRow[];
  readonly months: readonly SpendRow[];
  readonly skus: readonly SpendRow[];
  readonly orders: readonly SpendRow[];
  readonly feeds: readonly SpendRow[];
  readonly tags: readonly SpendRow[];
  readonly turnaround: readonly TurnaroundRow[];
  readonly waiting: readonly WaitingFile[];
  readonly counts: ReportCounts;
  /** What the sums leave out, as texts for people. */
  readonly notes: readonly string[];
}

export interface ReportCounts {
  readonly delivered: number;
  readonly open: number;
  readonly held: number;
  readonly unclear: number;
  /** Of those that are open. */
  readonly late: number;
}

export function makeReport(input: ReportInput): Report {
  const spend = spendOf(input);
  const turnaround = turnaroundOf(input);
  const waiting = waitingOf(input);
  const count = (kind: WaitingFile['kind']): number => waiting.filter((each) => each.kind === kind).length;
  const { totals, months, skus, orders, feeds, tags } = spend;
  return {
    madeAt: new Date(input.now).toISOString(),
    since: input.since,
    until: input.until,
    totals,
    months,
    skus,
    orders,
    feeds,
    tags,
    turnaround,
    waiting,
    counts: {
      delivered: turnaround.reduce((sum, { delivered }) => sum + delivered, 0),
      open: count('open'),
      held: count('held'),
      unclear: count('unclear'),
      late: waiting.filter(({ lateSeconds }) => lateSeconds > 0).length,
    },
    notes: notesOf(spend),
  };
}

function unbilledText({ unbilled, estimated, unestimated }: Spend): string {
  const known = estimated.length ? [`about ${estimated.map(moneyText).join(' and ')} by estimate`] : [];
  const unknown = unestimated ? [known.length ? `${unestimated} of unknown cost` : 'cost not known'] : [];
  return `${plural(unbilled, 'purchase')} not billed yet: ${[...known, ...unknown].join(', ')}`;
}

const MAX_NAMES = 3;

function notesOf(spend: Spend): string[] {
  const { totals, months, unreadable, unpriced, unbilled, unread } = spend;
  const notes: string[] = [];
  const unmeasured = totals.reduce((sum, row) => sum + row.unmeasured, 0);
  if (unpriced) notes.push(`${plural(unpriced, 'delivered file')} not counted: cost not known yet`);
  if (unbilled) notes.push(unbilledText(spend));
  if (unread.length)
    notes.push(
      `${unread.map(moneyText).join(' and ')} not counted: billed on invoices that were not read, paid or not`,
    );
  if (unmeasured) notes.push(`${plural(unmeasured, 'file')} not in the minutes: length not known`);
  if (months.some(({ name }) => !name))
    notes.push('some invoices have no date that can be read: they have no month');
  if (unreadable.length) {
    const more = unreadable.length > MAX_NAMES ? ` and ${unreadable.length - MAX_NAMES} more` : '';
    notes.push(`not counted, because it can't be read: ${unreadable.slice(0, MAX_NAMES).join('; ')}${more}`);
  }
  return notes;
}
