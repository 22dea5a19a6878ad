/** Spend, turnaround and what is late, from plain data. */

import { findOrderSku, transcriptionOf } from '../../catalog/skus.ts';
import { moneyText } from '../../lib/money.ts';
import { cutSignatures } from '../../lib/signatures.ts';
import { plural } from '../../lib/text.ts';
import { readableUrl } from '../../lib/url.ts';
import { groupBy } from '../bulk.ts';
import { dueAt, type ListedFile } from '../files/listed.ts';
import { isWithin, type ReportFile, type ReportInput, type UnclearOrder } from './gather.ts';
import { type Spend, spendOf } from './spend.ts';

export type { Grouping } from './spend.ts';

export type Report = ReturnType<typeof makeReport>;

export function makeReport(input: ReportInput) {
  const spend = spendOf(input);
  const turnaround = turnaroundOf(input);
  const waiting = waitingOf(input);
  const count = (kind: WaitingFile['kind']): number => waiting.filter((each) => each.kind === kind).length;
  const { totals, groups } = spend;
  const files = groupBy(input.files, ({ order }) => order);
  return {
    madeAt: new Date(input.now).toISOString(),
    ...{ since: input.since, until: input.until },
    ...{ totals, groups },
    titleOfOrder: (order: string): string => titleOf(files.get(order) ?? []),
    turnaround,
    waiting,
    counts: {
      delivered: turnaround.reduce((sum, { delivered }) => sum + delivered, 0),
      open: count('open'),
      held: count('held'),
      unclear: count('unclear'),
      late: waiting.filter(({ lateSeconds }) => lateSeconds > 0).length,
    },
    /** What the sums leave out, as texts for people. */
    notes: notesOf(spend),
  };
}

/** The title of its first audio, which the ledger lists last. */
function titleOf(files: readonly ReportFile[]): string {
  const { title = '', url = '' } = files.at(-1) ?? {};
  const more = files.length > 1 ? ` and ${files.length - 1} more` : '';
  return cutSignatures(title || readableUrl(url)) + more;
}

function unbilledText({ unbilled, estimated, unestimated }: Spend): string {
  const known = estimated.length ? [`about ${estimated.map(moneyText).join(' and ')} by estimate`] : [];
  const unknown = unestimated ? [known.length ? `${unestimated} of unknown cost` : 'cost not known'] : [];
  return `${plural(unbilled, 'purchase')} not billed yet: ${[...known, ...unknown].join(', ')}`;
}

const MAX_NAMES = 3;

function notesOf(spend: Spend): string[] {
  const { totals, groups, unreadable, unpriced, unbilled, unread } = spend;
  const notes: string[] = [];
  const unmeasured = totals.reduce((sum, row) => sum + row.unmeasured, 0);
  if (unpriced) notes.push(`${plural(unpriced, 'delivered file')} not counted: cost not known yet`);
  if (unbilled) notes.push(unbilledText(spend));
  if (unread.length)
    notes.push(
      `${unread.map(moneyText).join(' and ')} not counted: billed on invoices that were not read, paid or not`,
    );
  if (unmeasured) notes.push(`${plural(unmeasured, 'file')} not in the minutes: length not known`);
  if (groups.month.some(({ name }) => !name))
    notes.push('some invoices have no readable date, so they count in no month');
  if (unreadable.length) {
    const more = unreadable.length > MAX_NAMES ? ` and ${unreadable.length - MAX_NAMES} more` : '';
    notes.push(`not counted, because it can't be read: ${unreadable.slice(0, MAX_NAMES).join('; ')}${more}`);
  }
  return notes;
}

// How long transcripts took against the target of their SKU, what is under way, and what of that is late.

const DAY_SECONDS = 86_400;

/** A file or an order that no transcript came of yet. */
interface WaitingFile
  extends Pick<ReportFile, 'id' | 'title' | 'url' | 'order' | 'skus' | 'state' | 'orderedAt'> {
  readonly kind: 'open' | 'held' | 'unclear';
  /** The number of the attempt, where the order is unclear; it has no file then. */
  readonly attempt: string;
  /** When its transcript is to be there; empty where its SKU has no target, or while nothing is being done. */
  readonly dueAt: string;
  /** Above zero once it is past that. */
  readonly lateSeconds: number;
}

/** Without test orders, which are not transcribed. */
const isReal = ({ test }: ReportFile): boolean => !test;

function turnaroundOf(input: ReportInput) {
  const delivered = input.files.filter(
    (file) => isReal(file) && file.ended === 'delivered' && isWithin(input, file.deliveredAt),
  );
  return [...groupBy(delivered, ({ skus }) => transcriptionOf(skus))]
    .map(([sku, group]) => turnaroundRow(sku, group))
    .sort((one, other) => other.delivered - one.delivered || (one.sku < other.sku ? -1 : 1));
}

/** Without a target, none is on time or late. Times are undefined where no delivery has both. */
function turnaroundRow(sku: string, files: readonly ReportFile[]) {
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

function waitingFile(file: ReportFile, now: number): WaitingFile {
  const { id, title, url, order, skus, state, hold, orderedAt, dueFrom } = file;
  const due = hold ? '' : dueAt(skus, dueFrom);
  return {
    ...{ kind: hold ? 'held' : 'open', attempt: '', id, title, url, order, skus, state, orderedAt },
    dueAt: due,
    lateSeconds: due ? Math.max(0, Math.floor((now - Date.parse(due)) / 1000)) : 0,
  };
}

/** Open, and past the target of its SKU. */
export const isLate = ({ due_at }: ListedFile, now: number): boolean => now > Date.parse(due_at);

const unclearFile = ({ attempt, at, url, skus }: UnclearOrder): WaitingFile => ({
  ...{ kind: 'unclear', attempt, url, skus, orderedAt: at },
  ...{ id: '', title: '', order: '', state: '', dueAt: '', lateSeconds: 0 },
});
