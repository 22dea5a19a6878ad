/** Spend, turnaround and what is late, from plain data. */

import { findOrderSku, targetDaysOf, transcriptionOf } from '../../catalog/skus.ts';
import { moneyText } from '../../lib/money.ts';
import { plural } from '../../lib/text.ts';
import { groupBy } from '../bulk.ts';
import { isWithin, type ReportFile, type ReportInput, type UnclearOrder } from './gather.ts';
import { type Spend, type SpendTables, spendOf } from './spend.ts';

export interface Report extends Pick<ReportInput, 'since' | 'until'>, SpendTables {
  /** In ISO 8601. */
  readonly madeAt: string;
  readonly turnaround: readonly TurnaroundRow[];
  readonly waiting: readonly WaitingFile[];
  readonly counts: ReportCounts;
  /** What the sums leave out, as texts for people. */
  readonly notes: readonly string[];
}

interface ReportCounts {
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
    ...{ since: input.since, until: input.until },
    ...{ totals, months, skus, orders, feeds, tags },
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

// How long transcripts took against the target of their SKU, what is under way, and what of that is late.

const DAY_SECONDS = 86_400;

export interface TurnaroundRow {
  readonly sku: string;
  readonly targetDays: number | undefined;
  readonly delivered: number;
  /** How many of them took no longer than the target, and how many did; 0 for a SKU without a target. */
  readonly onTime: number;
  readonly late: number;
  /** From order to delivery; undefined where no delivery has both times. */
  readonly medianSeconds: number | undefined;
  readonly slowestSeconds: number | undefined;
  /** Deliveries whose time is not known. */
  readonly unmeasured: number;
}

export interface WaitingFile {
  readonly kind: 'open' | 'held' | 'unclear';
  /** The id of the file; empty for an order that is unclear. */
  readonly id: string;
  /** The number of the attempt, where the order is unclear. */
  readonly attempt: string;
  /** Empty where it is not known; people are then shown the URL. */
  readonly title: string;
  readonly url: string;
  readonly order: string;
  readonly skus: readonly string[];
  readonly state: string;
  readonly orderedAt: string;
  /** When its transcript is to be there; empty where its SKU has no target, or while nothing is being done. */
  readonly dueAt: string;
  /** Above zero once it is past that. */
  readonly lateSeconds: number;
}

/** Without test orders, which are not transcribed. */
const isReal = ({ test }: ReportFile): boolean => !test;

function turnaroundOf(input: ReportInput): TurnaroundRow[] {
  const delivered = input.files.filter(
    (file) => isReal(file) && file.ended === 'delivered' && isWithin(input, file.deliveredAt),
  );
  return [...groupBy(delivered, ({ skus }) => transcriptionOf(skus))]
    .map(([sku, group]) => turnaroundRow(sku, group))
    .sort((one, other) => other.delivered - one.delivered || (one.sku < other.sku ? -1 : 1));
}

function turnaroundRow(sku: string, files: readonly ReportFile[]): TurnaroundRow {
  const targetDays = findOrderSku(sku)?.targetDays;
  const took = files.flatMap(secondsTaken).sort((one, other) => one - other);
  const isLate = (seconds: number): boolean => targetDays !== undefined && seconds > targetDays * DAY_SECONDS;
  const late = took.filter(isLate).length;
  return {
    sku,
    targetDays,
    delivered: files.length,
    onTime: targetDays === undefined ? 0 : took.length - late,
    late,
    medianSeconds: median(took),
    slowestSeconds: took.at(-1),
    unmeasured: files.length - took.length,
  };
}

/** A clock that was set back would give a time below zero, which says nothing. */
function secondsTaken({ orderedAt, deliveredAt }: ReportFile): number[] {
  const seconds = Math.round((Date.parse(deliveredAt) - Date.parse(orderedAt)) / 1000);
  return seconds >= 0 ? [seconds] : [];
}

/** Of an even number, the mean of the two in the middle, in whole seconds. */
function median(sorted: readonly number[]): number | undefined {
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return low === undefined || high === undefined ? undefined : Math.round((low + high) / 2);
}

/** What is open, held or unclear: the latest first, then by the time of the order. */
function waitingOf({ files, unclear, now }: ReportInput): WaitingFile[] {
  const open = files.filter((file) => isReal(file) && !file.ended).map((file) => waitingFile(file, now));
  return [...open, ...unclear.map(unclearFile)].sort(
    (one, other) =>
      other.lateSeconds - one.lateSeconds ||
      Number(one.orderedAt > other.orderedAt) - Number(one.orderedAt < other.orderedAt),
  );
}

function waitingFile(
  { id, title, url, order, skus, state, hold, orderedAt, dueFrom }: ReportFile,
  now: number,
): WaitingFile {
  const days = targetDaysOf(skus);
  const ordered = Date.parse(dueFrom);
  const isDue = !hold && days !== undefined && !Number.isNaN(ordered);
  const due = isDue ? ordered + days * DAY_SECONDS * 1000 : Number.NaN;
  return {
    kind: hold ? 'held' : 'open',
    id,
    attempt: '',
    title,
    url,
    order,
    skus,
    state,
    orderedAt,
    dueAt: isDue ? new Date(due).toISOString() : '',
    lateSeconds: isDue ? Math.max(0, Math.floor((now - due) / 1000)) : 0,
  };
}

const unclearFile = ({ attempt, at, url, skus }: UnclearOrder): WaitingFile => ({
  kind: 'unclear',
  id: '',
  attempt,
  title: '',
  url,
  order: '',
  skus,
  state: '',
  orderedAt: at,
  dueAt: '',
  lateSeconds: 0,
});
