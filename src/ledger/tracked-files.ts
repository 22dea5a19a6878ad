/** Files that were ordered elsewhere and are followed here. */

import { isUrl } from '../lib/is-url.ts';
import { AttemptTable } from './attempt-table.ts';
import { makeAudio } from './audio-names.ts';
import { TRACKED } from './claims.ts';
import { refuseMoved } from './moved.ts';
import { missingFiles, type OrderedAudio } from './ordered-files.ts';

/** What the service says of a file. */
export interface TrackedFile {
  readonly id: string;
  /** Empty where the service names none. */
  readonly order: string;
  readonly link: string;
  /** Of the speakers. */
  readonly names: string;
  readonly notes: string;
}

/** How an attempt ended whose files were not in the answer. */
const FILES_TRACKED = 'its files were taken in with track';

export class TrackedFiles extends AttemptTable {
  /** Takes a file in; of one that is known, only what was not known. From now on its link counts as ordered. */
  add(file: TrackedFile): Promise<void> {
    return this.db.transaction(async (db) => {
      await refuseMoved(db, this.profile);
      await this.within(db).#add(file);
    });
  }

  async #add(file: TrackedFile): Promise<void> {
    const { id, order, link } = file;
    if (order) await this.#addOrder(file);
    await this.db.run(
      `INSERT INTO files (profile, id, order_id, url, test, ordered_at) VALUES (?, ?, ?, ?, 0, ?)
         ON CONFLICT (profile, id) DO UPDATE SET order_id = coalesce(nullif(files.order_id, ''), excluded.order_id),
           url = coalesce(nullif(files.url, ''), excluded.url)`,
      this.profile,
      id,
      order,
      this.hide(link),
      this.timestamp(),
    );
    await this.claim(link, undefined, order);
    if (order) await this.#settleAccepted(order);
  }

  /** An order that was accepted without its files has a known end when the file of each of its URLs is known. */
  async #settleAccepted(order: string): Promise<void> {
    const accepted = await this.db.all<{ id: number }>(
      "SELECT id FROM attempts WHERE profile = ? AND order_id = ? AND status = 'uncertain' AND test = 0",
      this.profile,
      order,
    );
    if (accepted.length === 0) return;
    const files = await this.db.all<OrderedAudio>(
      "SELECT url, key FROM files WHERE profile = ? AND order_id = ? AND test = 0 AND url <> ''",
      this.profile,
      order,
    );
    for (const { id } of accepted) {
      const audios = await this.db.all<OrderedAudio>(
        'SELECT url, key FROM attempt_urls WHERE attempt = ? ORDER BY position',
        id,
      );
      if (missingFiles(audios, files)) continue;
      await this.db.batch([this.endingAttempt(id, { status: 'placed', order, detail: FILES_TRACKED })]);
    }
  }

  #addOrder({ order, names, notes }: TrackedFile): Promise<number> {
    return this.db.run(
      `INSERT INTO orders (profile, id, placed_at, skus, names, notes) VALUES (?, ?, ?, '', ?, ?)
       ON CONFLICT (profile, id) DO NOTHING`,
      this.profile,
      order,
      this.timestamp(),
      this.hide(names),
      this.hide(notes),
    );
  }

  /** An attempt that was placed holds the audio, as if it had been ordered here; one of unknown outcome gives way. */
  async claim(link: string, key: string | undefined, order: string): Promise<void> {
    if (key === undefined && !isHttpUrl(link)) return;
    const audio = makeAudio(link, key);
    const [holder] = (await this.claims.holders(audio.names)).values();
    if (holder?.status === 'placed') return;
    const token = process.getBuiltinModule('node:crypto').randomUUID();
    const added = await this.db.batch<{ id: number }>([
      ...this.newAttempt({ audios: [audio], skus: [], names: [], test: false }, token),
      { sql: 'SELECT id FROM attempts WHERE token = ?', values: [token] },
    ]);
    const attempt = Number(added?.[0]?.id);
    await this.db.batch([
      this.endingAttempt(attempt, { status: 'placed', order, detail: TRACKED }),
      this.claims.takingFor(attempt, audio.names, 'any'),
    ]);
  }
}

const isHttpUrl = (text: string): boolean => /^https?:/i.test(text) && isUrl(text);
