/**
 * What follows from records that have met: the status of purchases, who holds their names, which order a file is of, what
 * each purchase cost. A function of the rows alone, so that it does not matter which of them came first.
 */
import { usage } from '../../lib/errors.ts';
import { updateBills } from '../billing.ts';
import { givingNames } from '../claims.ts';
import { dumpTables } from '../dump-tables.ts';
import { DERIVE_COUNTED, DERIVE_STATUS, dropFiles, OF_FILE } from '../purchase-table.ts';
import type { Store, Value } from '../stores/store.ts';
import { groupBy, jsonList } from '../table.ts';
import { deriveUpgrades } from '../upgrades.ts';
import { NOTHING_IMPORTED, type Row } from './lines.ts';

const LISTED = 'IN (SELECT value FROM json_each(?))';

/** SQL: purchases that a person settled, then reopened. */
const takenBack = (kind: 'order' | 'refund'): string =>
  `SELECT id FROM purchases WHERE kind = '${kind}' AND id ${LISTED}
     AND EXISTS (SELECT 1 FROM settlements WHERE purchase = purchases.id AND verdict = 'reopened')`;

const DERIVED_PER_STEP = 1_000;

/** What follows from the rows, when all are there; stops after each step. */
export async function* deriveAll(
  db: Store,
  {
    touchedPurchases,
    touchedFiles,
  }: Readonly<Record<'touchedPurchases' | 'touchedFiles', Map<string, Set<string>>>>,
  profiles: readonly string[],
): AsyncGenerator<void> {
  // Postgres takes tables that were just filled for small ones, and would read all of them for each row.
  if (db.isShared) for (const { name } of dumpTables) await db.run(`ANALYZE ${name}`);
  for (const [profile, ids] of slicesOf(touchedPurchases)) {
    await derivePurchases(db, profile, ids);
    yield;
  }
  for (const profile of profiles) {
    await dropOldLines(db, profile);
    // Whether an invoice is paid shows with every file that names it.
    const sql = "SELECT id FROM files WHERE profile = ? AND invoices <> ''";
    const invoiced = (await db.all<{ id: string }>(sql, profile)).map(({ id }) => id);
    touchedFiles.set(profile, new Set([...(touchedFiles.get(profile) ?? []), ...invoiced]));
  }
  for (const [profile, files] of slicesOf(touchedFiles)) {
    await deriveUpgrades(db, profile, files, true);
    await updateBills(db, profile, files);
    yield;
  }
}

function* slicesOf(touched: ReadonlyMap<string, ReadonlySet<string>>): Generator<[string, string[]]> {
  for (const [profile, ids] of touched) {
    const all = [...ids].sort();
    for (let at = 0; at < all.length; at += DERIVED_PER_STEP)
      yield [profile, all.slice(at, at + DERIVED_PER_STEP)];
  }
}

/** Of purchases of one profile, after all their rows were written. */
export async function derivePurchases(db: Store, profile: string, ids: readonly string[]): Promise<void> {
  const list = jsonList(ids);
  await dropFiles(db, takenBack('order'), list);
  await db.run(
    `UPDATE files SET purchase = coalesce((SELECT purchases.id ${OF_FILE}), purchase) WHERE profile = ?
       AND id IN (SELECT file FROM purchase_items WHERE purchase ${LISTED} AND file <> '')`,
    profile,
    list,
  );
  await db.run(`${DERIVE_STATUS} WHERE id ${LISTED}`, list);
  // The service is asked what state they are in.
  await db.run(
    `UPDATE files SET state = '', ended = '', checked_at = NULL WHERE profile = ? AND state = 'Refunded'
       AND id IN (SELECT file FROM purchase_items WHERE purchase IN (${takenBack('refund')}))
       AND NOT EXISTS (SELECT 1 FROM purchase_items AS items CROSS JOIN purchases ON purchases.id = items.purchase
         WHERE items.profile = files.profile AND items.file = files.id AND purchases.kind = 'refund'
           AND purchases.status = 'placed')`,
    profile,
    list,
  );
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
  await db.batch(givingNames(profile, ids, true));
}

/** An invoice that was fetched again may have fewer lines. */
const dropOldLines = (db: Store, profile: string): Promise<number> =>
  db.run(
    `DELETE FROM invoice_lines WHERE profile = ? AND fetched_at < (SELECT max(kept_invoices.fetched_at)
       FROM kept_invoices WHERE kept_invoices.profile = invoice_lines.profile AND own_id = invoice)`,
    profile,
  );

/**
 * Sees to it that a purchase and all that belongs to it are of one profile: those that the ledger has under another one
 * come along (`moves`), or nothing is imported.
 */
export async function bringTogether(db: Store, rows: readonly Row[], moves: boolean): Promise<void> {
  const [to] = rows.map(({ profile }) => String(profile));
  const found = await db.all<{ id: string; profile: string }>(
    `SELECT id, profile FROM purchases WHERE id ${LISTED}`,
    jsonList(rows.map(({ id }) => String(id))),
  );
  const owners = new Map(rows.map(({ id, profile }) => [String(id), String(profile)]));
  const moving = found.filter(({ id, profile }) => owners.get(id) !== profile);
  for (const [from, theirs] of groupBy(moving, ({ profile }) => profile)) {
    const ids = theirs.map(({ id }) => id);
    if (moves) await move(db, ids, from, to ?? '');
    else
      throw usage(
        `the purchases of '${owners.get(ids[0] ?? '')}' in this export belong to '${from}' in this ledger`,
        `import them as that account: steno ledger import <file> --as ${from}; ${NOTHING_IMPORTED}`,
      );
  }
}

/** What the other profile has of their files by now is merged with the rows of the export. */
async function move(db: Store, ids: readonly string[], from: string, to: string): Promise<void> {
  const list = jsonList(ids);
  const files = `SELECT id FROM files WHERE profile = ? AND purchase ${LISTED}`;
  const statements: ReadonlyArray<readonly [string, readonly Value[]]> = [
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
  // Others of the former profile may hold their names from now on.
  const names = `SELECT name FROM item_names WHERE purchase ${LISTED}`;
  const others = await db.all<{ purchase: string }>(
    `SELECT DISTINCT purchase FROM item_names WHERE profile = ? AND name IN (${names})`,
    from,
    list,
  );
  await db.run(`UPDATE item_names SET profile = ?, holds = 0 WHERE purchase ${LISTED}`, to, list);
  await db.batch(
    givingNames(
      from,
      others.map(({ purchase }) => purchase),
    ),
  );
}
