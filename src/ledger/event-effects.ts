/**
 * What events change in the rows of files and orders. Events are unsigned, so none changes what the service said: it is
 * shown as a hint, and leads to a question to the service, whose answer decides.
 */
import { Table, timestamp } from './table.ts';

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
  apply({ event, audiofile, order, files, hold, original }: EventContent): void {
    switch (event) {
      case 'TRANSCRIPT_COMPLETE':
        this.#updateFile(audiofile, "hint = 'said to be complete', awaited = 0, completed = 1");
        break;
      case 'REFUND_ISSUED':
        if (audiofile) this.#updateFile(audiofile, "hint = 'said to be refunded'");
        else this.#updateOpenFiles(order, "hint = 'said to be refunded'");
        break;
      case 'DIFFICULT_AUDIO':
        this.#updateFile(audiofile, "remark = 'difficult audio'");
        break;
      case 'DUPLICATE_FILE':
        this.#updateFile(audiofile, 'remark = ?', `duplicate of ${original || 'another file'}`);
        break;
      case 'CC_AUTH_FAILURE':
        this.#updateOpenFiles(order, "remark = 'card refused'");
        break;
      case 'ORDER_ON_HOLD':
        for (const file of files) this.#updateFile(file, "hint = 'said to be on hold'");
        this.#updateOpenFiles(order, "hint = 'said to be on hold'");
        this.#setHold(order, hold || 'held');
        break;
      default:
        // Whatever it says, the service is asked what became of the file.
        for (const file of files) this.#updateFile(file);
        break;
    }
  }

  #updateFile(id: string, set = '', ...values: string[]): void {
    if (id) this.#update(set, 'profile = ? AND id = ?', ...values, this.profile, id);
  }

  #updateOpenFiles(order: string, set: string): void {
    if (order) this.#update(set, "profile = ? AND order_id = ? AND ended = ''", this.profile, order);
  }

  #update(set: string, where: string, ...values: string[]): void {
    const sets = ['heard_at = ?', ...(set ? [set] : [])].join(', ');
    this.db.run(`UPDATE files SET ${sets} WHERE ${where}`, timestamp(), ...values);
  }

  /** As long as the service has named no hold itself. */
  #setHold(order: string, hold: string): void {
    if (!order) return;
    this.db.run(
      'UPDATE orders SET hold = ? WHERE profile = ? AND id = ? AND hold IS NULL',
      hold,
      this.profile,
      order,
    );
  }
}
