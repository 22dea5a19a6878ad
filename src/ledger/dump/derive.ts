/**
 * What follows from records that have met: the status of purchases, who holds their names, which order a file is of, what
 * each purchase cost. A function of the rows alone, so that it does not matter which of them came first.
 */
import { usage } from '../../lib/errors.ts';
import { updateBills } from '../billing.ts';
import { deriveHolders } from '../claims.ts';
import { DERIVE_COUNTED, DERIVE_STATUS, dropFiles, OF_FILE, settled } from '../purchase-table.ts';
import type { Store, Value } from '../stores/store.ts';
import { groupBy, jsonList } from '../table.ts';
import { NOTHING_IMPORTED, type Row } from './lines.ts';

const LISTED = 'IN (SELECT value FROM json_each(?))';

/** Somebody said that it was placed, and took that back. */
const takenBack = (kind: 'order' | 'refund'): string =>
  `SELECT id FROM purchases WHERE kind = '${kind}' AND id ${LISTED}
     AND EXISTS (SELECT 1 FROM settlements WHERE purchase = purchases.id AND placed = 1 AND undone_at IS NOT NULL)`;

/** Of purchases of one profile, after all their rows were written. */
export async function derivePurchases(db: Store, profile: string, ids: readonly string[]): Promise<void> {
  const list = jsonList(ids);
  await dropFiles(db, takenBack('order'), list);
  // The service is asked what state they are in.
  await db.run(
    `UPDATE files SET state = '', ended = '', checked_at = NULL WHERE profile = ? AND state = 'Refunded'
       AND id IN (SELECT file FROM purchase_items WHERE purchase IN (${takenBack('refund')} AND NOT EXISTS (SELECT 1 ${settled(1)})))
       AND NOT EXISTS (SELECT 1 FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
         WHERE items.profile = files.profile AND items.file = files.id AND purchases.kind = 'refund'
           AND (purchases.outcome = 'placed' OR EXISTS (SELECT 1 ${settled(1)})))`,
    profile,
    list,
  );
  await db.run(
    `UPDATE files SET purchase = coalesce((SELECT purchases.id ${OF_FILE}), purchase) WHERE profile = ?
       AND id IN (SELECT file FROM purchase_items WHERE purchase ${LISTED} AND file <> '')`,
    profile,
    list,
  );
  await db.run(`${DERIVE_STATUS} WHERE id ${LISTED}`, list);
  await db.run(
    `UPDATE files SET order_id = (SELECT order_id FROM purchases WHERE id = files.purchase)
     WHERE purchase IN (${takenBack('order')})`,
    list,
  );
  await db.run(`${DERIVE_COUNTED} WHERE purchase ${LISTED}`, list);
  await db.run(
    `UPDATE purchase_items SET billed = NULL, unpaid = 0, refunded = 0 WHERE purchase ${LISTED} AND billed IS NOT NULL
       AND (file = '' OR purchase IN (SELECT id FROM purchases WHERE status = 'refused'))`,
    list,
  );
  await deriveHolders(db, profile, ids);
}

/** Of files of one profile, after their purchases: which upgrades they had, and what all of it cost. */
export async function deriveFiles(db: Store, profile: string, files: readonly string[]): Promise<void> {
  await tellOfUpgrades(db, profile, files);
  await updateBills(db, profile, files);
}

interface UpgradeRow {
  readonly file: string;
  readonly upgrades: string;
  /** Null where it has no upgrade, or none any more. */
  readonly skus: string | null;
  readonly at: string | null;
}

