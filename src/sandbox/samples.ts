import type { Database } from '../lib/sqlite.ts';
import { nextId } from './ids.ts';

/** The files for tests of an upgrade or a refund. */
export const sampleFiles: readonly string[] = ['100', '101'];

/** The fields of a test delivery. */
export const SAMPLE = { audiofile: '100', order: '4nX', link: 'https://example.com/sample-100.mp3' } as const;

export function addSamples(db: Database): void {
  nextId(db, 'transaction');
  for (const id of sampleFiles) {
    db.run(
      `INSERT INTO files (id, "order", link, title, names, notes, minutes, stars, sku, extras, test)
       VALUES (?, NULL, ?, ?, 'Ada|Ben', '', 3, 5, 'TRANS14', '', 1)`,
      id,
      `https://example.com/sample-${id}.mp3`,
      `Sample ${id}`,
    );
    db.run("INSERT INTO steps (subject, n, state, at) VALUES (?, 0, 'Delivered', 0)", `file/${id}`);
  }
}
