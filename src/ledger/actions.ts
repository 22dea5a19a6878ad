/** What is to be done about each event and its result: written together with the event, so that a crash loses none. */
import { Table, timestamp } from './table.ts';

export interface ActionRow {
  readonly event: number;
  readonly kind: string;
  readonly target: string;
  readonly status: 'pending' | 'done' | 'failed';
  readonly tries: number;
  readonly outcome: string;
  readonly updated_at: string;
}

/** One kind of action on one target, such as a forward to a URL. */
export interface ActionKey {
  readonly kind: string;
  readonly target: string;
}

/** An action whose target held a secret. */
export interface MarkedActionKey extends ActionKey {
  /** The target without its mark, as earlier versions wrote it. */
  readonly unmarked?: string;
}

export interface ActionResult {
  readonly status: ActionRow['status'];
  readonly tries: number;
  readonly outcome: string;
}

/** What has failed this often is not tried again by the next listener. */
const RETRY_LIMIT = 40;

export class Actions extends Table {
  add(event: number, { kind, target }: ActionKey, run: number): void {
    this.db.run(
      "INSERT OR IGNORE INTO actions (event, kind, target, run, status, updated_at) VALUES (?, ?, ?, ?, 'pending', ?)",
      event,
      kind,
      target,
      run,
      timestamp(),
    );
  }

  /** What an earlier version left undone for a target with a secret is left for the first listener that has one. */
  takeUnmarked({ kind, target, unmarked }: MarkedActionKey): void {
    if (unmarked === undefined) return;
    this.db.run(
      `UPDATE OR IGNORE actions SET target = ? WHERE kind = ? AND target = ? AND status <> 'done'
       AND run IN (SELECT id FROM runs WHERE profile = ?)`,
      target,
      kind,
      unmarked,
      this.profile,
    );
  }

  has(event: number, { kind, target }: ActionKey): boolean {
    const row = this.db.get(
      'SELECT 1 FROM actions WHERE event = ? AND kind = ? AND target = ?',
      event,
      kind,
      target,
    );
    return row !== undefined;
  }

  /** What a run has still to do for events after this one, oldest first. `status <> 'done'` selects the index. */
  pending({ kind, target }: ActionKey, run: number, after: number, limit: number): ActionRow[] {
    return this.db.all<ActionRow>(
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

  /** How many actions a run leaves undone; with `failed`, those that it gave up are counted too. */
  unfinished({ kind, target }: ActionKey, run: number, failed: boolean): number {
    const row = this.db.get<{ n: number }>(
      "SELECT count(*) AS n FROM actions WHERE kind = ? AND target = ? AND run = ? AND status IN ('pending', ?)",
      kind,
      target,
      run,
      failed ? 'failed' : 'pending',
    );
    return row?.n ?? 0;
  }

  update(event: number, { kind, target }: ActionKey, { status, tries, outcome }: ActionResult): void {
    this.db.run(
      `UPDATE actions SET status = ?, tries = ?, outcome = ?, updated_at = ?
       WHERE event = ? AND kind = ? AND target = ?`,
      status,
      tries,
      this.hide(outcome),
      timestamp(),
      event,
      kind,
      target,
    );
  }

  /** Takes over what ended listeners left undone, with `failed` also what they gave up; gives the number of actions. */
  adopt({ kind, target }: ActionKey, run: number, running: readonly number[], failed: boolean): number {
    return this.db.run(
      `UPDATE actions SET run = ?, status = 'pending'
       WHERE kind = ? AND target = ? AND status <> 'done' AND (status = 'pending' OR (? AND tries < ${RETRY_LIMIT}))
       AND run IN (SELECT id FROM runs WHERE profile = ? AND id NOT IN (SELECT value FROM json_each(?)))`,
      run,
      kind,
      target,
      Number(failed),
      this.profile,
      JSON.stringify([...running, run]),
    );
  }

  forEvent(event: number): ActionRow[] {
    return this.db.all<ActionRow>(
      'SELECT event, kind, target, status, tries, outcome, updated_at FROM actions WHERE event = ? ORDER BY kind, target',
      event,
    );
  }
}
