/** What is to be done about each event and what came of it: written with the event, so that a crash forgets none. */
import type { Database } from '../lib/sqlite.ts';

export interface ActionRow {
  readonly event: number;
  readonly kind: string;
  readonly target: string;
  readonly status: 'pending' | 'done' | 'failed';
  readonly tries: number;
  readonly outcome: string;
  readonly updated_at: string;
}

/** One kind of action on one target, as it was asked for. */
export interface Asked {
  readonly kind: string;
  readonly target: string;
}

export interface Ended {
  readonly status: ActionRow['status'];
  readonly tries: number;
  readonly outcome: string;
}

/** What was refused so often is not tried again at every start. */
const MOST_TRIES = 40;

export class Actions {
  readonly #db: Database;
  readonly #profile: string;

  constructor(db: Database, profile: string) {
    this.#db = db;
    this.#profile = profile;
  }

  add(event: number, { kind, target }: Asked, run: number): void {
    this.#db.run(
      "INSERT OR IGNORE INTO actions (event, kind, target, run, status, updated_at) VALUES (?, ?, ?, ?, 'pending', ?)",
      event,
      kind,
      target,
      run,
      new Date().toISOString(),
    );
  }

  has(event: number, { kind, target }: Asked): boolean {
    const row = this.#db.get(
      'SELECT 1 FROM actions WHERE event = ? AND kind = ? AND target = ?',
      event,
      kind,
      target,
    );
    return row !== undefined;
  }

  /** What a run has still to do for events after this one, oldest first. */
  pending({ kind, target }: Asked, run: number, after: number, limit: number): ActionRow[] {
    return this.#db.all<ActionRow>(
      `SELECT event, kind, target, status, tries, outcome, updated_at FROM actions
       WHERE kind = ? AND target = ? AND run = ? AND status = 'pending' AND event > ? AND status <> 'done'
       ORDER BY event LIMIT ?`,
      kind,
      target,
      run,
      after,
      limit,
    );
  }

  /** How much a run leaves to do; with `failed` that is also what it gave up. */
  unfinished({ kind, target }: Asked, run: number, failed: boolean): number {
    const row = this.#db.get<{ n: number }>(
      "SELECT count(*) AS n FROM actions WHERE kind = ? AND target = ? AND run = ? AND status IN ('pending', ?)",
      kind,
      target,
      run,
      failed ? 'failed' : 'pending',
    );
    return row?.n ?? 0;
  }

  update(event: number, { kind, target }: Asked, { status, tries, outcome }: Ended): void {
    this.#db.run(
      `UPDATE actions SET status = ?, tries = ?, outcome = ?, updated_at = ?
       WHERE event = ? AND kind = ? AND target = ?`,
      status,
      tries,
      outcome,
      new Date().toISOString(),
      event,
      kind,
      target,
    );
  }

  /** Takes over what listeners that are gone left undone, and with `failed` also what they gave up; tells how much. */
  adopt({ kind, target }: Asked, run: number, alive: readonly number[], failed: boolean): number {
    return this.#db.run(
      `UPDATE actions SET run = ?, status = 'pending'
       WHERE kind = ? AND target = ? AND status <> 'done' AND (status = 'pending' OR (? AND tries < ${MOST_TRIES}))
       AND run IN (SELECT id FROM runs WHERE profile = ? AND id NOT IN (SELECT value FROM json_each(?)))`,
      run,
      kind,
      target,
      Number(failed),
      this.#profile,
      JSON.stringify([...alive, run]),
    );
  }

  of(event: number): ActionRow[] {
    return this.#db.all<ActionRow>(
      'SELECT event, kind, target, status, tries, outcome, updated_at FROM actions WHERE event = ? ORDER BY kind, target',
      event,
    );
  }
}
