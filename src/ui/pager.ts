/** A pager for lists that are longer than the terminal: what the person reads them with, as git and gh have it. */
import type { ChildProcess } from 'node:child_process';
import type { Env } from '../lib/env.ts';
import { StenoError } from '../lib/errors.ts';
import { childEnv, findProgram, splitCommand } from '../lib/processes.ts';
import type { Output } from './output.ts';
import { firstOf } from './streams.ts';

interface Person {
  readonly out: Output;
  readonly env: Env;
  readonly signal: AbortSignal;
}

/** The program to page with and its arguments; undefined where there is none, or no person at a terminal. */
export function findPager({ out, env }: Pick<Person, 'out' | 'env'>): readonly string[] | undefined {
  if (!out.forPeople || !out.mode.pager || env.TERM === 'dumb' || !isOnTerminal(0)) return undefined;
  const [name, ...args] = splitCommand(env.STENO_PAGER ?? env.PAGER ?? 'less');
  // `cat` is how people say that they want none.
  if (name === undefined || name === 'cat') return undefined;
  const file = findProgram(name, env);
  return file === undefined ? undefined : [file, ...args];
}

/** Speed: node:tty is loaded only where a person may be reading. */
const isOnTerminal = (descriptor: number): boolean => process.getBuiltinModule('node:tty').isatty(descriptor);

/** Runs work that prints; what is longer than the terminal is read in the pager, if there is one. */
export async function withPager<T>(
  person: Person,
  work: () => Promise<T>,
  program = findPager(person),
): Promise<T> {
  if (!program) return work();
  const { stdout, stderr } = person.out;
  const pager = new Pager(program, person);
  stdout.pager = pager;
  // What is said meanwhile comes after it.
  stderr.hold();
  let result: T;
  try {
    result = await work();
  } finally {
    await pager.end();
    stdout.pager = undefined;
    stderr.release();
  }
  if (pager.wasOpen && person.signal.aborted) throw new StenoError('interrupted', 'interrupted');
  return result;
}

const DEFAULT_ROWS = 24;

/** Takes text in place of stdout: nothing is shown before it is known whether it fits the terminal. */
class Pager {
  readonly #program: readonly string[];
  readonly #person: Person;
  readonly #rows: number;
  /** All of the text, for a pager that dies. */
  #kept: string[] = [];
  #lines = 0;
  #child: ChildProcess | undefined;
  #ended: Promise<void> | undefined;
  #state: 'gathering' | 'open' | 'quit' | 'failed' = 'gathering';

  constructor(program: readonly string[], person: Person) {
    this.#program = program;
    this.#person = person;
    this.#rows = person.out.stdout.rows || DEFAULT_ROWS;
  }

  /** Reads the terminal, so that the program must not end before it. */
  get isOpen(): boolean {
    return this.#state === 'open';
  }

  get wasOpen(): boolean {
    return this.#child !== undefined;
  }

  /** No more is wanted: the person has quit it, or has interrupted. */
  get isGone(): boolean {
    return this.#state === 'quit' || (this.isOpen && this.#person.signal.aborted);
  }

  write(text: string): void {
    if (this.#state === 'failed') return void this.#person.out.stdout.writeNow(text);
    this.#kept.push(text);
    if (this.#child) return void this.#child.stdin?.write(text);
    this.#lines += text.split('\n').length - 1;
    // The line of the prompt counts too.
    if (this.#lines >= this.#rows) this.#open();
  }

  #open(): void {
    const [file = '', ...args] = this.#program;
    // As git and gh set them: colour is shown, and what fits the screen is not waited for.
    const variables = { LESS: 'FRX', LV: '-c', ...childEnv(this.#person.env) };
    // Loaded here, because it takes some milliseconds.
    const { spawn } = process.getBuiltinModule('node:child_process');
    const child = spawn(file, args, { stdio: ['pipe', 'inherit', 'inherit'], env: variables });
    this.#child = child;
    this.#state = 'open';
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
    if (!this.isOpen) return;
    const { out, signal } = this.#person;
    this.#state = isWell || signal.aborted ? 'quit' : 'failed';
    if (this.#state === 'failed') out.stdout.writeNow(this.#kept.join(''));
  }

  /** Resolves when the pager takes more, or has ended. */
  async drain(): Promise<void> {
    const stdin = this.#child?.stdin;
    const { signal } = this.#person;
    if (!stdin?.writableNeedDrain || !this.isOpen || signal.aborted) return;
    await firstOf(stdin, ['drain', 'close'], signal, (done) => void this.#ended?.then(done));
  }

  /** Prints what fits the terminal; else waits until the person has quit the pager. */
  async end(): Promise<void> {
    if (!this.#child) this.#person.out.stdout.writeNow(this.#kept.join(''));
    this.#child?.stdin?.end();
    await this.#ended;
  }
}
