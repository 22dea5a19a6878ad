/**
 * What events change in the rows of files and orders. Events are unsigned, so none ever ends a file: it changes what is
 * shown and leads to a question to the service, whose answer decides.
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
        this.#updateFile(audiofile, `${stateUnlessEnded('Delivered')}, awaited = 0, completed = 1`);
        this.#setHold(order, null);
        break;
      case 'REFUND_ISSUED':
        if (audiofile) this.#updateFile(audiofile, "state = 'Refunded'");
        else this.#updateOpenFiles(order, "remark = 'refund issued'");
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
        for (const file of files) this.#updateFile(file, stateUnlessEnded('On Hold'));
        this.#updateOpenFiles(order, stateUnlessEnded('On Hold'));
        this.#setHold(order, hold || 'held');
        break;
      default:
        break;
    }
  }

  #updateFile(id: string, set: string, ...values: string[]): void {
    this.#update(`${set} WHERE profile = ? AND id = ?`, ...values, this.profile, id);
  }

  #updateOpenFiles(order: string, set: string): void {
    if (order) this.#update(`${set} WHERE profile = ? AND order_id = ? AND ended = ''`, this.profile, order);
  }

  #update(rest: string, ...values: string[]): void {
    const now = timestamp();
    this.db.run(`UPDATE files SET heard_at = ?, changed_at = ?, ${rest}`, now, now, ...values);
  }

  #setHold(order: string, hold: string | null): void {
    if (!order) return;
    this.db.run(
      'UPDATE orders SET hold = ? WHERE profile = ? AND id = ? AND hold IS NOT ?',
      hold,
      this.profile,
      order,
      hold,
    );
  }
}

const stateUnlessEnded = (state: string): string =>
  `state = CASE ended WHEN '' THEN '${state}' ELSE state END`;
