/** Prints results one by one as they come, whatever their number: as rows, lines, CSV, or items of one JSON array. */
import { formatJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import type { Output } from './output.ts';
import { csvRows, csvTable, tabSeparated } from './rows.ts';

export class ResultStream {
  readonly #out: Output;
  #hasItem = false;
  #hasHeader = false;

  constructor(out: Output) {
    this.#out = out;
  }

  /** One result. Without JSON it is a row alone, without rows an item alone. */
  add(view: View): void {
    const { json, csv, quiet } = this.#out.mode;
    if (json) this.#addItem(view);
    else if (csv) this.#addCsv(view);
    else if (quiet) this.#out.lines(view.quiet);
    else this.#out.write(tabSeparated(view.rows));
  }

  /** `empty` has the columns. */
  end(empty: View): void {
    const { json, csv } = this.#out.mode;
    if (csv && !this.#hasHeader) this.#addCsv(empty);
    if (json) this.#out.write(this.#hasItem ? '\n]\n' : '[]\n');
  }

  #addCsv(view: View): void {
    this.#out.write(this.#hasHeader ? csvRows(view.rows) : csvTable(view));
    this.#hasHeader = true;
  }

  #addItem({ json }: View): void {
    if (json === null) return;
    this.#out.write(`${this.#hasItem ? ',' : '['}\n  ${formatJson(json, 2, '  ')}`);
    this.#hasItem = true;
  }
}
