/** With what files were upgraded: follows from the upgrades that were accepted, whoever told the ledger so. */
import type { Store } from './stores/store.ts';
import { groupBy, jsonList } from './table.ts';

interface UpgradeRow {
  readonly file: string;
  readonly upgrades: string;
  /** Null where it has no upgrade, or none any more. */
  readonly skus: string | null;
  readonly at: string | null;
}

/** SQL: a delivery may have been that of an earlier order. One that was upgraded before is in that state still. */
const IS_DELIVERED = "(ended = 'delivered' OR (upgraded_at IS NOT NULL AND reworked = 0))";

/** `isImported`: what is known of the files may be older than their upgrades. For use within a transaction. */
export async function deriveUpgrades(
  db: Store,
  profile: string,
  files: readonly string[],
  isImported = false,
): Promise<void> {
  const rows = await db.all<UpgradeRow>(
    `SELECT files.id AS file, files.upgrades, bought.skus, bought.at FROM files LEFT JOIN (
       SELECT items.profile, items.file, purchases.skus, purchases.started_at, purchases.id,
         coalesce(purchases.ended_at, purchases.started_at) AS at
       FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
       WHERE purchases.kind = 'upgrade' AND purchases.status = 'placed' AND purchases.test = 0 AND items.file <> ''
     ) AS bought ON bought.profile = files.profile AND bought.file = files.id
     WHERE files.profile = ? AND files.id IN (SELECT value FROM json_each(?))
       AND (files.upgrades <> '' OR bought.file IS NOT NULL)
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
    const skus = wanted.join(',');
    if (isNews) {
      const at = own.map((row) => row.at ?? '').reduce((latest, each) => (each > latest ? each : latest), '');
      await db.run(
        `UPDATE files SET upgrades = ?, upgraded_at = ?, due_since = '',
           reworked = CASE WHEN ? = 1 OR ${IS_DELIVERED} THEN 0 ELSE 1 END,
           ended = CASE WHEN ended = 'delivered' THEN '' ELSE ended END,
           completed = CASE WHEN ${IS_DELIVERED} THEN 0 ELSE completed END,
           found = CASE WHEN ${IS_DELIVERED} THEN NULL ELSE found END
         WHERE profile = ? AND id = ?`,
        ...[skus, at, Number(isImported), profile, file],
      );
    } else
      await db.run(
        `UPDATE files SET upgrades = ?, upgraded_at = CASE WHEN ? = '' THEN NULL ELSE upgraded_at END, due_since = '',
           ended = CASE WHEN ? = '' AND ended = '' AND state = 'Delivered' THEN 'delivered' ELSE ended END
         WHERE profile = ? AND id = ?`,
        ...[skus, skus, skus, profile, file],
      );
  }
}

const count = (all: readonly string[], one: string): number => all.filter((each) => each === one).length;
