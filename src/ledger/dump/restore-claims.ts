/**
 * After a damaged ledger: every audio that any row knows to be on order is claimed again, so that it is not bought a
 * second time because the row that held it was lost.
 */
import type { Store } from '../store.ts';
import type { Hide } from '../table.ts';
import { TrackedFiles } from '../tracked-files.ts';

const PAGE_ROWS = 500;

const isLive = "attempts.test = 0 AND attempts.status <> 'refused'";

/** Stops after each page of rows. */
export async function* restoreClaims(db: Store, hide: Hide): AsyncGenerator<void> {
  yield* nameUrls(db);
  // A placed order holds a name before one whose outcome is unknown.
  await db.run(
    `INSERT INTO claims (profile, name, attempt)
     SELECT attempts.profile, attempt_names.name, attempts.id FROM attempt_names JOIN attempts ON attempts.id = attempt
     WHERE ${isLive} ORDER BY attempts.status = 'placed' DESC, attempts.id DESC ON CONFLICT DO NOTHING`,
  );
  yield* claimFiles(db, hide);
}

interface UrlRow {
  readonly rowid: number;
  readonly attempt: number;
  readonly position: number;
  readonly url_key: string;
}

/** URLs whose names were lost. The first name is kept with the URL. */
async function* nameUrls(db: Store): AsyncGenerator<void> {
  for (let last = 0; ; ) {
    const page = await db.all<UrlRow>(
      `SELECT rowid, attempt, position, url_key FROM attempt_urls
       WHERE rowid > ? AND NOT EXISTS (SELECT 1 FROM attempt_names
         WHERE attempt_names.attempt = attempt_urls.attempt AND attempt_names.position = attempt_urls.position)
       ORDER BY rowid LIMIT ${PAGE_ROWS}`,
      last,
    );
    for (const { rowid, attempt, position, url_key } of page) {
      await db.run(
        'INSERT INTO attempt_names (name, attempt, position) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
        url_key,
        attempt,
        position,
      );
      last = rowid;
    }
    if (page.length < PAGE_ROWS) return;
    yield;
  }
}

interface FileRow {
  readonly seq: number;
  readonly profile: string;
  readonly url: string;
  readonly key: string;
  readonly order_id: string;
}

/** Files whose attempt was lost. */
async function* claimFiles(db: Store, hide: Hide): AsyncGenerator<void> {
  for (let last = 0; ; ) {
    const page = await db.all<FileRow>(
      `SELECT seq, profile, url, key, order_id FROM files WHERE seq > ? AND test = 0 ORDER BY seq LIMIT ${PAGE_ROWS}`,
      last,
    );
    for (const { seq, profile, url, key, order_id } of page) {
      await new TrackedFiles({ db, profile, hide }).claim(url, key || undefined, order_id);
      last = seq;
    }
    if (page.length < PAGE_ROWS) return;
    yield;
  }
}
