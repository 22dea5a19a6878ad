import { StringDecoder } from 'node:string_decoder';
import { cutSignatures } from '../lib/audio-identity.ts';
import { usesColour } from '../lib/colour.ts';
import type { Env } from '../lib/env.ts';
import { failedJson } from '../lib/error-json.ts';
import { BulkError, errorMessage, onePerError, StenoError, stackTrace } from '../lib/errors.ts';
import { formatJson, type Json, type JsonObject, toJson } from '../lib/json.ts';
import { forRow, forTerminalLines, oneLine, plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import type { OutputMode, Paged } from './output-mode.ts';
import type { Drawing, Paint } from './paint.ts';
import { type ProgressForm, progressForm } from './progress-form.ts';
import { csvRows, csvTable, tabSeparated } from './rows.ts';
import { makeNonBlocking, waitForReader } from './stalls.ts';

const MAX_LINE_LENGTH = 600;
const MAX_NOTE_LENGTH = 2000;
const MAX_DEBUG_LENGTH = 4000;
/**
 * What may wait on stderr for a reader that stalls: of notes, of what commands print, where one of them may print 1 MiB,
 * and of warnings, which may be all that is left of an event.
 */
const MAX_WAITING_NOTES = 256 * 1024;
const MAX_WAITING_OUTPUT = 2 * 1024 * 1024;
const MAX_WAITING_WARNINGS = 8 * 1024 * 1024;

/** The only way to stdout and stderr: data on one, everything else on the other, secrets on neither. */
export class Output {
  readonly mode: OutputMode;
  readonly #stdout: NodeJS.WriteStream;
  readonly #stderr: NodeJS.WriteStream;
  readonly #hide: (text: string) => string;
  readonly #env: Env;
  readonly #decoder = new StringDecoder('utf8');
  readonly #done: string[] = [];
  /** Takes what goes to stdout while a list may be read in it. */
  #pager: Paged | undefined;
  /** Messages that wait until the pager has gone: it has the screen. */
  #waiting: Array<readonly [text: string, maxWaiting: number]> = [];
  #headerShown = false;
  /** The reader of stdout has gone (head, less). */
  #readerGone = false;
  #ignoresStalls = false;
  /** Messages that were left out because nothing read stderr. */
  #leftOut = 0;

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
    // stdout's own state does not tell: Node reopens it after an error.
    this.#stdout.once('close', () => {
      this.#readerGone = true;
    });
  }

  /** For a command that must go on whatever becomes of its readers: from now on no write waits for one. */
  ignoreStalls(): void {
    this.#ignoresStalls = true;
    for (const stream of [this.#stdout, this.#stderr]) makeNonBlocking(stream);
  }

  /** Whether a signal ends the program though not all of its output was read. */
  get ignoresStalls(): boolean {
    return this.#ignoresStalls;
  }

  /** Whether all that was written has left this process; false where its reader has gone, or the signal fires before. */
  async isWritten(signal: AbortSignal): Promise<boolean> {
    if (this.#stdout.writableLength > 0) await this.#emptied(signal);
    // An error of the last write is told in the next turn.
    await new Promise(setImmediate);
    return !this.#readerGone && this.#stdout.writableLength === 0;
  }

  get isReaderGone(): boolean {
    return this.#readerGone;
  }

  #emptied(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#stdout.off('close', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#stdout.once('close', done);
      signal.addEventListener('abort', done, { once: true });
      // It is called when all that was written before has left.
      this.#stdout.write('', done);
      if (signal.aborted) done();
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

  /** How long work shows on stderr how far it is. */
  get progressForm(): ProgressForm {
    return progressForm(this.mode, this.#stderr, this.#env);
  }

  /** Prints a result in the form that was asked for. */
  async show(view: View): Promise<void> {
    if (this.mode.json) return this.write(`${formatJson(view.json)}\n`);
    if (this.mode.csv) return this.write(csvTable(view));
    if (this.mode.quiet) return this.lines(view.quiet);
    if (!this.onTerminal) return this.write(tabSeparated(view.rows));
    if (view.rows.length === 0) return;
    const { drawView } = await import('./drawing.ts');
    const paint = await this.#paint(this.#stdout);
    this.write(drawView(view, { width: this.columns, paint, hide: this.#hide }));
  }

  /** Prints a long list page by page; stops when the reader of stdout has gone. */
  async showPages(pages: AsyncIterable<View> | Iterable<View>): Promise<void> {
    let first = true;
    for await (const page of pages) {
      // An empty page would leave a comma with nothing after it.
      if (this.mode.json && (page.json as Json[]).length === 0) continue;
      await this.#showPage(page, first);
      first = false;
      await this.#drain();
      if (this.#readerGone || this.#pager?.isGone) return;
    }
    if (this.mode.json) this.write(first ? '[]\n' : '\n]\n');
  }

  async #showPage(page: View, first: boolean): Promise<void> {
    if (this.mode.json) {
      const items = (page.json as Json[]).map((item) => `  ${formatJson(item, 2, '  ')}`);
      this.write(`${first ? '[\n' : ',\n'}${items.join(',\n')}`);
    } else if (this.mode.csv) this.write(first ? csvTable(page) : csvRows(page.rows));
    else await this.show(page);
  }

  /** Prints one of many results that come over time: one JSON object or one row a line. */
  async showNext(view: View): Promise<void> {
    if (this.mode.json) return this.write(`${formatJson(view.json, 0)}\n`);
    if (this.mode.csv) {
      this.write(this.#headerShown ? csvRows(view.rows) : csvTable(view));
      this.#headerShown = true;
    } else await this.show(view);
  }

  /** How lines for a person are drawn. */
  async drawing(on: 'stdout' | 'stderr'): Promise<Drawing> {
    const stream = on === 'stdout' ? this.#stdout : this.#stderr;
    return { width: columnsOf(stream), paint: await this.#paint(stream), hide: (text) => this.#clean(text) };
  }

  get columns(): number {
    return columnsOf(this.#stdout);
  }

  /** Zero where it is not known. */
  get rows(): number {
    return this.#stdout.rows ?? 0;
  }

  /** Prints what --quiet prints: each text on a line of its own. */
  lines(texts: readonly string[]): void {
    this.write(texts.map((text) => `${forRow(text)}\n`).join(''));
  }

  /** Writes to stdout, with secrets masked. */
  write(text: string): void {
    if (this.#pager) this.#pager.write(this.#hide(text));
    else this.writeNow(text);
  }

  /** The same past a pager. */
  writeNow(text: string): void {
    this.#stdout.write(this.#hide(text));
  }

  /** Has a pager take what goes to stdout; without one, it goes there again, and messages that waited are shown. */
  divert(pager: Paged | undefined): void {
    this.#pager = pager;
    if (!pager) for (const [text, maxWaiting] of this.#waiting.splice(0)) this.#writeStderr(text, maxWaiting);
  }

  /** A pager reads the terminal. */
  get pagerIsOpen(): boolean {
    return this.#pager?.isOpen ?? false;
  }

  /** Writes lines of a long document as they come, with secrets masked; stops when the reader of stdout has gone. */
  async writeLines(lines: AsyncIterable<string>): Promise<void> {
    for await (const some of lines) {
      this.write(this.onTerminal ? forTerminalLines(some) : some);
      await this.#drain();
      if (this.#readerGone) return;
    }
  }

  /** Writes a chunk of a document to stdout, unchanged; on a terminal without control characters. */
  async writeDocument(chunk: Uint8Array): Promise<void> {
    const safe = this.onTerminal ? forTerminalLines(this.#decoder.write(Buffer.from(chunk))) : chunk;
    this.#stdout.write(safe);
    await this.#drain();
  }

  /** Waits for a slow reader, so that output does not pile up in memory. */
  async #drain(): Promise<void> {
    if (this.#pager) await this.#pager.drain();
    else if (!this.#readerGone) await waitForReader(this.#stdout);
  }

  /** A line for a person, on stderr; left out with --quiet and --json. */
  note(text: string): void {
    if (!this.mode.quiet && !this.mode.json) this.#writeStderr(`${this.#line(text, MAX_NOTE_LENGTH)}\n`);
  }

  /** Says what was done: a note for a person, or with --json a document. */
  done(text: string, fields: Readonly<Record<string, string | null>>): void {
    if (this.mode.json) {
      this.addDone(text);
      this.write(`${formatJson(toJson(fields))}\n`);
    } else this.note(text);
  }

  /** A warning about something that failed, with the hint of its error. */
  warnOf(what: string, error: unknown): Promise<void> {
    return this.warn(`${what}: ${errorMessage(error)}`, error instanceof StenoError ? error.hint : undefined);
  }

  /** `event`: one of which this is all that is left. With --json it is a part of the object, else nothing is cut. */
  async warn(message: string, hint?: string, event?: JsonObject): Promise<void> {
    if (this.mode.json) {
      const object = toJson({ message: this.#line(message), hint: hint && this.#clean(hint) }) as JsonObject;
      return this.#writeStderrJson('warning', event ? object.set('event', event) : object);
    }
    const paint = await this.#paint(this.#stderr);
    const line = this.#line(message, event && Number.POSITIVE_INFINITY);
    this.#writeStderr(
      `${paint.warn('warning:')} ${line}\n${hint ? `hint: ${this.#line(hint)}\n` : ''}`,
      MAX_WAITING_WARNINGS,
    );
  }

  async fail(error: StenoError): Promise<void> {
    const failures = error instanceof BulkError ? error.failures : [];
    if (this.mode.json) return this.#writeStderrJson('error', failedJson(error, failures, this.#hide));
    const paint = await this.#paint(this.#stderr);
    const prefix = paint.bad('steno:');
    for (const { what, error } of onePerError(failures))
      this.#writeStderr(`${prefix} ${this.#line(`${what}: ${error.message}`)}\n`);
    for (const line of [error.message, ...error.more]) this.#writeStderr(`${prefix} ${this.#line(line)}\n`);
    if (error.hint) this.#writeStderr(`hint: ${this.#line(error.hint)}\n`);
    if (this.mode.debug) this.#writeStderr(`${forTerminalLines(this.#clean(stackTrace(error)))}\n`);
  }

  debug(line: string): void {
    if (this.mode.debug) this.#writeStderr(`debug: ${this.#line(line, MAX_DEBUG_LENGTH)}\n`);
  }

  /** A line on stderr in every mode: a script may wait for it. */
  announce(text: string): void {
    this.#writeStderr(`${this.#line(text, MAX_NOTE_LENGTH)}\n`);
  }

  /** The same while work goes on; with --json a warning. */
  sayNow(text: string): void {
    if (this.mode.json) this.#writeStderrJson('warning', toJson({ message: this.#line(text) }) as JsonObject);
    else this.announce(text);
  }

  /** Keeps a line that says what was done, for a stdout that can't take the result. */
  addDone(...texts: readonly string[]): void {
    this.#done.push(...texts);
  }

  get hasDone(): boolean {
    return this.#done.length > 0;
  }

  /** stdout can't be written: says what was done all the same, then the error. */
  async failToWrite(error: StenoError): Promise<void> {
    const paint = await this.#paint(this.#stderr);
    for (const text of this.#done.splice(0)) {
      if (this.mode.json) this.sayNow(text);
      else this.#writeStderr(`${paint.bad('steno:')} ${this.#line(text, MAX_NOTE_LENGTH)}\n`);
    }
    await this.fail(error);
  }

  /** The output of a child process, on stderr without control characters. */
  passOn(text: string): void {
    this.#writeStderr(forTerminalLines(text), MAX_WAITING_OUTPUT);
  }

  /** Writes on stderr, where a redirected stdout does not hide a question: what is passed may steer the terminal. */
  ask(text: string): void {
    this.#writeStderr(text);
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

  /** One line of stderr; cleaned before it is cut, or the beginning of a key would stay. */
  #line(text: string, maxLength = MAX_LINE_LENGTH): string {
    return oneLine(this.#clean(text), maxLength);
  }

  /** Without secrets: keys are masked, and signatures are cut out of links. */
  #clean(text: string): string {
    return cutSignatures(this.#hide(text));
  }

  #writeStderr(text: string, maxWaiting = MAX_WAITING_NOTES): void {
    if (this.#pager) return void this.#waiting.push([text, maxWaiting]);
    if (this.#ignoresStalls && this.#stderr.writableLength > maxWaiting) {
      this.#leftOut += 1;
      return;
    }
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    if (leftOut) this.sayNow(`${plural(leftOut, 'message')} left out here, because nothing read them`);
    this.#stderr.write(this.#hide(text));
  }

  #writeStderrJson(key: string, object: JsonObject): void {
    this.#writeStderr(`${formatJson(new Map([[key, object]]), 0)}\n`, MAX_WAITING_WARNINGS);
  }

  /** Whether what goes to stderr may be coloured. */
  get paintsProgress(): boolean {
    return this.#usesColour(this.#stderr);
  }

  async #paint(stream: NodeJS.WriteStream): Promise<Paint> {
    const { Paint } = await import('./paint.ts');
    return new Paint(this.#usesColour(stream));
  }

  #usesColour(stream: NodeJS.WriteStream): boolean {
    return usesColour(stream, { ...this.mode, env: this.#env, isData: stream === this.#stdout });
  }
}

/** Some terminals report zero columns. */
const columnsOf = ({ columns }: NodeJS.WriteStream): number => columns || 80;