/** What was last learned of a file may be from a ledger that knows nothing of its upgrade: then it is open again. */
async function tellOfUpgrades(db: Store, profile: string, files: readonly string[]): Promise<void> {
  const rows = await db.all<UpgradeRow>(
    `SELECT files.id AS file, files.upgrades, bought.skus, bought.at FROM files LEFT JOIN (
       SELECT items.profile, items.file, purchases.skus, purchases.started_at, purchases.id,
         coalesce(purchases.ended_at, purchases.started_at) AS at
       FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
       WHERE purchases.kind = 'upgrade' AND purchases.status = 'placed' AND purchases.test = 0 AND items.file <> ''
     ) AS bought ON bought.profile = files.profile AND bought.file = files.id
     WHERE files.profile = ? AND files.id ${LISTED} AND (files.upgrades <> '' OR bought.file IS NOT NULL)
     ORDER BY bought.started_at, bought.id`,
    profile,
    jsonList(files),
  );
  for (const [file, own] of groupBy(rows, (row) => row.file)) {
    const wanted = own.flatMap(({ skus }) => (skus ? skus.split(',') : []));
    const known = own[0]?.upgrades.split(',').filter(Boolean) ?? [];
    const isIn = (some: readonly string[], all: readonly string[]): boolean =>
      some.every((sku) => count(all, sku) >= count(some, sku));
    const isNews = !isIn(wanted, known);
    if (!isNews && isIn(known, wanted)) continue;
    const at = own.map((row) => row.at ?? '').reduce((latest, each) => (each > latest ? each : latest), '');
    const skus = wanted.join(',');
    await db.run(`UPDATE files SET upgrades = ? WHERE profile = ? AND id = ?`, skus, profile, file);
    if (isNews)
      await db.run(
        `UPDATE files SET upgraded_at = ?, reworked = 0, due_since = '',
           ended = CASE WHEN ended = 'delivered' THEN '' ELSE ended END WHERE profile = ? AND id = ?`,
        ...[at, profile, file],
      );
    else if (!skus)
      await db.run('UPDATE files SET upgraded_at = NULL WHERE profile = ? AND id = ?', profile, file);
  }
}

const count = (all: readonly string[], one: string): number => all.filter((each) => each === one).length;

/** An invoice that was fetched again may have fewer lines. */
export const dropOldLines = (db: Store, profile: string): Promise<number> =>
  db.run(
    `DELETE FROM invoice_lines WHERE profile = ? AND fetched_at < (SELECT max(kept_invoices.fetched_at)
       FROM kept_invoices WHERE kept_invoices.profile = invoice_lines.profile AND own_id = invoice)`,
    profile,
  );

/**
 * Sees to it that a purchase and all that belongs to it are of one profile: those that the ledger has under another one
 * come along, or nothing is imported.
 */
export async function bringTogether(
  db: Store,
  rows: readonly Row[],
  profiles: ReadonlyMap<string, string>,
  moves: boolean,
): Promise<void> {
  const moving = new Map<string, string[]>();
  for (const { id, profile: to } of rows) {
    const from = profiles.get(String(id)) ?? '';
    if (from === to) continue;
    if (!moves)
      throw usage(
        `the purchases of '${to}' in this export belong to '${from}' in this ledger`,
        `import them as that account: steno ledger import <file> --as ${from}; ${NOTHING_IMPORTED}`,
      );
    moving.set(from, [...(moving.get(from) ?? []), String(id)]);
  }
  const [to] = rows.map(({ profile }) => String(profile));
  for (const [from, ids] of moving) await move(db, ids, from, to ?? '');
}

async function move(db: Store, ids: readonly string[], from: string, to: string): Promise<void> {
  const list = jsonList(ids);
  const files = `SELECT id FROM files WHERE profile = ? AND purchase ${LISTED}`;
  const statements: ReadonlyArray<readonly [string, readonly Value[]]> = [
    [`DELETE FROM claims WHERE purchase ${LISTED}`, [list]],
    // What the other profile has of them by now is merged with the rows of the export.
    [
      `DELETE FROM downloads WHERE profile = ? AND file IN (${files}) AND EXISTS (SELECT 1 FROM downloads AS other
         WHERE other.profile = ? AND other.file = downloads.file AND other.ext = downloads.ext
           AND other.folder = downloads.folder)`,
      [from, from, list, to],
    ],
    [`UPDATE downloads SET profile = ? WHERE profile = ? AND file IN (${files})`, [to, from, from, list]],
    [
      `DELETE FROM files WHERE profile = ? AND purchase ${LISTED}
         AND id IN (SELECT id FROM files AS other WHERE other.profile = ?)`,
      [from, list, to],
    ],
    [`UPDATE files SET profile = ? WHERE profile = ? AND purchase ${LISTED}`, [to, from, list]],
    [`UPDATE purchase_items SET profile = ? WHERE purchase ${LISTED}`, [to, list]],
    [`UPDATE purchases SET profile = ? WHERE id ${LISTED}`, [to, list]],
  ];
  for (const [sql, values] of statements) await db.run(sql, ...values);
  await deriveHolders(db, from, ids);
}
