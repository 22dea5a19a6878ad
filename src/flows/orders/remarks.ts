/** What people are told before and while orders are sent: what was left out, and why. */

import { doubtfulText, otherSkusNote } from './duplicates.ts';
import type { KeptOut } from './guard.ts';
import type { PlacedOrder } from './place.ts';
import type { OrderPlan } from './plan.ts';
import { describeAudio, describeUrls } from './planned-order.ts';
import type { OrderRun } from './run.ts';

export interface Remark {
  readonly text: string;
  readonly hint?: string | undefined;
  /** It is told with --json too. */
  readonly isWarning?: boolean;
  /** A line that moves says so itself. */
  readonly isProgress?: boolean;
}

/** More would fill the screen. */
const MAX_NAMED = 5;

function someOf(rows: readonly string[]): string {
  const more = rows.length > MAX_NAMED ? [`and ${rows.length - MAX_NAMED} more`] : [];
  return [...rows.slice(0, MAX_NAMED), ...more].join(', ');
}

/** How many were left out, why, and which; with a hint it is a warning. */
function skipped(why: string, rows: readonly string[], of?: number, hint?: string): Remark[] {
  if (rows.length === 0) return [];
  const count = `${rows.length}${of === undefined ? '' : ` of ${of}`}`;
  return [{ text: `Skipped ${count}: ${why} (${someOf(rows)})`, hint, isWarning: hint !== undefined }];
}

/** What a feed or a folder holds that is not ordered. */
export const planRemarks = ({ notes, unread, counted, leftOut }: OrderPlan): Remark[] => [
  ...notes.map((text) => ({ text })),
  ...(unread ? [{ text: unread.message, hint: unread.hint, isWarning: true }] : []),
  ...counted.flatMap(({ because, rows, hint }) =>
    skipped(
      because,
      rows.map(({ path }) => path),
      undefined,
      hint,
    ),
  ),
  ...leftOut.map(({ path, reason }) => ({ text: `left out: ${path}: ${reason}`, isWarning: true })),
];

/** `of`: how many audios there are in all; absent where another process has ordered them meanwhile. */
export function leftOutRemarks(rows: readonly KeptOut[], of?: number): Remark[] {
  const namesOf = (wanted: KeptOut['why']): string[] =>
    rows.flatMap(({ why, doubt, planned }) => (why === wanted && !doubt ? [describeUrls(planned)] : []));
  const { names, hint } = otherSkusNote(rows.filter(({ why }) => why === 'other_skus'));
  return [
    ...skipped(of === undefined ? 'ordered by another process' : 'already ordered', namesOf('ordered'), of),
    ...skipped('ignored', namesOf('ignored'), of),
    ...skipped('already ordered with other SKUs', names, of, `to change its SKUs: ${hint}`),
    ...rows.flatMap(({ doubt }) => (doubt ? [{ ...doubtfulText(doubt), isWarning: true }] : [])),
  ];
}

/**
 * What a person should know with --json too is a warning: that nothing is ordered, or that a cost is not known. `of`: how
 * many audios were to be ordered.
 */
export function overBudgetRemarks({ overBudget, notCovered: why }: OrderRun, of: number): Remark[] {
  const rows = overBudget.flatMap(({ audios }) => audios.map(describeAudio));
  if (rows.length === 0) return [];
  const none = rows.length === of ? ', which covers none of them' : '';
  const reason = why ? ` (${why.message})` : '';
  const text = `left out because of the budget${none}: ${rows.length} of ${of}${reason}: ${someOf(rows)}`;
  return [{ text, hint: why?.hint, isWarning: none !== '' || why?.isUnknown === true }];
}

/** Of an order that costs something, a problem is an error. */
export const placedRemarks = (placed: readonly PlacedOrder[]): Remark[] =>
  placed.flatMap(({ order: { id, error }, files, planned }) => {
    const remark = files.remark ?? (planned.test ? files.problem : undefined);
    const said = error && `order ${id} is placed, but the service says: ${error}`;
    return [remark && `order ${id}: ${remark}`, said].flatMap((text) =>
      text ? [{ text, isWarning: true }] : [],
    );
  });
