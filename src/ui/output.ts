import { failedJson } from '../lib/error-json.ts';
import { BulkError, errorMessage, onePerError, StenoError, stackTrace, usage } from '../lib/errors.ts';
import { formatJson, type Json, type JsonObject, toJson } from '../lib/json.ts';
import { forCsv, forRow, forTerminalLines, type Line } from '../lib/text.ts';
import { ALL_COLUMNS, type CellKind, type Column, type Rows, rightAligned, type View } from '../lib/view.ts';
import type { LiveSlot } from './live.ts';
import { MAX_WAITING_WARNINGS, type OutputMode, Stderr, Stdout, type StreamOptions } from './streams.ts';

/** The only way to stdout and stderr: data on one, everything else on the other, secrets on neither. */
export class Output {
  readonly mode: OutputMode;
  readonly stdout: Stdout;
  readonly stderr: Stderr;
  readonly #hide: (text: string) => string;
  readonly #done: string[] = [];
  /** Nothing of the result is printed yet. */
  #isFirst = true;

  constructor(
    streams: { readonly stdout: NodeJS.WriteStream; readonly stderr: NodeJS.WriteStream },
    options: StreamOptions,
  ) {
    this.mode = options.mode;
    const slot: LiveSlot = {};
    this.stdout = new Stdout(streams.stdout, options, slot);
    this.stderr = new Stderr(streams.stderr, options, slot);
    this.#hide = options.hide;
  }

  /** A person reads stdout: it is a terminal, and no other form was asked for. */
  get forPeople(): boolean {
    const { json, csv, quiet, markdown } = this.mode;
    return this.stdout.isTerminal && !json && !csv && !quiet && !markdown;
  }

  /** --quiet: only what a script needs next is printed; with --json the documents stay whole. */
  get isBare(): boolean {
    return this.mode.quiet && !this.mode.json;
  }

  /** A table has the columns that matter to people, not all of them. */
  get isBrief(): boolean {
    return (this.forPeople || this.mode.markdown) && this.mode.columns.length === 0;
  }

  /** Of each result the columns of its table are printed, and no others. */
  get hasTableColumns(): boolean {
    const { json, csv, columns } = this.mode;
    return !json && !csv && columns.length === 0;
  }

  /** Prints a result in the form that was asked for. */
  async show(view: View): Promise<void> {
    if (this.mode.json) return this.stdout.write(`${formatJson(view.json)}\n`);
    if (!this.forPeople) return this.stdout.write(rowsText(view, this.mode, true));
    if (view.rows.length === 0) return;
    const { drawView } = await import('./table.ts');
    this.stdout.write(drawView(chosenColumns(view, this.mode), await this.stdout.drawing()));
  }

  /** Prints a long list page by page; stops when the reader of stdout has gone. */
  async showPages(pages: AsyncIterable<View> | Iterable<View>): Promise<void> {
    for await (const page of pages) {
      if (this.forPeople) await this.show(page);
      else this.add(page);
      if (!(await this.stdout.drain())) return;
    }
    if (!this.forPeople) this.end();
  }

  /** Prints one of many results that come over time: one JSON object or one row a line. */
  async showNext(view: View): Promise<void> {
    if (this.mode.json) return this.stdout.write(`${formatJson(view.json, 0)}\n`);
    if (this.forPeople && this.isBrief) return this.show(view);
    this.add(view);
  }

