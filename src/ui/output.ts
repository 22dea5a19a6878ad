import { StringDecoder } from 'node:string_decoder';
import type { Env } from '../lib/env.ts';
import { errorJson } from '../lib/error-json.ts';
import { BulkError, type StenoError } from '../lib/errors.ts';
import { formatJson, type Json, type JsonObject, toJson } from '../lib/json.ts';
import { forCsv, forRow, forTerminal, forTerminalLines, oneLine } from '../lib/text.ts';
import type { Rows, View } from '../lib/view.ts';
import type { Paint } from './paint.ts';

export interface OutputMode {
  readonly json: boolean;
  readonly csv: boolean;
  readonly quiet: boolean;
  readonly noColor: boolean;
  readonly debug: boolean;
}

/** The only way to stdout and stderr: data on one, everything else on the other, secrets on neither. */
export class Output {
  readonly mode: OutputMode;
  readonly #stdout: NodeJS.WriteStream;
  readonly #stderr: NodeJS.WriteStream;
  readonly #hide: (text: string) => string;
  readonly #env: Env;
  readonly #decoder = new StringDecoder('utf8');
  #headed = false;
  /** Whoever read stdout has seen enough. */
  #unread = false;

  constructor(
    mode: OutputMode,
    streams: { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream },
    /** Masks secrets. */
    hide: (text: string) => string,
    env: Env,
  ) {
    this.mode = mode;
    this.#stdout = streams.stdout;
    this.#stderr = streams.stderr;
    this.#hide = hide;
    this.#env = env;
    // Node revives stdout after an error, so its own state does not tell.
    this.#stdout.once('close', () => {
      this.#unread = true;
    });
  }

  get onTerminal(): boolean {
    return this.#stdout.isTTY === true;
  }

  /** A person reads stdout: it is a terminal, and no form for programs was asked for. */
  get forPeople(): boolean {
    const { json, csv, quiet } = this.mode;
    return this.onTerminal && !json && !csv && !quiet;
  }

  /** Whether a spinner may run on stderr; lines of --debug would tear it. */
  get showsProgress(): boolean {
    const { isTTY, columns } = this.#stderr;
    const { json, quiet, debug } = this.mode;
    // Some terminals report zero columns: there ora would never stop clearing its line.
    return isTTY === true && columns > 0 && !json && !quiet && !debug && this.#env.TERM !== 'dumb';
  }

  /** Prints a result in the form that was asked for. */
  async show(view: View): Promise<void> {
    if (this.mode.json) return this.write(`${formatJson(view.json)}\n`);
    if (this.mode.csv) return this.write(csv(view));
    if (this.mode.quiet) return this.write(view.quiet.map((line) => `${forRow(line)}\n`).join(''));
    if (!this.onTerminal) return this.write(tabbed(view.rows));
    if (view.rows.length === 0) return;
    const { drawRecords, drawTable } = await import('./table.ts');
    const paint = await this.#paint(this.#stdout);
    const now = Date.now();
    const drawn = view.asRecord
      ? drawRecords(view, paint, now)
      : drawTable(view, view.whole ? Number.POSITIVE_INFINITY : this.#stdout.columns || 80, paint, now);
    this.write(drawn);
  }

  /** Prints a long list as it comes, a page at a time; ends early when nobody reads any more. */
  async showPages(pages: AsyncIterable<View> | Iterable<View>): Promise<void> {
    let first = true;
    for await (const page of pages) {
      const items = this.mode.json ? (page.json as Json[]) : undefined;
      if (items?.length === 0) continue;
      if (items) this.#writeItems(items, first);
      else if (this.mode.csv) this.write(first ? csv(page) : csvRows(page.rows));
      else await this.show(page);
      first = false;
      await this.#drained();
      if (this.#unread) return;
    }
    if (this.mode.json) this.write(first ? '[]\n' : '\n]\n');
  }

  #writeItems(items: readonly Json[], first: boolean): void {
    const text = items.map((item) => `  ${formatJson(item, 2, '  ')}`).join(',\n');
    this.write(`${first ? '[\n' : ',\n'}${text}`);
  }

  /** Prints one of many results that come over time: an object a line, or a row a line. */
  async showNext(view: View): Promise<void> {
    if (this.mode.json) return this.write(`${formatJson(view.json, 0)}\n`);
    if (this.mode.csv) {
      this.write(this.#headed ? csvRows(view.rows) : csv(view));
      this.#headed = true;
    } else if (!this.forPeople) {
      await this.show(view);
    } else {
      const paint = await this.#paint(this.#stdout);
      const cell = (text: string, at: number): string =>
        paint.cell(forTerminal(text), view.columns[at]?.kind);
      this.write(view.rows.map((row) => `${row.map(cell).filter(Boolean).join('  ')}\n`).join(''));
    }
  }

  /** Writes to stdout as it is, but for secrets. */
  write(text: string): void {
    this.#stdout.write(this.#hide(text));
  }

  /** Passes a part of a document on to stdout, byte by byte unless a terminal would obey it. */
  async writeDocument(chunk: Uint8Array): Promise<void> {
    const safe = this.onTerminal ? forTerminalLines(this.#decoder.write(Buffer.from(chunk))) : chunk;
    this.#stdout.write(safe);
    await this.#drained();
  }

  /** Waits for a slow reader, so that what is not yet read does not pile up here. */
  async #drained(): Promise<void> {
    if (!this.#stdout.writableNeedDrain || this.#unread) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#stdout.off('drain', done).off('close', done);
        resolve();
      };
      this.#stdout.on('drain', done).on('close', done);
    });
  }

  /** A word to the person at the terminal that no script needs. */
  note(text: string): void {
    if (!this.mode.quiet && !this.mode.json) this.#tell(`${this.#line(text, 2000)}\n`);
  }

  /** A word on what was done, or with --json a document that says it. */
  done(text: string, fields: Readonly<Record<string, string | null>>): void {
    if (this.mode.json) this.write(`${formatJson(toJson(fields))}\n`);
    else this.note(text);
  }

  async warn(message: string, hint?: string): Promise<void> {
    if (this.mode.json)
      return this.#tellJson('warning', toJson({ message: this.#line(message), hint }) as JsonObject);
    const paint = await this.#paint(this.#stderr);
    this.#tell(
      `${paint.warn('warning:')} ${this.#line(message)}\n${hint ? `hint: ${this.#line(hint)}\n` : ''}`,
    );
  }

  async fail(error: StenoError): Promise<void> {
    const failures = error instanceof BulkError ? error.failures : [];
    if (this.mode.json) {
      const object = errorJson(error, this.#hide);
      if (failures.length) {
        object.set(
          'failures',
          failures.map(
            (each) => new Map([['what', each.what as Json], ...errorJson(each.error, this.#hide)]),
          ),
        );
      }
      return this.#tellJson('error', object);
    }
    const paint = await this.#paint(this.#stderr);
    const sign = paint.bad('steno:');
    for (const each of failures) this.#tell(`${sign} ${this.#line(`${each.what}: ${each.error.message}`)}\n`);
    this.#tell(
      `${sign} ${this.#line(error.message)}\n${error.hint ? `hint: ${this.#line(error.hint)}\n` : ''}`,
    );
    if (this.mode.debug) this.#tell(`${forTerminalLines(trace(error))}\n`);
  }

  debug(line: string): void {
    if (this.mode.debug) this.#tell(`debug: ${this.#line(line, 4000)}\n`);
  }

  /** A line that a script may wait for: on stderr, whatever was asked for. */
  announce(text: string): void {
    this.#tell(`${this.#line(text, 2000)}\n`);
  }

  /** What a program that was started here prints: on stderr, without what steers a terminal. */
  passOn(text: string): void {
    this.#tell(forTerminalLines(text));
  }

  /** Writes on stderr, where a redirected stdout does not hide a question: what is passed may steer the terminal. */
  ask(text: string): void {
    this.#tell(text);
  }

  /** A question, or an answer to repeat, as it may be shown. */
  questionText(text: string): string {
    return this.#line(text);
  }

  get asksOnTerminal(): boolean {
    return this.#stderr.isTTY === true;
  }

  get questionColumns(): number | undefined {
    return this.#stderr.columns;
  }

  /** A line of stderr; it is cut only after the mask, for a part of a key is a secret too. */
  #line(text: string, longest = 600): string {
    return oneLine(this.#hide(text), longest);
  }

  #tell(text: string): void {
    this.#stderr.write(this.#hide(text));
  }

  #tellJson(key: string, object: JsonObject): void {
    this.#tell(`${formatJson(new Map([[key, object]]), 0)}\n`);
  }

  /** Whether what goes to stderr may be coloured. */
  get paintsProgress(): boolean {
    return this.#coloured(this.#stderr);
  }

  async #paint(stream: NodeJS.WriteStream): Promise<Paint> {
    const { Paint } = await import('./paint.ts');
    return new Paint(this.#coloured(stream));
  }

  /** stdout off a terminal is data and never coloured; FORCE_COLOR counts on terminals and on stderr. */
  #coloured(stream: NodeJS.WriteStream): boolean {
    if (this.mode.noColor || this.#env.NO_COLOR) return false;
    const forced = this.#env.FORCE_COLOR;
    if (forced === '0' || forced === 'false') return false;
    if (forced !== undefined) return stream === this.#stderr || this.onTerminal;
    return stream.isTTY === true && this.#env.TERM !== 'dumb';
  }
}

function tabbed(rows: Rows['rows']): string {
  let text = '';
  for (const row of rows) {
    // One look at the whole row: it is rare that a cell needs one of its own.
    const whole = row.join('');
    text += `${(forRow(whole) === whole ? row : row.map(forRow)).join('\t')}\n`;
  }
  return text;
}

const csvRows = (rows: Rows['rows']): string =>
  rows.map((row) => `${row.map(forCsv).join(',')}\r\n`).join('');

const csv = ({ columns, rows }: Rows): string => csvRows([columns.map((column) => column.name), ...rows]);

function trace(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${trace(error.cause)}` : '';
  return (error.stack ?? error.message) + cause;
}
