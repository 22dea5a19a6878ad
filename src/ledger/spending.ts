/** What orders are expected to cost, added up for a budget. */
import type { SpendingLimit } from './new-order.ts';
import type { Statement } from './store.ts';
import { Table } from './table.ts';

/** What orders of one currency cost. */
export interface SpentRow {
  readonly currency: string;
  readonly millionths: number;
  /** How many orders have no known cost. */
  readonly unknown: number;
}

/** Test orders cost nothing, and what was refused was not bought. */
const counts = "spent.profile = ? AND spent.started_at >= ? AND spent.test = 0 AND spent.status <> 'refused'";

export class Spending extends Table {
  /** What was ordered since a time (ISO 8601) costs, as far as that is known, by currency. */
  since(time: string): Promise<SpentRow[]> {
    return this.db.all<SpentRow>(
      `SELECT spent.currency, CAST(coalesce(sum(spent.cost), 0) AS BIGINT) AS millionths,
         sum(CASE WHEN spent.cost IS NULL THEN 1 ELSE 0 END) AS unknown
       FROM attempts AS spent WHERE ${counts} GROUP BY spent.currency`,
      this.profile,
      time,
    );
  }
}

/** Orders under a limit are begun one after the other: each sees what the others cost. */
export const waitingForOthers = (profile: string, now: string): Statement => ({
  sql: `INSERT INTO budgets (profile, asked_at) VALUES (?, ?)
    ON CONFLICT (profile) DO UPDATE SET asked_at = excluded.asked_at`,
  values: [profile, now],
});

/** Fails where the attempt of a token takes more than is left of a limit. */
export const withinLimit = (
  profile: string,
  token: string,
  { since, millionths }: SpendingLimit,
): Statement => ({
  sql: `UPDATE attempts SET cost = cost WHERE token = ?
    AND (SELECT coalesce(sum(spent.cost), 0) FROM attempts AS spent WHERE ${counts}) <= CAST(? AS BIGINT)`,
  values: [token, profile, since, millionths],
  expects: 1,
});
