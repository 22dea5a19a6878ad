/** Purchases of an export that the ledger has under another profile. */
import { usage } from '../../lib/errors.ts';
import type { Value } from '../../lib/sqlite-driver.ts';
import { deriveHolders } from '../claims.ts';
import { jsonList } from '../json-list.ts';
import type { Store } from '../stores/store.ts';
import { NOTHING_IMPORTED } from './parse.ts';
import type { Fields } from './rows-sql.ts';

/**
 * Sees to it that a purchase and all that belongs to it are of one profile: those that the ledger has under another one
 * come along, or nothing is imported.
 */
export async function bringTogether(
  db: Store,
  rows: readonly Fields[],
  profiles: ReadonlyMap<string, string>,
  moves: boolean,
): Promise<void> {
  const moving = new Map<string, string[]>();
  for (const { id, profile: to } of rows) {
    const from = profiles.get(String(id)) ?? '';
    if (from === to) continue;
    if (!moves)
      throw usage(
        `purchases of '${to}' in this export are those of '${from}' in this ledger`,
        `take them in as such: steno ledger import <file> --as ${from}; ${NOTHING_IMPORTED}`,
      );
    moving.set(from, [...(moving.get(from) ?? []), String(id)]);
  }
  const [to] = rows.map(({ profile }) => String(profile));
  for (const [from, ids] of moving) await move(db, ids, from, to ?? '');
}

async function move(db: Store, ids: readonly string[], from: string, to: string): Promise<void> {
  const list = jsonList(ids);
  const ofThem = 'IN (SELECT value FROM json_each(?))';
  const files = `SELECT id FROM files WHERE profile = ? AND purchase ${ofThem}`;
  const statements: ReadonlyArray<readonly [string, readonly Value[]]> = [
    [`DELETE FROM claims WHERE purchase ${ofThem}`, [list]],
    // What the other profile has of them by now is merged with the rows of the export.
    [
      `DELETE FROM downloads WHERE profile = ? AND file IN (${files}) AND EXISTS (SELECT 1 FROM downloads AS other
         WHERE other.profile = ? AND other.file = downloads.file AND other.ext = downloads.ext
           AND other.folder = downloads.folder)`,
      [from, from, list, to],
    ],
    [`UPDATE downloads SET profile = ? WHERE profile = ? AND file IN (${files})`, [to, from, from, list]],
    [
      `DELETE FROM files WHERE profile = ? AND purchase ${ofThem}
         AND id IN (SELECT id FROM files AS other WHERE other.profile = ?)`,
      [from, list, to],
    ],
    [`UPDATE files SET profile = ? WHERE profile = ? AND purchase ${ofThem}`, [to, from, list]],
    [`UPDATE purchase_items SET profile = ? WHERE purchase ${ofThem}`, [to, list]],
    [`UPDATE purchases SET profile = ? WHERE id ${ofThem}`, [to, list]],
  ];
  for (const [sql, values] of statements) await db.run(sql, ...values);
  await deriveHolders(db, from, ids);
}
