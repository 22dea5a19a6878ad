/** What is to be done about each event and its result: written together with the event, so that a crash loses none. */
import { renewLease } from './runs.ts';
import { Table, timestamp } from './table.ts';

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

/** One kind of action on one target, such as a forward to a URL. */
export interface ActionKey {
  readonly kind: string;
  readonly target: string;
}

export interface NewAction extends ActionKey {
  readonly event: number;
  /** The file or the order that it is about; empty where it names none. */
  readonly subject: string;
  /** The ledger does not know the subject. */
  readonly isUnknown: boolean;
  /** The listeners that the event has passed. */
  readonly via: string;
}

/** An action that waits to be done. */
export interface WaitingAction {
  readonly event: number;
  /** How often it was begun before. */
  readonly tries: number;
  readonly subject: string;
  /** 1: the ledger does not know the subject. */
  readonly is_unknown: number;
  /** When a try failed first (ISO 8601); empty if none has. */
  readonly failing_since: string;
  readonly via: string;
}

/** Which actions may be begun. */
export interface NextQuery {
  /** ISO 8601. */
  readonly now: string;
  /** No later event. */
  readonly upTo: number;
  readonly limit: number;
  /** How many may be about subjects that the ledger does not know. */
  readonly unknown: number;
}

/** An action, and the events that it is done for. */
export interface ActionRule extends ActionKey {
  /** Absent: every event. */
  readonly events?: readonly string[];
}

export interface ActionResult {
  readonly status: ActionRow['status'];
  readonly tries: number;
  readonly outcome: string;
  readonly dueAt?: string | undefined;
  readonly failingSince?: string | undefined;
  /** Where it was found out anew. */
  readonly isUnknown?: boolean | undefined;
}

/** What has failed this often is not tried again by the next listener. */
const RETRY_LIMIT = 40;
/** Rows that one statement changes, some milliseconds: more would hold up the events that come in meanwhile. */
const SLICE = 100;

const waitingColumns = 'event, tries, subject, is_unknown, failing_since, via';
const ofQueue = "kind = ? AND target = ? AND run = ? AND status = 'pending'";

/** The plus sign keeps SQLite from sorting all that the run has to do, where an index has it in order. */
const nextOf = `SELECT ${waitingColumns} FROM actions WHERE ${ofQueue} AND is_unknown = ? AND +event <= ?`;
/** What is new comes in turns, what failed before by the time of its next try. */
const nextNew = `${nextOf} AND due_at = '' ORDER BY turn, event LIMIT ?`;
const nextDue = `${nextOf} AND due_at > '' AND due_at <= ? ORDER BY due_at, turn, event LIMIT ?`;

/** Runs that have ended, or that are gone without an end. */
const isOver = `runs.profile = ?
  AND (runs.ended_at IS NOT NULL OR runs.id IN (SELECT CAST(value AS BIGINT) FROM json_each(?)))`;

