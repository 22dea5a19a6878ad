import { findFileState } from '../catalog/states.ts';
import { StenoError } from '../lib/errors.ts';
import { begin, current, goOn } from './steps.ts';
import type { Moment } from './store.ts';

export interface Moved {
  readonly id: string;
  readonly state: string;
}

/** Ends a hold: the order's files and invoices go on from where they would have begun. */
export function release(moment: Moment, order: string): Moved[] {
  const { db, now } = moment;
  const row = db.get<{ held: number }>('SELECT held FROM orders WHERE id = ?', order);
  if (!row) throw new StenoError('missing', `the sandbox has no order ${order}`);
  if (!row.held) throw new StenoError('failed', `order ${order} is not on hold`);
  db.run('UPDATE orders SET held = 0 WHERE id = ?', order);
  const files = db.all<{ id: string }>('SELECT id FROM files WHERE "order" = ? ORDER BY rowid', order);
  for (const { id } of files) {
    begin(db, `file/${id}`, 1, now);
    for (const invoice of invoicesLedBy(moment, id)) begin(db, `invoice/${invoice}`, 1, now);
  }
  return files.map(({ id }) => ({ id, state: current(db, `file/${id}`, now).state }));
}

/** Moves the given files, or all that are under way, to their next state; a held file stays where it is. */
export function move(moment: Moment, ids: readonly string[]): Moved[] {
  const { db, now } = moment;
  const files = ids.length > 0 ? ids.map((id) => ({ id, held: isHeld(moment, id) })) : open(moment);
  return files.map(({ id, held }) => {
    if (!held) {
      goOn(db, `file/${id}`, now);
      for (const invoice of invoicesLedBy(moment, id)) goOn(db, `invoice/${invoice}`, now);
    }
    return { id, state: current(db, `file/${id}`, now).state };
  });
}

function isHeld({ db }: Moment, id: string): boolean {
  const row = db.get<{ held: number | null }>(
    'SELECT held FROM files LEFT JOIN orders ON orders.id = "order" WHERE files.id = ?',
    id,
  );
  if (!row) throw new StenoError('missing', `the sandbox has no file ${id}`);
  return row.held === 1;
}

function open({ db, now }: Moment): Array<{ id: string; held: boolean }> {
  return db
    .all<{ id: string }>(
      'SELECT files.id FROM files JOIN orders ON orders.id = "order" WHERE NOT held ORDER BY files.rowid',
    )
    .filter(({ id }) => findFileState(current(db, `file/${id}`, now).state)?.end === undefined)
    .map(({ id }) => ({ id, held: false }));
}

/** An invoice keeps step with the first file on it. */
function invoicesLedBy({ db }: Moment, file: string): string[] {
  return db
    .all<{ invoice: string }>(
      `SELECT DISTINCT invoice FROM items AS mine WHERE file = ?
       AND NOT EXISTS (SELECT 1 FROM items WHERE invoice = mine.invoice AND rowid < mine.rowid AND file <> mine.file)`,
      file,
    )
    .map(({ invoice }) => invoice);
}
