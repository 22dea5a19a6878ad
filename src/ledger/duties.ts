/** What one listener of an account does for all of them. It is held as long as the listener's lease. */
import { Table } from './table.ts';

export class Duties extends Table {
  /** Listeners of one machine know of each other in other ways. */
  get areShared(): boolean {
    return this.db.isShared;
  }

  /** Takes on a duty, or keeps it; false if another listener has it. */
  async take(name: string, run: number): Promise<boolean> {
    const changed = await this.db.run(
      `INSERT INTO duties (name, run) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET run = excluded.run
       WHERE duties.run = excluded.run OR duties.run NOT IN (SELECT id FROM runs WHERE ended_at IS NULL)`,
      name,
      run,
    );
    return changed > 0;
  }

  leave(name: string, run: number): Promise<number> {
    return this.db.run('DELETE FROM duties WHERE name = ? AND run = ?', name, run);
  }
}
