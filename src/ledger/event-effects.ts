/**
 * What events change in the rows of files and orders. Events are unsigned, so none changes what the service said: it is
 * shown as a hint, and leads to a question to the service, whose answer decides.
 */
import { NOW, Table } from './table.ts';

/** What an event says, as far as it concerns files and orders. */
export interface EventContent {
  readonly event: string;
  readonly audiofile: string;
  readonly order: string;
  readonly files: readonly string[];
  readonly hold: string;
  readonly original: string;
}

export class EventEffects extends Table {
  /** For use within a transaction. */
  async apply({ event, audiofile, order, files, hold, original }: EventContent): Promise<void> {
    switch (event) {
      case 'TRANSCRIPT_COMPLETE':
        await this.#updateFile(audiofile, "hint = 'said to be complete', awaited = 0, completed = 1");
        break;
      case 'REFUND_ISSUED':
        if (audiofile) await this.#updateFile(audiofile, "hint = 'said to be refunded'");
        else await this.#updateOpenFiles(order, "hint = 'said to be refunded'");
        break;
      case 'DIFFICULT_AUDIO':
        await this.#updateFile(audiofile, "remark = 'difficult audio'");
        break;
      case 'DUPLICATE_FILE':
        await this.#updateFile(audiofile, 'remark = ?', `duplicate of ${original || 'another file'}`);
        break;
      case 'CC_AUTH_FAILURE':
        await this.#updateOpenFiles(order, "remark = 'card refused'");
        break;
      case 'ORDER_ON_HOLD':
        await Promise.all([
          ...files.map((file) => this.#updateFile(file, "hint = 'said to be on hold'")),
          this.#updateOpenFiles(order, "hint = 'said to be on hold'"),
          this.#setHold(order, hold || 'held'),
        ]);
        break;
      default:
        // Whatever it says, the service is asked what became of the file.
        await Promise.all(files.map((file) => this.#updateFile(file)));
        break;
    }
  }

  async #updateFile(id: string, set = '', ...values: string[]): Promise<void> {
    if (id) await this.#update(set, 'profile = ? AND id = ?', ...values, this.profile, id);
  }

  async #updateOpenFiles(order: string, set: string): Promise<void> {
    if (order) await this.#update(set, "profile = ? AND order_id = ? AND ended = ''", this.profile, order);
  }

  #update(set: string, where: string, ...values: string[]): Promise<number> {
    const sets = [`heard_at = ${NOW}`, ...(set ? [set] : [])].join(', ');
    return this.db.run(`UPDATE files SET ${sets} WHERE ${where}`, ...values);
  }

  /** As long as the service has named no hold itself. */
  async #setHold(order: string, hold: string): Promise<void> {
    if (!order) return;
    await this.db.run(
      'UPDATE purchases SET hold = ? WHERE profile = ? AND order_id = ? AND hold IS NULL',
      hold,
      this.profile,
      order,
    );
  }
}
