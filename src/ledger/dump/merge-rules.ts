/** Which row stays where the ledger and an export have the same one: the later word. SQL for both stores. */

export interface Conflict {
  /** What makes two rows the same. */
  readonly on: readonly string[];
  /** SQL: whether the row of the export (`excluded`) is the later word. Absent: the ledger's own row stays. */
  readonly isLater?: string;
  /** Columns that are set in another way than to the value of the export. */
  readonly set?: Readonly<Record<string, string>>;
}

/** When something was last learned of a file. The stores name the greatest of several values differently. */
const learned = (row: string): string =>
  `(SELECT max(column1) FROM (VALUES (coalesce(${row}.checked_at, '')), (coalesce(${row}.changed_at, '')),
    (coalesce(${row}.heard_at, '')), (${row}.ordered_at)) AS times)`;
const rankOfAction = (row: string): string =>
  `CASE ${row}.status WHEN 'done' THEN 2 WHEN 'failed' THEN 1 ELSE 0 END`;
const isPlaced = (attempt: string): string =>
  `(SELECT status = 'placed' FROM attempts WHERE attempts.id = ${attempt})`;

export const conflicts: Readonly<Record<string, Conflict>> = {
  orders: {
    on: ['profile', 'id'],
    isLater:
      "(orders.skus = '' AND excluded.skus <> '') OR (orders.names = '' AND excluded.names <> '') OR (orders.notes = '' AND excluded.notes <> '')",
    set: {
      skus: "coalesce(nullif(orders.skus, ''), excluded.skus)",
      names: "coalesce(nullif(orders.names, ''), excluded.names)",
      notes: "coalesce(nullif(orders.notes, ''), excluded.notes)",
      placed_at:
        'CASE WHEN excluded.placed_at < orders.placed_at THEN excluded.placed_at ELSE orders.placed_at END',
      hold: 'orders.hold',
    },
  },
  files: {
    on: ['profile', 'id'],
    isLater: `${learned('excluded')} > ${learned('files')} AND excluded.test <= files.test`,
    set: {
      seq: 'files.seq',
      completed: 'CASE WHEN files.completed = 1 THEN 1 ELSE excluded.completed END',
    },
  },
  kept_invoices: { on: ['profile', 'id'], isLater: 'excluded.fetched_at > kept_invoices.fetched_at' },
  uploads: { on: ['profile', 'content'], isLater: 'excluded.at > uploads.at' },
  downloads: { on: ['profile', 'file', 'ext', 'folder'], isLater: 'excluded.at > downloads.at' },
  actions: {
    on: ['event', 'kind', 'target'],
    isLater: `${rankOfAction('excluded')} > ${rankOfAction('actions')}`,
    set: { run: 'actions.run' },
  },
  claims: {
    on: ['profile', 'name'],
    isLater: `${isPlaced('excluded.attempt')} AND NOT ${isPlaced('claims.attempt')}`,
  },
  attempt_names: { on: ['name', 'attempt', 'position'] },
  event_files: { on: ['audiofile', 'event'] },
};

/** How much is known of an attempt. */
const rankOfStatus: Readonly<Record<string, number>> = { sending: 0, uncertain: 1, refused: 2, placed: 2 };

interface AttemptEnd {
  readonly status: string;
  readonly ended_at: string | null;
}

/** Whether the end of an attempt in the export is a later word than that of the ledger. */
export function isLaterEnd(given: AttemptEnd, own: AttemptEnd): boolean {
  const byRank = (rankOfStatus[given.status] ?? 0) - (rankOfStatus[own.status] ?? 0);
  return byRank > 0 || (byRank === 0 && (given.ended_at ?? '') > (own.ended_at ?? ''));
}
