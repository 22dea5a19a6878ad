import type { Database } from '../lib/sqlite.ts';

/** The states of a file or an invoice in their order, each with the time at which it begins, where that is known. */

export type Subject = `${'file' | 'invoice'}/${string}`;

export interface Step {
  readonly state: string;
  /** Milliseconds after the step before; null: only `advance` starts it. */
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

/** Starts step `n` now, and sets the times of the steps after it, with their transactions, invoice items and events. */
export function startStep(db: Database, subject: Subject, n: number, now: number): void {
  const rows = db.all<StepRow>(
    'SELECT n, wait FROM steps WHERE subject = ? AND n >= ? ORDER BY n',
    subject,
    n,
  );
  let at: number | null = now;
  for (const row of rows) {
    if (row.n > n) at = at === null || row.wait === null ? null : at + row.wait;
    db.run('UPDATE steps SET at = ? WHERE subject = ? AND n = ?', at, subject, row.n);
    timeEffects(db, subject, row.n);
  }
}

/** What happens at a step happens when it begins. */
export function timeEffects(db: Database, subject: Subject, n: number): void {
  const { at = null } =
    db.get<{ at: number | null }>('SELECT at FROM steps WHERE subject = ? AND n = ?', subject, n) ?? {};
  for (const table of ['transactions', 'items'])
    db.run(`UPDATE ${table} SET at = ? WHERE subject = ? AND step = ?`, at, subject, n);
  db.run('UPDATE events SET due = ? WHERE subject = ? AND step = ? AND claimed IS NULL', at, subject, n);
}

export function currentStep(
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

/** For a clock that was set back: a file is never without a state. */
function first(db: Database, subject: Subject): { n: number; state: string; at: number } {
  const row = db.get<{ state: string; at: number }>(
    'SELECT state, at FROM steps WHERE subject = ? AND n = 0',
    subject,
  );
  if (!row) throw new Error(`${subject} has no steps`);
  return { n: 0, ...row };
}

/** Starts the next step now, if there is one. */
export function advanceStep(db: Database, subject: Subject, now: number): void {
  const next = currentStep(db, subject, now).n + 1;
  if (hasStep(db, subject, next)) startStep(db, subject, next, now);
}

/** Adds steps after the last one; returns their numbers. */
export function appendSteps(db: Database, subject: Subject, steps: readonly Step[]): number[] {
  const first =
    (db.get<{ n: number }>('SELECT max(n) AS n FROM steps WHERE subject = ?', subject)?.n ?? -1) + 1;
  addSteps(db, subject, steps, first);
  return steps.map((_, index) => first + index);
}

/** Forgets what was to happen from this step on. */
export function dropEffects(db: Database, subject: Subject, from: number): void {
  for (const table of ['events', 'transactions', 'items'])
    db.run(`DELETE FROM ${table} WHERE subject = ? AND step >= ?`, subject, from);
}

/** Replaces all steps to come with one of this state; returns its number. */
export function replaceNextSteps(db: Database, subject: Subject, state: string, now: number): number {
  const { n } = currentStep(db, subject, now);
  dropEffects(db, subject, n + 1);
  db.run('DELETE FROM steps WHERE subject = ? AND n > ?', subject, n);
  addSteps(db, subject, [{ state, wait: null }], n + 1);
  return n + 1;
}

const hasStep = (db: Database, subject: Subject, n: number): boolean =>
  db.get('SELECT 1 FROM steps WHERE subject = ? AND n = ?', subject, n) !== undefined;
