/** What is to be done about each event and its result: written together with the event, so that a crash loses none. */
import { renewLease } from './runs.ts';
import { Table, timestamp } from './table.ts';
import type { ActionKey } from './waiting.ts';

export interface ActionRow {
  readonly event: number;
  readonly kind: string;
  readonly target: string;
  readonly status: 'pending' | 'done' | 'failed';
  readonly tries: number;
  readonly outcome: string;
  readonly updated_at: string;
  /** When it is tried again (ISO 8601); empty: as soon as possible. */
  readonly due_at: string;
}

export interface NewAction extends ActionKey {
  readonly event: number;
  /** The ledger does not know the file or the order that it is about. */
  readonly isUnknown: boolean;
  /** The listeners that the event has passed. */
  readonly via: string;
}

/** An action that waits to be done. */
export interface WaitingAction {
  readonly event: number;
  /** How often it was begun before. */
  readonly tries: number;
  /** 1: the ledger does not know what it is about. */
  readonly is_unknown: number;
  /** Since when it is tried (ISO 8601): it is given up some time after that. */
  readonly since: string;
  readonly via: string;
}

/** Which actions may be begun. */
export interface NextQuery {
  /** ISO 8601. */
  readonly now: string;
  /** No later event. */
  readonly upTo: number;
  /** Of each: about what the ledger knows, and about what it does not. */
  readonly limit: number;
}

export interface ActionResult {
  readonly status: ActionRow['status'];
  readonly tries: number;
  readonly outcome: string;
  readonly dueAt?: string | undefined;
}

/** What has failed this often is not tried again by the next listener. */
const RETRY_LIMIT = 40;
/** Rows that one statement changes, some milliseconds: more would hold up the events that come in meanwhile. */
const SLICE = 100;

const ofQueue = "kind = ? AND target = ? AND run = ? AND status = 'pending'";
/** The plus sign keeps SQLite from sorting all that the run has to do, where an index has it in order. */
const nextOf = `SELECT event, tries, is_unknown, since, via FROM actions
  WHERE ${ofQueue} AND is_unknown = ? AND due_at <= ? AND +event <= ? ORDER BY due_at, event LIMIT ?`;
/** Runs that have ended, or that are gone without an end. */
const ofEnded = `run IN (SELECT runs.id FROM runs WHERE runs.profile = ?
  AND (runs.ended_at IS NOT NULL OR runs.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?))))`;

