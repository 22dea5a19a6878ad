/** Adds what is to be done about new events, many rows at a time: over a network each statement takes its time. */

import type { ActionEvent, ActionKey } from './actions.ts';
import type { Value } from './stores/store.ts';
import { Table } from './table.ts';

export interface NewAction {
  readonly about: ActionEvent;
  readonly rule: ActionKey;
}

/** Rows a statement. */
const BATCH_SIZES = [16, 4, 1];
const ROW = "(?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?)";
const inserts = BATCH_SIZES.map(
  (size) =>
    `INSERT INTO actions (event, kind, target, run, status, updated_at, subject, stranger, hops, turn)
     VALUES ${Array.from({ length: size }, () => ROW).join(', ')} ON CONFLICT DO NOTHING`,
);

export class NewActions extends Table {
  /** For use within a transaction. The events of a subject come in turns, in the order given. */
  async add(actions: readonly NewAction[], run: number): Promise<void> {
    if (actions.length === 0) return;
    const turns = await this.#turns(actions);
    const now = this.timestamp();
    const rows = actions.map(({ about, rule }): Value[] => {
      const { kind, target } = rule;
      const { id, subject, isStranger, hops } = about;
      return [id, kind, target, run, now, subject, Number(isStranger), hops, turns(rule, subject)];
    });
    const added: Array<Promise<number>> = [];
    for (let at = 0; at < rows.length; ) {
      const which = BATCH_SIZES.findIndex((size) => size <= rows.length - at);
      const size = BATCH_SIZES[which] as number;
      added.push(this.db.run(inserts[which] as string, ...rows.slice(at, at + size).flat()));
      at += size;
    }
    await Promise.all(added);
  }

  /** Gives the next turn of a subject, each time another one. */
  async #turns(actions: readonly NewAction[]): Promise<(key: ActionKey, subject: string) => number> {
    const asked = new Map<string, { key: ActionKey; next: Map<string, number> }>();
    for (const { about, rule } of actions) {
      const of = asked.get(nameOf(rule)) ?? { key: rule, next: new Map() };
      asked.set(nameOf(rule), of);
      of.next.set(about.subject, 0);
    }
    await Promise.all(
      [...asked.values()].map(async ({ key, next }) => {
        for (const { subject, turn } of await this.#lastTurns(key, [...next.keys()]))
          if (turn !== null) next.set(subject, turn + 1);
      }),
    );
    return (key, subject) => {
      const next = asked.get(nameOf(key))?.next;
      const turn = next?.get(subject) ?? 0;
      next?.set(subject, turn + 1);
      return turn;
    };
  }

  #lastTurns({ kind, target }: ActionKey, subjects: readonly string[]) {
    // Not max(turn): without statistics Postgres would read all that waits for the target, for each subject.
    return this.db.all<{ subject: string; turn: number | null }>(
      `SELECT asked.value AS subject, (SELECT turn FROM actions
         WHERE kind = ? AND target = ? AND subject = asked.value AND status = 'pending'
         ORDER BY turn DESC LIMIT 1) AS turn
       FROM json_each(?) AS asked`,
      kind,
      target,
      JSON.stringify(subjects),
    );
  }
}

const nameOf = ({ kind, target }: ActionKey): string => `${kind} ${target}`;