  /** Prints a part of a result: rows, under a header if they are the first, or items of one JSON array. */
  add(view: View): void {
    const { mode, stdout } = this;
    const items = mode.json ? (view.json as Json[]).map((item) => `\n  ${formatJson(item, 2, '  ')}`) : [];
    const text = mode.json ? items.join(',') : rowsText(view, mode, this.#isFirst);
    if (text) stdout.write(mode.json ? `${this.#isFirst ? '[' : ','}${text}` : text);
    if (text || !mode.json) this.#isFirst = false;
  }

  /** After the last part; `empty` has the columns of a list without results. */
  end(empty?: View): void {
    const { mode, stdout } = this;
    if (mode.json) stdout.write(this.#isFirst ? '[]\n' : '\n]\n');
    else if ((mode.csv || mode.markdown) && this.#isFirst && empty) this.add(empty);
  }

  /** A line for a person, on stderr; left out with --quiet and --json. */
  note(text: string): void {
    if (!this.mode.quiet && !this.mode.json) this.stderr.writeLine(text);
  }

  /** Says what was done: a note for a person, with --json a document, with --quiet what a script needs next. */
  done(text: string, fields: Readonly<Record<string, string | null>>, quiet?: string): void {
    this.note(text);
    if (this.mode.json) {
      this.addDone(text);
      this.stdout.write(`${formatJson(toJson(fields))}\n`);
    } else if (this.mode.quiet && quiet !== undefined) this.stdout.writeLines([quiet]);
  }

  /** Keeps a line that says what was done, for a stdout that can't take the result. */
  addDone(...texts: readonly string[]): void {
    this.#done.push(...texts);
  }

  get hasDone(): boolean {
    return this.#done.length > 0;
  }

  /** A warning about something that failed, with the hint of its error. */
  warnOf(what: string, error: unknown): Promise<void> {
    return this.warn(`${what}: ${errorMessage(error)}`, error instanceof StenoError ? error.hint : undefined);
  }

  /** `event`: one of which this is all that is left. With --json it is a part of the object, else nothing is cut. */
  async warn(message: string, hint?: string, event?: JsonObject): Promise<void> {
    const { stderr } = this;
    if (this.mode.json) {
      const object = toJson({
        message: stderr.line(message),
        hint: hint && stderr.clean(hint),
      }) as JsonObject;
      return stderr.writeJson('warning', event ? object.set('event', event) : object);
    }
    const { paint } = await stderr.drawing();
    const line = stderr.line(message, event && Number.POSITIVE_INFINITY);
    stderr.writeMessage('warning:', line, paint.warn, MAX_WAITING_WARNINGS);
    if (hint) stderr.writeMessage('hint:', stderr.line(hint), String, MAX_WAITING_WARNINGS);
  }

  async fail(error: StenoError): Promise<void> {
    const { stderr } = this;
    const failures = error instanceof BulkError ? error.failures : [];
    if (this.mode.json) return stderr.writeJson('error', failedJson(error, failures, this.#hide));
    const { paint } = await stderr.drawing();
    // Who interrupts knows that it ends.
    const colour = error.kind === 'interrupted' ? String : paint.bad;
    const each = onePerError(failures).map(({ what, error: { message } }) =>
      message.startsWith(what) ? message : `${what}: ${message}`,
    );
    for (const text of [...each, error.message, ...error.more])
      stderr.writeMessage('steno:', stderr.line(text), colour);
    if (error.hint) stderr.writeMessage('hint:', stderr.line(error.hint));
    if (this.mode.debug) stderr.write(`${forTerminalLines(stderr.clean(stackTrace(error)))}\n`);
  }

  /** stdout can't be written: says what was done all the same, then the error. */
  async failToWrite(error: StenoError): Promise<void> {
    const { stderr } = this;
    const { paint } = await stderr.drawing();
    for (const text of this.#done.splice(0)) {
      if (this.mode.json) stderr.notice(text);
      else stderr.writeMessage('steno:', stderr.line(text, MAX_DONE_LENGTH), paint.bad);
    }
    await this.fail(error);
  }
}

const MAX_DONE_LENGTH = 2000;

/** The forms of a result other than JSON and a table on a terminal. */
function rowsText(view: View, mode: OutputMode, withHeader: boolean): string {
  if (mode.quiet) return view.quiet.map((text) => `${forRow(text)}\n`).join('');
  const chosen = chosenColumns(view, mode);
  if (mode.markdown && view.asTasks) return markdownTasks(chosen);
  if (mode.markdown) return (withHeader ? markdownHeader(chosen) : '') + markdownRows(chosen);
  if (mode.csv) return withHeader ? csvTable(chosen) : csvRows(chosen.rows);
  return tabSeparated(chosen.rows);
}

/** What --columns asks for; without it, the columns of the table. CSV has all. */
function chosenColumns(view: View, { columns: names, csv }: OutputMode): View | Rows {
  const { columns } = view;
  if (names.includes(ALL_COLUMNS) || (csv && names.length === 0)) return view;
  const shown = names.length
    ? names.map((name) => placeOf(name, columns))
    : [...columns.keys()].filter((at) => !columns[at]?.more);
  if (names.length === 0 && shown.length === columns.length) return view;
  return {
    columns: shown.map((at) => columns[at] as Column),
    rows: view.rows.map((row) => shown.map((at) => row[at] ?? '')),
  };
}

function placeOf(wanted: string, columns: readonly Column[]): number {
  const at = columns.findIndex(({ name }) => name === wanted);
  if (at >= 0) return at;
  const names = columns.map(({ name }) => name).join(', ');
  throw usage(`there is no column '${wanted}' here`, `its columns: ${names}`);
}

const markdownLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;

function markdownHeader({ columns }: Rows): string {
  const rules = columns.map(({ kind }) => (kind && rightAligned.has(kind) ? '---:' : '---'));
  return markdownLine(columns.map(({ name }) => name)) + markdownLine(rules);
}

const markdownRows = ({ columns, rows }: Rows): string =>
  rows.map((row) => markdownLine(columns.map(({ kind }, at) => forMarkdown(row[at] ?? '', kind)))).join('');

const markdownTasks = ({ columns, rows }: Rows): string =>
  rows
    .map((row) => columns.map(({ kind }, at) => forMarkdown(row[at] ?? '', kind)).filter(Boolean))
    .map((cells) => `- [ ] ${cells.slice(0, -1).join(' ')}: ${cells.at(-1)}\n`)
    .join('');

/** Text of the service stays text. In a link, an escape would be a part of it. */
function forMarkdown(value: string, kind: CellKind | undefined): string {
  if (kind === 'link' && /^https?:\/\/[^\s<>|\\]+$/.test(value)) return `<${value}>`;
  return forRow(value)
    .trim()
    .replace(/[\\`*_[\]<>|~&#@]/g, '\\$&');
}

export const tabSeparated = (rows: Rows['rows']): string =>
  rows.map((row) => `${row.map(forRow).join('\t')}\n`).join('');

const csvRows = (rows: Rows['rows']): string =>
  rows.map((row) => `${row.map(forCsv).join(',')}\r\n`).join('');

/** CSV rows after their header line. */
export const csvTable = ({ columns, rows }: Rows): string =>
  csvRows([columns.map((column) => column.name), ...rows]);

/** Shows lines for a person on stdout, cut to fit the terminal. */
export const showLines = ({ stdout }: Output, lines: readonly Line[]): Promise<void> => drawOn(stdout, lines);

async function drawOn(stream: Stdout | Stderr, lines: readonly Line[]): Promise<void> {
  const { drawLines } = await import('./fit.ts');
  stream.write(drawLines(lines, { ...(await stream.drawing()), hide: (text) => stream.clean(text) }));
}

/** Loads what messages need: a program that has no descriptor left could not load it to say so. */
export async function loadDrawing({ stderr }: Output): Promise<void> {
  await Promise.all([stderr.drawing(), import('./fit.ts'), import('./table.ts')]);
}
