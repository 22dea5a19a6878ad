/** The pager as a process beside ours. Loaded on first use, because of what starts programs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { childEnv } from '../lib/child-env.ts';
import type { Env } from '../lib/env.ts';
import type { Output } from './output.ts';
import type { Paged } from './output-mode.ts';

/** How much of the text is kept for a pager that dies; beyond it, the person has seen a lot of it. */
const MAX_KEPT = 8 * 1024 * 1024;
const DEFAULT_ROWS = 24;

export interface Person {
  readonly out: Output;
  readonly env: Env;
  readonly signal: AbortSignal;
}

/** Takes text in place of stdout: nothing is shown before it is known whether it fits the terminal. */
export class Pager implements Paged {
  readonly #program: readonly string[];
  readonly #person: Person;
  readonly #rows: number;
  #kept: string[] = [];
  #keptLength = 0;
  #lines = 0;
  #child: ChildProcess | undefined;
  #ended: Promise<void> | undefined;
  #isOpen = false;
  #hasQuit = false;
  #hasFailed = false;

  constructor(program: readonly string[], person: Person) {
    this.#program = program;
    this.#person = person;
    this.#rows = person.out.rows || DEFAULT_ROWS;
  }

  /** Reads the terminal, so that the program must not end before it. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get wasOpen(): boolean {
    return this.#child !== undefined;
  }

  /** No more is wanted: the person has quit it, or has interrupted. */
  get isGone(): boolean {
    return this.#hasQuit || (this.#isOpen && this.#person.signal.aborted);
  }

  write(text: string): void {
    if (this.#hasFailed) {
      this.#person.out.writeNow(text);
      return;
    }
    this.#keep(text);
    if (this.#child) {
      this.#child.stdin?.write(text);
      return;
    }
    this.#lines += text.split('\n').length - 1;
    // The line of the prompt counts too.
    if (this.#lines >= this.#rows) this.#open();
  }

  #keep(text: string): void {
    this.#keptLength += text.length;
    if (this.#keptLength <= MAX_KEPT) this.#kept.push(text);
    else this.#kept = [];
  }

  #open(): void {
    const [file = '', ...args] = this.#program;
    // As git and gh set them: colour is shown, and what fits the screen is not waited for.
    const variables = { LESS: 'FRX', LV: '-c', ...childEnv(this.#person.env) };
    const child = spawn(file, args, { stdio: ['pipe', 'inherit', 'inherit'], env: variables });
    this.#child = child;
    this.#isOpen = true;
    this.#ended = new Promise((resolve) => {
      child.once('error', () => resolve(this.#close(false)));
      child.once('exit', (code) => resolve(this.#close(code === 0)));
    });
    // EPIPE: it was quit before all was read.
    child.stdin.on('error', () => {});
    child.stdin.write(this.#kept.join(''));
  }

  /** What a pager has not shown is printed, unless the person has ended it. */
  #close(isWell: boolean): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#hasQuit = isWell || this.#person.signal.aborted;
    this.#hasFailed = !this.#hasQuit;
    if (!this.#hasFailed) return;
    if (this.#keptLength > MAX_KEPT)
      this.#person.out.writeNow('… (the pager broke off; see it all with --no-pager)\n');
    else this.#person.out.writeNow(this.#kept.join(''));
    this.#kept = [];
  }

  /** Resolves when the pager takes more, or has ended. */
  async drain(): Promise<void> {
    const stdin = this.#child?.stdin;
    const { signal } = this.#person;
    if (!stdin?.writableNeedDrain || !this.#isOpen || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        stdin.off('drain', done).off('close', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      stdin.on('drain', done).on('close', done);
      signal.addEventListener('abort', done);
      void this.#ended?.then(done);
    });
  }

  /** Prints what fits the terminal; else waits until the person has quit the pager. */
  async end(): Promise<void> {
    if (!this.#child) this.#person.out.writeNow(this.#kept.join(''));
    this.#child?.stdin?.end();
    await this.#ended;
  }
}