export class Actions extends Table {
  /** For use within a transaction. The events of a subject come in turns, in the order given. */
  async add(actions: readonly NewAction[], run: number): Promise<void> {
    if (actions.length === 0) return;
    const nextTurn = await this.#turns(actions);
    const now = this.timestamp();
    const insert = `INSERT INTO actions (event, kind, target, run, status, updated_at, subject, is_unknown, via, turn)
      VALUES (?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
    // Over a network they share a round trip.
    await Promise.all(
      actions.map((action) => {
        const { event, kind, target, subject, isUnknown, via } = action;
        const row = [event, kind, target, run, now, subject, Number(isUnknown), via, nextTurn(action)];
        return this.db.run(insert, ...row);
      }),
    );
  }

  /** Gives the next turn of the subject of an action, each time another one. */
  async #turns(actions: readonly NewAction[]): Promise<(action: NewAction) => number> {
    const queueOf = ({ kind, target }: ActionKey): string => `${kind} ${target}`;
    const turnOf = (action: NewAction): string => `${queueOf(action)} ${action.subject}`;
    const next = new Map<string, number>();
    const queues = new Map(actions.map((action) => [queueOf(action), action]));
    await Promise.all(
      [...queues].map(async ([queue, { kind, target }]) => {
        const subjects = actions.filter((each) => queueOf(each) === queue).map(({ subject }) => subject);
        // Not max(turn): without statistics Postgres would read all that waits for the target, for each subject.
        const rows = await this.db.all<{ subject: string; turn: number | null }>(
          `SELECT asked.value AS subject, (SELECT turn FROM actions
             WHERE kind = ? AND target = ? AND subject = asked.value AND status = 'pending'
             ORDER BY turn DESC LIMIT 1) AS turn
           FROM json_each(?) AS asked`,
          ...[kind, target, JSON.stringify([...new Set(subjects)])],
        );
        for (const { subject, turn } of rows) next.set(`${queue} ${subject}`, turn === null ? 0 : turn + 1);
      }),
    );
    return (action) => {
      const turn = next.get(turnOf(action)) ?? 0;
      next.set(turnOf(action), turn + 1);
      return turn;
    };
  }

  async has(event: number, { kind, target }: ActionKey): Promise<boolean> {
    const row = await this.db.get(
      'SELECT 1 FROM actions WHERE event = ? AND kind = ? AND target = ?',
      event,
      kind,
      target,
    );
    return row !== undefined;
  }

  /** What a run has to do next: files of the ledger before unknown ones, and of each file one event in turn. */
  async next(key: ActionKey, run: number, query: NextQuery): Promise<WaitingAction[]> {
    const known = await this.#next(key, run, 0, query, query.limit);
    const room = Math.min(query.limit - known.length, query.unknown);
    return room > 0 ? [...known, ...(await this.#next(key, run, 1, query, room))] : known;
  }

  async #next(
    { kind, target }: ActionKey,
    run: number,
    isUnknown: number,
    { now, upTo }: NextQuery,
    limit: number,
  ): Promise<WaitingAction[]> {
    const which = [kind, target, run, isUnknown, upTo] as const;
    const fresh = await this.db.all<WaitingAction>(nextNew, ...which, limit);
    const room = limit - fresh.length;
    return room > 0 ? [...fresh, ...(await this.db.all<WaitingAction>(nextDue, ...which, now, room))] : fresh;
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
    const row = await this.db.get<{ n: number }>(
      "SELECT count(*) AS n FROM actions WHERE kind = ? AND target = ? AND run = ? AND status IN ('pending', ?)",
      kind,
      target,
      run,
      failed ? 'failed' : 'pending',
    );
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
    const { status, tries, outcome, dueAt = '', failingSince = '', isUnknown } = result;
    return this.db.run(
      `UPDATE actions SET status = ?, tries = ?, outcome = ?, updated_at = ?, due_at = ?,
         failing_since = CASE failing_since WHEN '' THEN ? ELSE failing_since END,
         is_unknown = coalesce(CAST(? AS INTEGER), is_unknown)
       WHERE event = ? AND kind = ? AND target = ? AND (run = ? OR ? = 'done')`,
      status,
      tries,
      this.hide(outcome),
      timestamp(),
      dueAt,
      failingSince,
      isUnknown === undefined ? null : Number(isUnknown),
      event,
      kind,
      target,
      run,
      status,
    );
  }

  /** Puts off what a run has to do about a subject: what one try found out holds for all of its events. */
  putOff({ kind, target }: ActionKey, run: number, subject: string, dueAt: string): Promise<number> {
    // The plus sign keeps SQLite from going through all that the run has to do.
    return this.db.run(
      `UPDATE actions SET due_at = ?
       WHERE kind = ? AND target = ? AND subject = ? AND status = 'pending' AND +run = ? AND due_at < ?`,
      ...[dueAt, kind, target, subject, run, dueAt],
    );
  }

  /** The target can't be reached at `now`: that goes for all that waits for it, tried or not. */
  markFailing({ kind, target }: ActionKey, run: number, now: string): Promise<number> {
    return this.db.run(
      `UPDATE actions SET failing_since = ? WHERE kind = ? AND target = ? AND event IN (
         SELECT event FROM actions WHERE ${ofQueue} AND failing_since = '' LIMIT ${SLICE})`,
      ...[now, kind, target, kind, target, run],
    );
  }

  /** Gives up what has failed since before `before` (ISO 8601); gives the number of actions. */
  giveUp({ kind, target }: ActionKey, run: number, before: string, outcome: string): Promise<number> {
    return this.db.run(
      `UPDATE actions SET status = 'failed', outcome = ?, updated_at = ?, due_at = ''
       WHERE kind = ? AND target = ? AND event IN (
         SELECT event FROM actions WHERE ${ofQueue} AND failing_since > '' AND failing_since < ? LIMIT ${SLICE})`,
      ...[this.hide(outcome), timestamp(), kind, target, kind, target, run, before],
    );
  }

  /**
   * Takes over some of what ended listeners left undone; gives the numbers of the events. What has failed for long counts
   * as failing since `failingFrom` (ISO 8601), so that this listener tries it for a while.
   */
  async adopt(
    { kind, target }: ActionKey,
    run: number,
    { gone, failingFrom }: { gone: readonly number[]; failingFrom: string },
  ): Promise<number[]> {
    // By the runs first: with any number of actions of living listeners, none of those is looked at. The last condition
    // is for a database in which another listener takes them over at the same moment.
    const rows = await this.db.all<{ event: number }>(
      `UPDATE actions SET run = ?,
         failing_since = CASE WHEN failing_since = '' OR failing_since >= ? THEN failing_since ELSE ? END
       WHERE kind = ? AND target = ? AND event IN (
         SELECT left_undone.event FROM runs CROSS JOIN actions AS left_undone ON left_undone.run = runs.id
         WHERE ${isOver}
         AND left_undone.kind = ? AND left_undone.target = ? AND left_undone.status = 'pending' LIMIT ${SLICE})
       AND +run IN (SELECT runs.id FROM runs WHERE ${isOver})
       RETURNING event`,
      ...[run, failingFrom, failingFrom, kind, target],
      ...this.#over(gone),
      ...[kind, target],
      ...this.#over(gone),
    );
    return rows.map(({ event }) => event);
  }

  /**
   * Makes some of what ended listeners gave up their undone work again, unless it has failed too often: of the events
   * after this one. Gives the last that was looked at; undefined if there are no more.
   */
  async reviveFailed(
    { kind, target }: ActionKey,
    gone: readonly number[],
    after: number,
  ): Promise<number | undefined> {
    const failed = await this.db.all<{ event: number }>(
      `SELECT event FROM actions WHERE kind = ? AND target = ? AND status = 'failed' AND event > ?
       ORDER BY event LIMIT ${SLICE}`,
      ...[kind, target, after],
    );
    const last = failed.at(-1)?.event;
    if (last === undefined) return undefined;
    await this.db.run(
      `UPDATE actions SET status = 'pending'
       WHERE kind = ? AND target = ? AND status = 'failed' AND event > ? AND event <= ? AND tries < ${RETRY_LIMIT}
       AND run IN (SELECT runs.id FROM runs WHERE ${isOver})`,
      ...[kind, target, after, last],
      ...this.#over(gone),
    );
    return failed.length < SLICE ? undefined : last;
  }

  #over(gone: readonly number[]): [string, string] {
    return [this.profile, JSON.stringify(gone)];
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
