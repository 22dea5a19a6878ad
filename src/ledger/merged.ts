/**
 * What follows from records that have met: the status of purchases, who holds their names, which order a file is of, what
 * each purchase cost. A function of the rows alone, so that it does not matter which of them came first.
 */
import { groupBy, updateBills } from './billing.ts';
import { deriveHolders } from './claims.ts';
import { jsonList } from './json-list.ts';
import { DERIVE_COUNTED, DERIVE_STATUS, settled } from './purchase-table.ts';
import type { Store } from './stores/store.ts';

const LISTED = 'IN (SELECT value FROM json_each(?))';

/** Somebody said that it was placed, took that back, and nobody else says so. */
const takenBack = (kind: 'order' | 'refund'): string =>
  `SELECT id FROM purchases WHERE kind = '${kind}' AND NOT EXISTS (SELECT 1 ${settled(1)})
     AND EXISTS (SELECT 1 FROM settlements WHERE purchase = purchases.id AND placed = 1 AND undone_at IS NOT NULL)
     AND id ${LISTED}`;

/** The order that a file belongs to, by the items that have its cost: a later one has taken it over. */
const OF_FILE = `FROM purchase_items AS items
  CROSS JOIN purchases ON purchases.id = items.purchase
  WHERE items.profile = files.profile AND items.file = files.id AND items.file <> '' AND purchases.kind = 'order'
  ORDER BY purchases.test, purchases.started_at DESC, purchases.id DESC LIMIT 1`;

/**
 * Of orders whose settlement was taken back (`orders`: SQL for their ids): the files that the service named stay. Of the
 * others, those that only the settlement had named go, and each that another order has is that order's again.
 */
export async function takeFilesBack(db: Store, orders: string, value: string): Promise<void> {
  await db.run(
    `UPDATE purchase_items SET file = named, total_before = '', billed = NULL, unpaid = 0, refunded = 0
     WHERE purchase IN (${orders}) AND file <> named`,
    value,
  );
  const brought = `purchase IN (${orders}) AND NOT EXISTS (
    SELECT 1 FROM purchase_items AS own WHERE own.purchase = files.purchase AND own.file = files.id)`;
  await db.run(
    `DELETE FROM files WHERE ${brought} AND NOT EXISTS (SELECT 1 FROM purchase_items AS other
       WHERE other.profile = files.profile AND other.file = files.id AND other.file <> '')`,
    value,
  );
  const ofOther = (column: string): string => `coalesce((SELECT ${column} ${OF_FILE}), '')`;
  await db.run(
    `UPDATE files SET purchase = ${ofOther('purchases.id')}, order_id = ${ofOther('purchases.order_id')},
       url = ${ofOther('items.url')}, key = ${ofOther('items.key')}, details = ${ofOther('items.details')}
     WHERE ${brought}`,
    value,
  );
  await db.run(
    `UPDATE files SET order_id = (SELECT named FROM purchases WHERE id = files.purchase) WHERE purchase IN (${orders})`,
    value,
  );
}

/** Of purchases of one profile, after all their rows were written. */
export async function derivePurchases(db: Store, profile: string, ids: readonly string[]): Promise<void> {
  const list = jsonList(ids);
  await takeFilesBack(db, takenBack('order'), list);
  // The service is asked what state they are in.
  await db.run(
    `UPDATE files SET state = '', ended = '', checked_at = NULL WHERE profile = ? AND state = 'Refunded'
       AND id IN (SELECT file FROM purchase_items WHERE purchase IN (${takenBack('refund')}))
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
  for (const [file, own] of groupBy(rows)) {
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
