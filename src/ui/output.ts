import { BulkError, type StenoError } from '../errors.ts';
import { formatJson, type Json, type JsonObject, toJson } from '../json.ts';
import type { Mask } from '../settings/mask.ts';
import type { Paint } from './paint.ts';
import { forCsv, forRow, forTerminal, forTerminalLines, oneLine } from './text.ts';
import type { Rows, View } from './view.ts';

export interface OutputMode {
  readonly json: boolean;
  readonly csv: boolean;
  readonly quiet: boolean;
  readonly noColor: boolean;
  readonly debug: boolean;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The only way to stdout and stderr: data on one, everything else on the other, secrets on neither. */
export class Output {
  readonly mode: OutputMode;
  readonly #stdout: NodeJS.WriteStream;
  readonly #stderr: NodeJS.WriteStream;
  readonly #mask: Mask;
  readonly #env: Env;
  #headed = false;

  constructor(
    mode: OutputMode,
    streams: { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream },
    mask: Mask,
    env: Env,
  ) {
    this.mode = mode;
    this.#stdout = streams.stdout;
    this.#stderr = streams.stderr;
    this.#mask = mask;
    this.#env = env;
  }

  get onTerminal(): boolean {
    return this.#stdout.isTTY === true;
  }

  /** Progress is for a person who watches: stderr is a terminal and nobody asked for silence. */
  get showsProgress(): boolean {
    return this.#stderr.isTTY === true && !this.mode.quiet && !this.mode.json && this.#env.TERM !== 'dumb';
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
      : drawTable(view, this.#stdout.columns || 80, paint, now);
    this.write(drawn);
  }

  /** Prints one of many results that come over time: an object a line, or a row a line. */
  async showNext(view: View): Promise<void> {
    if (this.mode.json) return this.write(`${formatJson(view.json, 0)}\n`);
    if (this.mode.csv) {
      this.write(this.#headed ? csvRows(view.rows) : csv(view));
      this.#headed = true;
    } else if (this.mode.quiet || !this.onTerminal) {
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
    this.#stdout.write(this.#mask.hide(text));
  }

  /** Passes a document on to stdout, byte by byte unless a terminal would obey it. */
  async writeDocument(chunk: Uint8Array): Promise<void> {
    const safe = this.onTerminal ? forTerminalLines(Buffer.from(chunk).toString('utf8')) : chunk;
    if (!this.#stdout.write(safe) && !this.#stdout.destroyed) {
      await new Promise<void>((done) => {
        this.#stdout.once('drain', done).once('close', done);
      });
    }
  }

  /** A word to the person at the terminal that no script needs. */
  note(text: string): void {
    if (!this.mode.quiet && !this.mode.json) this.#tell(`${oneLine(text, 2000)}\n`);
  }

  async warn(message: string, hint?: string): Promise<void> {
    if (this.mode.json)
      return this.#tellJson('warning', toJson({ message: oneLine(message), hint }) as JsonObject);
    const paint = await this.#paint(this.#stderr);
    this.#tell(`${paint.warn('warning:')} ${oneLine(message)}\n${hint ? `hint: ${hint}\n` : ''}`);
  }

  async fail(error: StenoError): Promise<void> {
    const failures = error instanceof BulkError ? error.failures : [];
    if (this.mode.json) {
      const object = errorJson(error);
      if (failures.length) {
        object.set(
          'failures',
          failures.map((each) => new Map([['what', each.what as Json], ...errorJson(each.error)])),
        );
      }
      return this.#tellJson('error', object);
    }
    const paint = await this.#paint(this.#stderr);
    const sign = paint.bad('steno:');
    for (const each of failures)
      this.#tell(`${sign} ${oneLine(`${each.what}: ${each.error.message}`, 600)}\n`);
    this.#tell(
      `${sign} ${oneLine(error.message, 600)}\n${error.hint ? `hint: ${oneLine(error.hint, 600)}\n` : ''}`,
    );
    if (this.mode.debug) this.#tell(`${trace(error)}\n`);
  }

  debug(line: string): void {
    if (this.mode.debug) this.#tell(`debug: ${oneLine(line, 4000)}\n`);
  }

  /** Asks on stderr, where a redirected stdout does not hide the question. */
  ask(question: string): void {
    this.#stderr.write(this.#mask.hide(question));
  }

  #tell(text: string): void {
    this.#stderr.write(this.#mask.hide(text));
  }

  #tellJson(key: string, object: JsonObject): void {
    this.#tell(`${formatJson(new Map([[key, object]]), 0)}\n`);
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

export const errorJson = (error: StenoError): JsonObject =>
  toJson({
    code: error.kind,
    message: oneLine(error.message, 600),
    status: error.status,
    hint: error.hint,
  }) as JsonObject;

const tabbed = (rows: Rows['rows']): string => rows.map((row) => `${row.map(forRow).join('\t')}\n`).join('');

const csvRows = (rows: Rows['rows']): string =>
  rows.map((row) => `${row.map(forCsv).join(',')}\r\n`).join('');

const csv = ({ columns, rows }: Rows): string => csvRows([columns.map((column) => column.name), ...rows]);

function trace(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${trace(error.cause)}` : '';
  return (error.stack ?? error.message) + cause;
}
