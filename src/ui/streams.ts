/** stdout and stderr: secrets are masked on both, and a reader that stalls or leaves does no harm. */
import { accessSync, constants, fstatSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { showsLinks, usesColour } from '../lib/colour.ts';
import type { Env } from '../lib/env.ts';
import { formatJson, type JsonObject, toJson } from '../lib/json.ts';
import { cutSignatures } from '../lib/signatures.ts';
import { foldWords, forRow, forTerminalLines, type Line, oneLine, plural } from '../lib/text.ts';
import type { LiveLines, LiveSlot } from './live.ts';
import type { Drawing } from './paint.ts';

export interface OutputMode {
  readonly json: boolean;
  readonly csv: boolean;
  readonly markdown: boolean;
  /** The columns to print, by name; all that the command has without any. */
  readonly columns: readonly string[];
  readonly quiet: boolean;
  readonly noColor: boolean;
  readonly debug: boolean;
  /** False: no line that moves. */
  readonly progress: boolean;
  /** Long lists may be read in a pager. */
  readonly pager: boolean;
}

export interface StreamOptions {
  readonly mode: OutputMode;
  readonly env: Env;
  /** Masks secrets. */
  readonly hide: (text: string) => string;
}

/** What takes text in place of stdout, so that it can be read in a pager. */
interface Paged {
  readonly isOpen: boolean;
  readonly isGone: boolean;
  write(text: string): void;
  drain(): Promise<void>;
}

abstract class Stream {
  protected readonly stream: NodeJS.WriteStream;
  protected readonly options: StreamOptions;
  readonly #slot: LiveSlot;
  #ignoresStalls = false;

  constructor(stream: NodeJS.WriteStream, options: StreamOptions, slot: LiveSlot) {
    this.stream = stream;
    this.options = options;
    this.#slot = slot;
  }

  /** Above the lines that change in place. */
  protected print(text: string | Uint8Array): void {
    const { live } = this.#slot;
    live?.clear();
    this.stream.write(text);
    live?.update();
  }

  /** Lines that change in place from now on. */
  async showLive(lines: () => readonly Line[]): Promise<LiveLines> {
    const { LiveLines } = await import('./live.ts');
    const drawing = { ...(await this.drawing()), hide: (text: string) => this.clean(text) };
    return new LiveLines({ slot: this.#slot, stream: this.stream, drawing, lines });
  }

  get isTerminal(): boolean {
    return this.stream.isTTY === true;
  }

  /** Some terminals report zero. */
  get columns(): number {
    return this.stream.columns || 80;
  }

  /** How text for a person is drawn. */
  async drawing(): Promise<Drawing> {
    const { Paint } = await import('./paint.ts');
    const { mode, env, hide } = this.options;
    const coloured = usesColour(this.stream, { ...mode, env, isData: this instanceof Stdout });
    return { width: this.columns, paint: new Paint(coloured, this.takesLinks && showsLinks(env)), hide };
  }

  protected get takesLinks(): boolean {
    return true;
  }

  /** Without secrets: keys are masked, and signatures are cut out of links. */
  clean(text: string): string {
    return cutSignatures(this.options.hide(text));
  }

  /** Whether a signal ends the program though not all of its output was read. */
  get ignoresStalls(): boolean {
    return this.#ignoresStalls;
  }

  /** For a command that must go on whatever becomes of its readers: from now on no write waits for one. */
  ignoreStalls(): void {
    this.#ignoresStalls = true;
    makeNonBlocking(this.stream);
  }
}

/** The way for data. */
export class Stdout extends Stream {
  /** Takes what is written while a list may be read in it. */
  pager: Paged | undefined;
  readonly #decoder = new StringDecoder('utf8');
  #isReaderGone = false;
  /** The last character written, while it is held back. */
  #last: string | undefined;

  constructor(stream: NodeJS.WriteStream, options: StreamOptions, slot: LiveSlot) {
    super(stream, options, slot);
    // The stream's own state does not tell: Node reopens it after an error.
    stream.once('close', () => {
      this.#isReaderGone = true;
    });
  }

  /** Older pagers show links as text. */
  protected override get takesLinks(): boolean {
    return !this.pager;
  }

  /** Zero where it is not known. */
  get rows(): number {
    return this.stream.rows ?? 0;
  }

  write(text: string): void {
    if (this.pager) this.pager.write(this.options.hide(text));
    else this.writeNow(text);
  }

  /** The same past a pager. */
  writeNow(text: string): void {
    const shown = (this.#last ?? '') + this.options.hide(text);
    const end = this.#last === undefined ? shown.length : shown.length - 1;
    if (this.#last !== undefined) this.#last = shown.slice(-1);
    this.print(shown.slice(0, Math.max(0, end)));
  }

  /** Each text on a line of its own. */
  writeLines(texts: readonly string[]): void {
    this.write(texts.map((text) => `${forRow(text)}\n`).join(''));
  }

  /** Writes a part of a long text, and waits for its reader; false where that has gone. */
  async writePart(text: string): Promise<boolean> {
    this.write(this.isTerminal ? forTerminalLines(text) : text);
    return this.drain();
  }

  /** Writes a chunk of a document, unchanged; on a terminal without control characters. */
  async writeDocument(chunk: Uint8Array): Promise<void> {
    this.print(this.isTerminal ? forTerminalLines(this.#decoder.write(Buffer.from(chunk))) : chunk);
    await this.drain();
  }

  /** Waits for a slow reader, so that output does not pile up in memory; false where that has gone (head, less). */
  async drain(): Promise<boolean> {
    if (this.pager) await this.pager.drain();
    else if (!this.#isReaderGone && this.stream.writableNeedDrain)
      await firstOf(this.stream, ['drain', 'close']);
    return !this.#isReaderGone && !this.pager?.isGone;
  }

  /** Whether all that was written has left this process; false where its reader has gone, or the signal fires before. */
  async isWritten(signal: AbortSignal): Promise<boolean> {
    // What is written last is called back when all before it has left.
    if (this.stream.writableLength > 0)
      await firstOf(this.stream, ['close'], signal, (done) => this.stream.write('', done));
    // An error of the last write is told in the next turn.
    await new Promise(setImmediate);
    return !this.#isReaderGone && this.stream.writableLength === 0;
  }

  /**
   * Runs work that prints, and tells whether its reader has taken all of it. `head` empties a pipe and leaves: the last
   * character is written when it has had the time to.
   */
  async isTaken(work: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
    this.#last = '';
    try {
      await work();
    } finally {
      const last = this.#last;
      this.#last = undefined;
      if (last && isPipe(this.stream)) await new Promise((resolve) => setTimeout(resolve, LEAVING_MS));
      if (last) this.print(last);
    }
    return this.isWritten(signal);
  }

  get isReaderGone(): boolean {
    return this.#isReaderGone;
  }
}

/** How long a reader is given to leave. */
const LEAVING_MS = 100;

const MAX_LINE_LENGTH = 600;
const MAX_NOTE_LENGTH = 2000;
/**
 * What may wait on stderr for a reader that stalls: of notes, of what commands print, where one of them may print 1 MiB,
 * and of warnings, which may be all that is left of an event.
 */
const MAX_WAITING_NOTES = 256 * 1024;
const MAX_WAITING_OUTPUT = 2 * 1024 * 1024;
export const MAX_WAITING_WARNINGS = 8 * 1024 * 1024;

/** The way for everything else. */
export class Stderr extends Stream {
  /** Messages that wait until the pager has gone: it has the screen. */
  #held: Array<readonly [text: string, maxWaiting: number]> | undefined;
  /** Messages that were left out because nothing read them. */
  #leftOut = 0;

  get progressForm(): ProgressForm {
    return progressForm(this.options.mode, this.stream, this.options.env);
  }

  /** What is passed may steer the terminal. */
  write(text: string, maxWaiting = MAX_WAITING_NOTES): void {
    if (this.#held) return void this.#held.push([text, maxWaiting]);
    if (this.ignoresStalls && this.stream.writableLength > maxWaiting) {
      this.#leftOut += 1;
      return;
    }
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    if (leftOut) this.notice(`${plural(leftOut, 'message')} left out here, because nothing was reading them`);
    this.print(this.options.hide(text));
  }

  /** A line in every mode: a script may wait for it. */
  writeLine(text: string, maxLength = MAX_NOTE_LENGTH): void {
    this.write(`${this.#folded(this.line(text, maxLength))}\n`);
  }

  /** `lead` is the first word, `paint` its colour; `text` is one line. */
  writeMessage(
    lead: string,
    text: string,
    paint: (text: string) => string = String,
    maxWaiting?: number,
  ): void {
    const message = this.#folded(`${lead} ${text}`);
    this.write(`${paint(lead)}${message.slice(lead.length)}\n`, maxWaiting);
  }

  /** A terminal would break a long line in the middle of a word. */
  #folded(line: string): string {
    return this.isTerminal ? foldWords(line, this.columns).join('\n') : line;
  }

  writeJson(key: string, object: JsonObject): void {
    this.write(`${formatJson(new Map([[key, object]]), 0)}\n`, MAX_WAITING_WARNINGS);
  }

  /** A line while work goes on; with --json a warning. */
  notice(text: string): void {
    if (this.options.mode.json) this.writeJson('warning', toJson({ message: this.line(text) }) as JsonObject);
    else this.writeLine(text);
  }

  /** Rings the bell of a terminal, and has it show a desktop notification (OSC 9) where it can. */
  notify(isWanted: boolean, text: string): void {
    if (isWanted && this.isTerminal) this.write(`\u0007\u001b]9;steno: ${this.line(text)}\u0007`);
  }

  /** The output of a child process, without control characters. */
  passOn(text: string): void {
    this.write(forTerminalLines(text), MAX_WAITING_OUTPUT);
  }

  /** A text as one line; cleaned before it is cut, or the beginning of a key would stay. */
  line(text: string, maxLength = MAX_LINE_LENGTH): string {
    return oneLine(this.clean(text), maxLength);
  }

  /** From now on messages wait for `release`. */
  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const [text, maxWaiting] of held) this.write(text, maxWaiting);
  }
}

/** Resolves when one of the events comes, `also` calls what it is given, or the signal fires. */
export function firstOf(
  stream: Writable,
  events: readonly string[],
  signal?: AbortSignal,
  also?: (done: () => void) => unknown,
): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const each of events) stream.off(each, done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    for (const each of events) stream.on(each, done);
    signal?.addEventListener('abort', done);
    also?.(done);
    if (signal?.aborted) done();
  });
}

interface WithHandle {
  readonly fd?: number;
  readonly _handle?: { setBlocking?: (on: boolean) => unknown };
}

function isPipe(stream: NodeJS.WriteStream): boolean {
  const { fd } = stream as WithHandle;
  const found = fd === undefined || stream.isTTY ? undefined : fstatSync(fd);
  return found !== undefined && (found.isFIFO() || found.isSocket());
}

/**
 * Node makes the whole program wait for a terminal, and on Windows for a pipe. Without that, what is written waits in
 * memory. Node has a file description of its own for a terminal, so that no other program notices.
 */
function makeNonBlocking(stream: NodeJS.WriteStream): void {
  const { fd, _handle } = stream as unknown as WithHandle;
  // Where a terminal could not be opened again (after su), Node shares it, and would try without a pause.
  if (stream.isTTY && fd !== undefined && !canReopen(fd)) return;
  _handle?.setBlocking?.(false);
}

function canReopen(fd: number): boolean {
  if (process.platform !== 'linux') return true;
  try {
    accessSync(`/proc/self/fd/${fd}`, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** How long work shows how far it is: a line that is written over, plain lines every ten seconds, or nothing. */
type ProgressForm = 'line' | 'plain' | 'none';

/**
 * A terminal has a line that moves; plain lines where it can't move one, in CI, or with --no-progress, which a screen
 * reader needs. A pipe stays quiet, but for the log of a CI job, where only people read stderr unless --json is given.
 */
export function progressForm(
  { json, quiet, debug, progress }: Pick<OutputMode, 'json' | 'quiet' | 'debug' | 'progress'>,
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  { CI, TERM }: Env,
): ProgressForm {
  const inCi = CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0';
  // Lines of --debug say more.
  if (debug) return 'none';
  if (!isTTY) return inCi && !json && !quiet ? 'plain' : 'none';
  if (!progress) return quiet ? 'none' : 'plain';
  // Some terminals report zero columns: there ora would never stop clearing its line.
  return inCi || TERM === 'dumb' || !(columns > 0) ? 'plain' : 'line';
}
