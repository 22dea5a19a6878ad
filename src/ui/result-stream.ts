/** Prints results one by one as they come, whatever their number: as rows, lines, CSV, or lists of one JSON object. */
import { formatJson, type Json } from '../lib/json.ts';
import type { View } from '../lib/view.ts';
import type { Output } from './output.ts';
import { csvRows, csvTable, tabSeparated } from './rows.ts';

export class ResultStream {
  readonly #out: Output;
  /** The lists of the JSON object, in their order. */
  readonly #lists: readonly string[];
  /** What is printed of the JSON so far: how many lists are begun, and whether the last has an item. */
  #begun = 0;
  #hasItem = false;
  #hasHeader = false;

  constructor(out: Output, lists: readonly string[]) {
    this.#out = out;
    this.#lists = lists;
  }

  /** One result, which is an item of a list; none of an earlier list may follow. */
  add(list: string, view: View): void {
    const { json, csv, quiet } = this.#out.mode;
    if (json) this.#addItem(list, view.json);
    else if (csv) this.#addCsv(view);
    else if (quiet) this.#out.lines(view.quiet);
    else this.#out.write(tabSeparated(view.rows));
  }

  /** `empty` has the columns; the members come after the lists. */
  end(empty: View, members: ReadonlyMap<string, Json>): void {
    const { json, csv } = this.#out.mode;
    if (csv && !this.#hasHeader) this.#addCsv(empty);
    if (!json) return;
    this.#beginLists(this.#lists.length);
    const rest = [...members].map(
      ([name, value]) => `  ${JSON.stringify(name)}: ${formatJson(value, 2, '  ')}`,
    );
    this.#out.write(`${this.#listEnd()}${rest.join(',\n')}\n}\n`);
  }

  #addCsv(view: View): void {
    this.#out.write(this.#hasHeader ? csvRows(view.rows) : csvTable(view));
    this.#hasHeader = true;
  }

  #addItem(list: string, item: Json): void {
    this.#beginLists(this.#lists.indexOf(list) + 1);
    this.#out.write(`${this.#hasItem ? ',' : ''}\n    ${formatJson(item, 2, '    ')}`);
    this.#hasItem = true;
  }

  /** Begins lists up to this one; those between are empty. */
  #beginLists(count: number): void {
    for (; this.#begun < count; this.#begun += 1) {
      const before = this.#begun === 0 ? '{\n' : this.#listEnd();
      this.#out.write(`${before}  ${JSON.stringify(this.#lists[this.#begun])}: [`);
      this.#hasItem = false;
    }
  }

  #listEnd(): string {
    return `${this.#hasItem ? '\n  ' : ''}],\n`;
  }
}
