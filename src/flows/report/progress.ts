/** How long transcripts took against the target of their SKU, what is under way, and what of that is late. */
import { findOrderSku, targetDaysOf, transcriptionOf } from '../../catalog/skus.ts';
import { isWithin, type ReportFile, type ReportInput, type UnclearOrder } from './input.ts';

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

export function turnaroundOf(input: ReportInput): TurnaroundRow[] {
  const delivered = input.files.filter(
    (file) => isReal(file) && file.ended === 'delivered' && isWithin(input, file.deliveredAt),
  );
  const bySku = new Map<string, ReportFile[]>();
  for (const file of delivered) {
    const sku = transcriptionOf(file.skus);
    const group = bySku.get(sku);
    if (group) group.push(file);
    else bySku.set(sku, [file]);
  }
  return [...bySku]
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
export function waitingOf({ files, unclear, now }: ReportInput): WaitingFile[] {
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
