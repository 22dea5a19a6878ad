/** What counts against a budget, and the budget that all who use a ledger share. */
import { type Fraction, fromMillionths } from '../lib/money.ts';
import { updateBills } from './billing.ts';
import type { AudioRow } from './purchase.ts';
import type { Statement } from './stores/store.ts';
import { NOW, Table } from './table.ts';

/** What may be bought in a period. */
export interface SpendingLimit {
  /** As text: a limit may have more digits than a number keeps. */
  readonly millionths: string;
  /** The beginning of the period, in ISO 8601. */
  readonly since: string;
  /** What has no known cost may be bought, as long as what is known leaves something. */
  readonly allowsUnknown: boolean;
}

/** What purchases of one currency cost. */
export interface SpentRow {
  readonly currency: string;
  /** By the service's bills. */
  readonly billed: Fraction;
  /** Of what is not billed yet. */
  readonly estimated: Fraction;
  /** Of what was billed. */
  readonly refunded: Fraction;
}

/** In millionths, as text: a sum may have more digits than a number keeps. */
interface SumsRow {
  readonly currency: string;
  readonly billed: string;
  readonly estimated: string;
  readonly refunded: string;
}

const spentOf = ({ currency, billed, estimated, refunded }: SumsRow): SpentRow => {
  const amount = (text: string): Fraction => fromMillionths(BigInt(text));
  return { currency, billed: amount(billed), estimated: amount(estimated), refunded: amount(refunded) };
};

export interface KeptBudget {
  readonly budget: string;
  readonly setAt: string;
  readonly setBy: string;
}

/** An item whose cost is not known. */
export interface UnpricedItem extends Pick<AudioRow, 'audio_title' | 'audio_seconds'> {
  readonly purchase: string;
  readonly position: number;
  readonly attempt: number;
  readonly kind: string;
  readonly skus: string;
  readonly url: string;
  /** Empty where none is known. */
  readonly file: string;
  /** In minutes, as the service says it. */
  readonly duration: string | null;
}

interface PricedAt {
  readonly millionths: number;
  readonly currency: string;
}

const COUNTED = 'items.profile = ? AND items.counted_at >= ?';
const UNKNOWN = 'items.billed IS NULL AND items.estimate IS NULL';
/** With it, what is asked for before the budget is known costs nothing where there is none. */
const IF_PERIOD =
  "(? = '' OR EXISTS (SELECT 1 FROM budgets WHERE budgets.profile = ? AND budgets.budget LIKE ?))";

const SUMS = `CAST(coalesce(sum(items.billed), 0) AS TEXT) AS billed,
    CAST(coalesce(sum(CASE WHEN items.billed IS NULL THEN items.estimate END), 0) AS TEXT) AS estimated,
    CAST(coalesce(sum(items.refunded), 0) AS TEXT) AS refunded
  FROM purchase_items AS items WHERE ${COUNTED} AND ${IF_PERIOD}`;

/** The first or the last currency of an account, by the alphabet. */
const currencyOf = (end: 'min' | 'max'): string =>
  `coalesce((SELECT ${end}(currency) FROM purchase_items WHERE profile = ? AND currency > ''), '')`;

export class Budgets extends Table {
  /** The budget of this ledger. */
  async get(): Promise<KeptBudget | undefined> {
    return this.db.get<KeptBudget>(
      `SELECT budget, coalesce(set_at, '') AS "setAt", set_by AS "setBy" FROM budgets
       WHERE profile = ? AND budget IS NOT NULL`,
      this.profile,
    );
  }

  /** Sets or, without a text, takes away the budget of this ledger. */
  async set(budget: string | undefined, by: string): Promise<void> {
    await this.db.batch([
      {
        sql: `INSERT INTO budgets (profile, budget, set_at, set_by) VALUES (?, ?, ${NOW}, ?)
          ON CONFLICT (profile) DO UPDATE SET budget = excluded.budget, set_at = excluded.set_at, set_by = excluded.set_by`,
        values: [this.profile, budget ?? null, this.hide(by)],
      },
    ]);
  }

