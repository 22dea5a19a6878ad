import type { createInterface, Interface, Key } from 'node:readline';
import { Writable } from 'node:stream';
import { StenoError } from '../lib/errors.ts';
import { sleep } from '../lib/time.ts';
import type { Output } from './output.ts';

interface Person {
  readonly stdin: NodeJS.ReadStream;
  readonly out: Output;
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (error: Error) => void;
}

/** A paste comes in parts, one after the other. */
const PASTE_MS = 150;

const interrupted = (): StenoError => new StenoError('interrupted', 'interrupted');

/** Asks on the terminal, which is as it was before when the questions have ended in any way. */
export async function askPerson<Answer>(
  person: Person,
  ask: (questions: Questions) => Promise<Answer>,
): Promise<Answer> {
  // Loaded here, because most commands that can ask do not.
  const { createInterface } = await import('node:readline');
  const questions = new Questions(person, createInterface);
  try {
    return await ask(questions);
  } finally {
    questions.close();
  }
}

/**
 * Owns the terminal's stdin from the first question of a command to the last, so that lines pasted together reach
 * every question. It stays raw in between: a cooked terminal would show a key that is typed before it is asked for.
 */
export class Questions {
  readonly #person: Person;
  readonly #echo: Echo;
  readonly #editor: Interface;
  readonly #typedAhead: string[] = [];
  #asked: { readonly text: string; readonly shown: boolean } | undefined;
  #waiting: Waiting | undefined;
  #ended = false;
  /** How many are on the screen. */
  #bullets = 0;

  constructor(person: Person, open: typeof createInterface) {
    const { stdin, out, signal } = person;
    this.#person = person;
    this.#echo = new Echo(out);
    // Without a history: the up arrow would bring back an earlier answer.
    this.#editor = open({ input: stdin, output: this.#echo, terminal: true, historySize: 0 });
    this.#editor
      .on('line', (line: string) => this.#take(line))
      .on('close', () => this.#end())
      // A raw terminal sends no signal for Ctrl-C.
      .on('SIGINT', () => process.emit('SIGINT'))
      .on('SIGCONT', () => {
        this.#editor.resume();
        this.#show();
      });
    // A terminal that was closed gives EIO: the input has ended.
    for (const source of [this.#editor, stdin]) source.on('error', () => this.#end());
    stdin.prependListener('keypress', this.#onKey);
    stdin.on('keypress', this.#drawBullets);
    signal.addEventListener('abort', this.#onAbort);
  }

  /** A line that is shown while it is typed; an empty one where the input ends. */
  line(question: string): Promise<string> {
    return this.#answer(question, true);
  }

  /** A line of which a person sees only how many characters were typed. */
  hidden(question: string): Promise<string> {
    return this.#answer(question, false);
  }

  /** The input has ended: there will be no other answer. */
  get isOver(): boolean {
    return this.#ended;
  }

  async confirm(question: string): Promise<boolean> {
    return /^y(es)?$/i.test(await this.line(`${question} [y/N]`));
  }

  /** Forgets what was typed or pasted behind the last answer, unseen: it was meant for another question. */
  async discardTyped(): Promise<void> {
    await sleep(PASTE_MS, this.#person.signal);
    this.#typedAhead.length = 0;
    this.#editor.write(null, { ctrl: true, name: 'e' });
    this.#editor.write(null, { ctrl: true, name: 'u' });
  }

  close(): void {
    this.#echo.shown = false;
    this.#person.signal.removeEventListener('abort', this.#onAbort);
    this.#person.stdin.off('keypress', this.#onKey);
    this.#person.stdin.off('keypress', this.#drawBullets);
    this.#editor.close();
  }

  async #answer(question: string, shown: boolean): Promise<string> {
    const { out, signal } = this.#person;
    if (signal.aborted) throw interrupted();
    const text = `${out.stderr.line(question)} `;
    const ready = this.#typedAhead.shift() ?? (this.#ended ? '' : undefined);
    if (ready !== undefined) {
      out.stderr.write(`${text}${shown ? out.stderr.line(ready) : this.#bulletsFor(ready)}\n`);
      return ready.trim();
    }
    this.#asked = { text, shown: shown && out.stderr.isTerminal };
    this.#show();
    const line = await new Promise<string>((resolve, reject) => {
      this.#waiting = { resolve, reject };
    });
    return line.trim();
  }

  /** Writes the question, with the part of the answer that was typed before it was asked. */
  #show(): void {
    if (!this.#asked) return;
    const { text, shown } = this.#asked;
    this.#echo.shown = shown;
    this.#editor.setPrompt(text);
    if (shown) this.#editor.prompt(true);
    else {
      this.#person.out.stderr.write(text);
      this.#bullets = 0;
      this.#drawBullets();
    }
  }

  /** No more than fit into the line of the question. */
  #bulletsFor(line: string): string {
    const { stderr } = this.#person.out;
    const room = stderr.columns - (this.#asked?.text.length ?? 0) - 1;
    return stderr.isTerminal ? '•'.repeat(Math.max(0, Math.min([...line].length, room))) : '';
  }

  /** Adds or takes away as many as the hidden answer has grown or shrunk. */
  readonly #drawBullets = (): void => {
    if (!this.#asked || this.#asked.shown) return;
    const { stderr } = this.#person.out;
    const count = this.#bulletsFor(this.#editor.line).length;
    const more = count - this.#bullets;
    this.#bullets = count;
    if (more) stderr.write(more > 0 ? '•'.repeat(more) : '\b \b'.repeat(-more));
  };

  #take(line: string): void {
    // The editor has ended the line on the screen where it shows it.
    if (this.#waiting) this.#stopWaiting(!this.#echo.shown).resolve(line);
    else this.#typedAhead.push(line);
  }

  #end(): void {
    this.#ended = true;
    if (this.#waiting) this.#stopWaiting(true).resolve('');
  }

  readonly #onAbort = (): void => {
    if (this.#waiting) this.#stopWaiting(true).reject(interrupted());
  };

  /** The editor ignores Ctrl-D at the end of a line: here it ends the input, and what was typed counts. */
  readonly #onKey = (_: unknown, key: Key): void => {
    const { line, cursor } = this.#editor;
    if (key.name !== 'd' || !key.ctrl || !line || cursor < line.length) return;
    this.#echo.shown = false;
    this.#take(line);
    this.#editor.close();
  };

  #stopWaiting(endsLine: boolean): Waiting {
    const waiting = this.#waiting as Waiting;
    this.#waiting = undefined;
    this.#asked = undefined;
    this.#echo.shown = false;
    if (endsLine) this.#person.out.stderr.write('\n');
    return waiting;
  }
}

/** What the line editor draws: passed on only while a question is open whose answer may be seen. */
class Echo extends Writable {
  shown = false;
  readonly #out: Output;

  constructor(out: Output) {
    super({ decodeStrings: false });
    this.#out = out;
  }

  /** Where the editor breaks a long line. */
  get columns(): number {
    return this.#out.stderr.columns;
  }

  override _write(text: string, _: BufferEncoding, done: () => void): void {
    if (this.shown) this.#out.stderr.write(text);
    done();
  }
}
