import type { Database } from '../lib/sqlite.ts';

/** A file's or an invoice's way through its states: rows with the time at which each begins, where it is known. */

export type Subject = `${'file' | 'invoice'}/${string}`;

export interface Step {
  readonly state: string;
  /** Milliseconds after the step before; null: only when told to. */
  readonly wait: number | null;
}

interface StepRow {
  readonly n: number;
  readonly state: string;
  readonly wait: number | null;
  readonly at: number | null;
}

export function addSteps(db: Database, subject: Subject, steps: readonly Step[], first = 0): void {
  steps.forEach(({ state, wait }, index) => {
    db.run(
      'INSERT INTO steps (subject, n, state, wait) VALUES (?, ?, ?, ?)',
      subject,
      first + index,
      state,
      wait,
    );
  });
}

/** Begins step `n` now; those after it follow by their waits, and what hangs on each takes its time. */
export function begin(db: Database, subject: Subject, n: number, now: number): void {
  const rows = db.all<StepRow>(
    'SELECT n, wait FROM steps WHERE subject = ? AND n >= ? ORDER BY n',
    subject,
    n,
  );
  let at: number | null = now;
  for (const row of rows) {
    if (row.n > n) at = at === null || row.wait === null ? null : at + row.wait;
    db.run('UPDATE steps SET at = ? WHERE subject = ? AND n = ?', at, subject, row.n);
    db.run('UPDATE transactions SET at = ? WHERE subject = ? AND step = ?', at, subject, row.n);
    db.run(
      'UPDATE events SET due = ? WHERE subject = ? AND step = ? AND claimed IS NULL',
      at,
      subject,
      row.n,
    );
  }
}

export function current(
  db: Database,
  subject: Subject,
  now: number,
): { n: number; state: string; at: number } {
  const row = db.get<{ n: number; state: string; at: number }>(
    'SELECT n, state, at FROM steps WHERE subject = ? AND at <= ? ORDER BY n DESC LIMIT 1',
    subject,
    now,
  );
  return row ?? first(db, subject);
}

/** A clock that was set back must not leave a file without a state. */
function first(db: Database, subject: Subject): { n: number; state: string; at: number } {
  const row = db.get<{ state: string; at: number }>(
    'SELECT state, at FROM steps WHERE subject = ? AND n = 0',
    subject,
  );
  if (!row) throw new Error(`${subject} has no steps`);
  return { n: 0, ...row };
}

/** Goes on to the next step at once, if there is one. */
export function goOn(db: Database, subject: Subject, now: number): void {
  const next = current(db, subject, now).n + 1;
  if (hasStep(db, subject, next)) begin(db, subject, next, now);
}

/** Drops all that was still to come and goes to `state` instead; tells the new step's number. */
export function divert(db: Database, subject: Subject, state: string, now: number): number {
  const { n } = current(db, subject, now);
  for (const table of ['events', 'transactions']) {
    db.run(`DELETE FROM ${table} WHERE subject = ? AND step > ?`, subject, n);
  }
  db.run('DELETE FROM steps WHERE subject = ? AND n > ?', subject, n);
  addSteps(db, subject, [{ state, wait: null }], n + 1);
  return n + 1;
}

const hasStep = (db: Database, subject: Subject, n: number): boolean =>
  db.get('SELECT 1 FROM steps WHERE subject = ? AND n = ?', subject, n) !== undefined;
