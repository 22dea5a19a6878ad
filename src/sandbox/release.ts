import { findFileState } from '../catalog/states.ts';
import { StenoError } from '../lib/errors.ts';
import { advanceStep, currentStep, startStep } from './steps.ts';
import { moveClock, type ServiceContext } from './store.ts';

export interface MovedFile {
  readonly id: string;
  readonly state: string;
}

/** Ends a hold: the order's files and invoices start their timelines. */
export function release(context: ServiceContext, order: string): MovedFile[] {
  const { db, now } = context;
  const row = db.get<{ held: number }>('SELECT held FROM orders WHERE id = ?', order);
  if (!row) throw new StenoError('missing', `the sandbox has no order ${order}`);
  if (!row.held) throw new StenoError('failed', `order ${order} is not on hold`);
  db.run('UPDATE orders SET held = 0 WHERE id = ?', order);
  const files = db.all<{ id: string }>('SELECT id FROM files WHERE "order" = ? ORDER BY rowid', order);
  for (const { id } of files) {
    startStep(db, `file/${id}`, 1, now);
    for (const invoice of invoicesLedBy(context, id)) startStep(db, `invoice/${invoice}`, 1, now);
  }
  return files.map(({ id }) => ({ id, state: currentStep(db, `file/${id}`, now).state }));
}

/** Moves the given files, or all unfinished ones, to their next state; a held file stays on hold. */
export function advanceFiles(context: ServiceContext, ids: readonly string[]): MovedFile[] {
  const { db, now } = context;
  const files =
    ids.length > 0 ? ids.map((id) => ({ id, held: isHeld(context, id) })) : unfinishedFiles(context);
  return files.map(({ id, held }) => {
    if (!held) {
      advanceStep(db, `file/${id}`, now);
      for (const invoice of invoicesLedBy(context, id)) advanceStep(db, `invoice/${invoice}`, now);
    }
    return { id, state: currentStep(db, `file/${id}`, now).state };
  });
}

/** Moves the clock; returns the files that are in another state by that. */
export function advanceClock(context: ServiceContext, milliseconds: number): MovedFile[] {
  const { db, now } = context;
  const files = unfinishedFiles(context).map(({ id }) => ({
    id,
    before: currentStep(db, `file/${id}`, now),
  }));
  moveClock(db, milliseconds);
  return files.flatMap(({ id, before }) => {
    const { n, state } = currentStep(db, `file/${id}`, now + milliseconds);
    return n === before.n ? [] : [{ id, state }];
  });
}

function isHeld({ db }: ServiceContext, id: string): boolean {
  const row = db.get<{ held: number | null }>(
    'SELECT held FROM files LEFT JOIN orders ON orders.id = "order" WHERE files.id = ?',
    id,
  );
  if (!row) throw new StenoError('missing', `the sandbox has no file ${id}`);
  return row.held === 1;
}

function unfinishedFiles({ db, now }: ServiceContext): Array<{ id: string; held: boolean }> {
  return db
    .all<{ id: string }>(
      'SELECT files.id FROM files JOIN orders ON orders.id = "order" WHERE NOT held ORDER BY files.rowid',
    )
    .filter(({ id }) => findFileState(currentStep(db, `file/${id}`, now).state)?.end === undefined)
    .map(({ id }) => ({ id, held: false }));
}

/** The invoices on which this file comes first: an invoice advances with its first file. */
function invoicesLedBy({ db }: ServiceContext, file: string): string[] {
  return db
    .all<{ invoice: string }>(
      `SELECT DISTINCT invoice FROM items AS mine WHERE file = ?
       AND NOT EXISTS (SELECT 1 FROM items WHERE invoice = mine.invoice AND rowid < mine.rowid AND file <> mine.file)`,
      file,
    )
    .map(({ invoice }) => invoice);
}