export class Actions extends Table {
  /** For use within a transaction. */
  async add(actions: readonly NewAction[], run: number): Promise<void> {
    const now = this.timestamp();
    const insert = `INSERT INTO actions (event, kind, target, run, status, updated_at, is_unknown, via, since)
      VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    // Over a network they share a round trip.
    await Promise.all(
      actions.map(({ event, kind, target, isUnknown, via }) =>
        this.db.run(insert, event, kind, target, run, now, Number(isUnknown), via, now),
      ),
    );
  }

  async has(event: number, { kind, target }: ActionKey): Promise<boolean> {
    const sql = 'SELECT 1 FROM actions WHERE event = ? AND kind = ? AND target = ?';
    return (await this.db.get(sql, event, kind, target)) !== undefined;
  }

  /** What a run has to do next: about files of the ledger first, then by time. */
  async next({ kind, target }: ActionKey, run: number, query: NextQuery): Promise<WaitingAction[]> {
    const { now, upTo, limit } = query;
    const of = (isUnknown: number): Promise<WaitingAction[]> =>
      this.db.all<WaitingAction>(nextOf, kind, target, run, isUnknown, now, upTo, limit);
    const [known, unknown] = await Promise.all([of(0), of(1)]);
    return [...known, ...unknown];
  }

  /** The time of the first try after `now` (both ISO 8601), if there is one. */
  async nextDueAfter({ kind, target }: ActionKey, run: number, now: string): Promise<string | undefined> {
    const first = `SELECT due_at FROM actions WHERE ${ofQueue} AND is_unknown = ? AND due_at > ? ORDER BY due_at LIMIT 1`;
    const rows = await Promise.all(
      [0, 1].map((isUnknown) => this.db.get<{ due_at: string }>(first, kind, target, run, isUnknown, now)),
    );
    return rows.flatMap((row) => row?.due_at ?? []).sort()[0];
  }

  /** Makes everything due that is set for a time after `latest`: the clock was wrong when that was set. */
  makeDueAfter({ kind, target }: ActionKey, run: number, latest: string): Promise<number> {
    const sql = `UPDATE actions SET due_at = '' WHERE ${ofQueue} AND due_at > ?`;
    return this.db.run(sql, kind, target, run, latest);
  }

  /** How many actions a run leaves undone; with `failed`, those that it gave up are counted too. */
  async unfinished({ kind, target }: ActionKey, run: number, failed: boolean): Promise<number> {
    const sql =
      "SELECT count(*) AS n FROM actions WHERE kind = ? AND target = ? AND run = ? AND status IN ('pending', ?)";
    const row = await this.db.get<{ n: number }>(sql, kind, target, run, failed ? 'failed' : 'pending');
    return row?.n ?? 0;
  }

  /** Other machines take over what a run has that is silent: each try begins with a question to the ledger. */
  get areLeased(): boolean {
    return this.db.isShared;
  }

  /**
   * Writes down that a run tries it; false if another run has it by now, or this one has lost its lease. That is renewed
   * first, which keeps others from ending the run in the same moment. For use within a transaction.
   */
  async begin(event: number, { kind, target }: ActionKey, run: number, tries: number): Promise<boolean> {
    const [, begun] = await Promise.all([
      this.areLeased ? this.db.run(renewLease, run) : undefined,
      this.db.run(
        `UPDATE actions SET tries = ?, outcome = 'begun', updated_at = ?, due_at = ''
         WHERE event = ? AND kind = ? AND target = ? AND status = 'pending'
         AND run = (SELECT id FROM runs WHERE id = ? AND ended_at IS NULL)`,
        ...[tries, timestamp(), event, kind, target, run],
      ),
    ]);
    return begun === 1;
  }

  /** An action that was done is done, whichever run has it by now; of what another run has, nothing else is written. */
  update(event: number, { kind, target }: ActionKey, run: number, result: ActionResult): Promise<number> {
    const { status, tries, outcome, dueAt = '' } = result;
    return this.db.run(
      `UPDATE actions SET status = ?, tries = ?, outcome = ?, updated_at = ?, due_at = ?
       WHERE event = ? AND kind = ? AND target = ? AND (run = ? OR ? = 'done')`,
      ...[status, tries, this.hide(outcome), timestamp(), dueAt, event, kind, target, run, status],
    );
  }

  /** Puts off what a run has to do about a file: what one try found out holds for all of its events. */
  putOff({ kind, target }: ActionKey, run: number, file: string, dueAt: string): Promise<number> {
    return this.db.run(
      `UPDATE actions SET due_at = ? WHERE ${ofQueue} AND due_at < ?
       AND event IN (SELECT id FROM events WHERE audiofile = ? AND audiofile <> '')`,
      ...[dueAt, kind, target, run, dueAt, file],
    );
  }

  /** An order came into the ledger after its event. */
  noteKnown(event: number, { kind, target }: ActionKey): Promise<number> {
    const sql = 'UPDATE actions SET is_unknown = 0 WHERE event = ? AND kind = ? AND target = ?';
    return this.db.run(sql, event, kind, target);
  }

  /** Gives up what is tried since before `before` (ISO 8601); gives the number of actions. */
  giveUp({ kind, target }: ActionKey, run: number, before: string, outcome: string): Promise<number> {
    return this.db.run(
      `UPDATE actions SET status = 'failed', outcome = ?, updated_at = ?, due_at = ''
       WHERE kind = ? AND target = ? AND event IN (
         SELECT event FROM actions WHERE ${ofQueue} AND since < ? LIMIT ${SLICE})`,
      ...[this.hide(outcome), timestamp(), kind, target, kind, target, run, before],
    );
  }

  /**
   * Takes over some of what ended listeners left undone, or gave up (`failed`) and not too often; gives the numbers of the
   * events. What was tried for long counts as tried since `from` (ISO 8601), so that this listener tries it for a while.
   */
  async adopt(
    { kind, target }: ActionKey,
    run: number,
    { gone, from, status }: { gone: readonly number[]; from: string; status: 'pending' | 'failed' },
  ): Promise<number[]> {
    const ended = [this.profile, JSON.stringify(gone)];
    const isLeft = `kind = ? AND target = ? AND status = '${status}' AND tries < ?`;
    const limit = status === 'failed' ? RETRY_LIMIT : Number.MAX_SAFE_INTEGER;
    // The last condition is for a database in which another listener takes them over at the same moment.
    const rows = await this.db.all<{ event: number }>(
      `UPDATE actions SET run = ?, status = 'pending', since = CASE WHEN since > ? THEN since ELSE ? END
       WHERE ${isLeft} AND event IN (SELECT event FROM actions WHERE ${isLeft} AND ${ofEnded} LIMIT ${SLICE})
       AND +${ofEnded} RETURNING event`,
      ...[run, from, from, kind, target, limit, kind, target, limit, ...ended, ...ended],
    );
    return rows.map(({ event }) => event);
  }

  /** Whether `adopt` may have left some. */
  static hasMore(adopted: readonly number[]): boolean {
    return adopted.length === SLICE;
  }

  forEvent(event: number): Promise<ActionRow[]> {
    return this.db.all<ActionRow>(
      `SELECT event, kind, target, status, tries, outcome, updated_at, due_at FROM actions
       WHERE event = ? ORDER BY kind, target`,
      event,
    );
  }
}
