/**
 * After a damaged ledger: every audio that any row knows to be on order is claimed again, so that it is not bought a
 * second time because the row that held it was lost.
 */
import { deriveHolders } from '../claims.ts';
import type { Store } from '../stores/store.ts';
import type { Hide } from '../table.ts';
import { TrackedFiles } from '../tracked-files.ts';

const PAGE_ROWS = 500;

/** Stops after each page of rows. */
export async function* restoreClaims(db: Store, hide: Hide): AsyncGenerator<void> {
  // The first name of an audio is kept with its item, and each name with its claim.
  await db.run(
    `INSERT INTO purchase_names (name, purchase, position) SELECT url_key, purchase, position FROM purchase_items
     WHERE url_key <> '' ON CONFLICT DO NOTHING`,
  );
  await db.run(
    `INSERT INTO purchase_names (name, purchase, position) SELECT name, purchase, 0 FROM claims
     WHERE NOT EXISTS (SELECT 1 FROM purchase_names AS own WHERE own.name = claims.name AND own.purchase = claims.purchase)`,
  );
  yield* holdNames(db);
  yield* claimFiles(db, hide);
}

async function* holdNames(db: Store): AsyncGenerator<void> {
  for (let last = 0; ; ) {
    const page = await db.all<{ number: number; id: string; profile: string }>(
      `SELECT number, id, profile FROM purchases WHERE number > ? ORDER BY number LIMIT ${PAGE_ROWS}`,
      last,
    );
    for (const profile of new Set(page.map((row) => row.profile)))
      await deriveHolders(
        db,
        profile,
        page.filter((row) => row.profile === profile).map(({ id }) => id),
      );
    if (page.length < PAGE_ROWS) return;
    last = page.at(-1)?.number ?? last;
    yield;
  }
}

interface FileRow {
  readonly seq: number;
  readonly id: string;
  readonly profile: string;
  readonly url: string;
  readonly key: string;
  readonly order_id: string;
  /** Null where it was lost. */
  readonly purchase: string | null;
}

/** Files whose purchase was lost, or its items. */
async function* claimFiles(db: Store, hide: Hide): AsyncGenerator<void> {
  for (let last = 0; ; ) {
    const page = await db.all<FileRow>(
      `SELECT seq, files.id, files.profile, url, key, files.order_id, purchases.id AS purchase
       FROM files LEFT JOIN purchases ON purchases.id = files.purchase
       WHERE seq > ? AND files.test = 0 ORDER BY seq LIMIT ${PAGE_ROWS}`,
      last,
    );
    for (const { seq, id: file, profile, url: link, key, order_id: order, purchase } of page) {
      last = seq;
      const tracked = new TrackedFiles({ db, profile, hide });
      if (purchase !== null) await tracked.claim(link, key || undefined, purchase, file);
      else {
        const own = await tracked.takeIn({ link, key: key || undefined, file, order });
        await db.run('UPDATE files SET purchase = ? WHERE seq = ?', own, seq);
      }
    }
    if (page.length < PAGE_ROWS) return;
    yield;
  }
}