  /**
   * The time that decides the period: that of the database, or of this machine, but never before the latest purchase: setting the
   * clock back frees no budget.
   */
  async nowMs(): Promise<number> {
    const now = Date.parse(this.timestamp());
    if (this.db.isShared) return now;
    const latest = await this.db.get<{ at: string | null }>(
      'SELECT max(counted_at) AS at FROM purchase_items WHERE profile = ? AND counted_at IS NOT NULL',
      this.profile,
    );
    return Math.max(now, Date.parse(latest?.at ?? '') || 0);
  }

  /**
   * What was bought since a time (ISO 8601), by currency; one that is not known counts as the only one that is.
   * `ifPeriod`: only where the budget of this ledger is for it.
   */
  async spentSince(time: string, ifPeriod = ''): Promise<SpentRow[]> {
    const values = [this.profile, time, ifPeriod, this.profile, `%/${ifPeriod}`];
    // Grouping takes three times as long, and an account rarely has two currencies.
    const all = await this.db.get<SumsRow & { other: string; items: number }>(
      `SELECT ${currencyOf('min')} AS currency, ${currencyOf('max')} AS other, count(*) AS items, ${SUMS}`,
      ...[this.profile, this.profile, ...values],
    );
    if (!all?.items) return [];
    const { other, items, ...only } = all;
    if (only.currency === other) return [spentOf(only)];
    const rows = await this.db.all<SumsRow>(
      `SELECT items.currency, ${SUMS} GROUP BY items.currency`,
      ...values,
    );
    return rows.map(spentOf);
  }

  /** What of it has no known cost, the latest first. */
  unpriced(since: string, ifPeriod = ''): Promise<UnpricedItem[]> {
    return this.db.all<UnpricedItem>(
      `SELECT items.purchase, items.position, purchases.number AS attempt, purchases.kind, purchases.skus, items.url,
         items.title AS audio_title, items.seconds AS audio_seconds, items.file, files.duration
       FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
       LEFT JOIN files ON files.profile = items.profile AND files.id = items.file
       WHERE ${COUNTED} AND ${UNKNOWN} AND ${IF_PERIOD} ORDER BY items.counted_at DESC, items.position`,
      ...[this.profile, since, ifPeriod, this.profile, `%/${ifPeriod}`],
    );
  }

  /** A length or a price is known by now. */
  async price(
    items: ReadonlyArray<Pick<UnpricedItem, 'purchase' | 'position' | 'file'> & PricedAt>,
  ): Promise<void> {
    if (items.length === 0) return;
    await this.db.transaction(async (db) => {
      await db.batch(
        items.map(({ purchase, position, millionths, currency }) => ({
          sql: `UPDATE purchase_items SET estimate = ?, currency = ?
            WHERE purchase = ? AND position = ? AND billed IS NULL AND estimate IS NULL`,
          values: [millionths, currency, purchase, position],
        })),
      );
      // What is refunded is refunded by its estimate.
      await updateBills(
        db,
        this.profile,
        items.flatMap(({ file }) => file || []),
      );
    });
  }
}

/** Purchases under a limit are begun one after the other: each sees what the others cost. */
export const waitingForOthers = (profile: string, now: string): Statement => ({
  sql: `INSERT INTO budgets (profile, asked_at) VALUES (?, ?)
    ON CONFLICT (profile) DO UPDATE SET asked_at = excluded.asked_at`,
  values: [profile, now],
});

/** Undoes the batch where the period's purchases are more than a limit, or of unknown cost. */
export function withinLimit(profile: string, purchase: string, limit: SpendingLimit): Statement {
  const { since, millionths, allowsUnknown } = limit;
  const sum = `(SELECT coalesce(sum(coalesce(items.billed, items.estimate) - items.refunded), 0)
    FROM purchase_items AS items WHERE ${COUNTED})`;
  const unknown = `(SELECT count(*) FROM purchase_items AS items WHERE ${COUNTED} AND ${UNKNOWN})`;
  const period = [profile, since];
  return {
    // Where something is not known, what is known must leave something.
    sql: `UPDATE purchases SET seen_at = seen_at WHERE id = ? AND CASE WHEN ${unknown} = 0 THEN ${sum} <= CAST(? AS BIGINT)
      ELSE ? = 1 AND ${sum} < CAST(? AS BIGINT) END`,
    values: [purchase, ...period, ...period, millionths, Number(allowsUnknown), ...period, millionths],
    expects: 1,
  };
}
