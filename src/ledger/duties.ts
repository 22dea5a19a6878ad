/** What one listener, or one `sync --exec`, of an account does for all. It is held as long as that runs, or has its lease. */
import { Runs } from './runs.ts';
import { Table, type TableContext } from './table.ts';

export class Duties extends Table {
  readonly #runs: Runs;

  constructor(context: TableContext) {
    super(context);
    this.#runs = new Runs(context);
  }

  /** Listeners on several machines may have it. */
  get areShared(): boolean {
    return this.db.isShared;
  }

  /** Takes on a duty, or keeps it; false if another listener has it. For use within a transaction. */
  async take(name: string, run: number): Promise<boolean> {
    // On one machine it can be seen which listeners run; elsewhere the end of one that is silent is written down.
    const ended = 'duties.run NOT IN (SELECT id FROM runs WHERE ended_at IS NULL)';
    const gone = 'duties.run NOT IN (SELECT value FROM json_each(?))';
    const running = this.areShared ? [] : [JSON.stringify(await this.#runs.running())];
    const changed = await this.db.run(
      `INSERT INTO duties (name, run) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET run = excluded.run
       WHERE duties.run = excluded.run OR ${this.areShared ? ended : gone}`,
      ...[name, run, ...running],
    );
    return changed > 0;
  }

  leave(name: string, run: number): Promise<number> {
    return this.db.run('DELETE FROM duties WHERE name = ? AND run = ?', name, run);
  }
}
