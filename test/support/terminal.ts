/** A shell on a pseudo-terminal that runs one command, as a person at the keyboard meets it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from './steno.ts';
import { until } from './until.ts';

// With job control, as an interactive shell has it; a job that was stopped goes on after the next line.
const session = (program: string, args: string, columns: number): string => `
set -m
stty cols ${columns} rows 40
stty -a > before
echo ready
if [ -n "$TYPE_AHEAD" ]; then sleep 1; fi
sh -c 'echo $$ > pid; exec ${program} ${args}'
code=$?
if [ $code = 148 ]; then echo stopped; read -r _; fg; code=$?; fi
stty -a > after
echo "code=$code"
IFS= read -r line
echo "shell=$line."`;

export class Terminal {
  /** What the screen was sent. */
  screen = '';
  readonly #user: User;
  readonly #script: ChildProcessWithoutNullStreams;

  constructor(
    user: User,
    args: string,
    options: { readonly typeAhead?: string; readonly columns?: number } = {},
  ) {
    this.#user = user;
    const program = user.program.map((word) => `"${word}"`).join(' ');
    this.#script = spawn('script', ['-qec', session(program, args, options.columns ?? 100), '/dev/null'], {
      cwd: user.home,
      env: { TERM: 'xterm-256color', SHELL: '/bin/bash', ...user.env, TYPE_AHEAD: options.typeAhead },
    });
    this.#script.stdin.on('error', () => {});
    this.#script.stdout.on('data', (chunk: Buffer) => {
      this.screen += chunk.toString();
    });
    if (options.typeAhead !== undefined)
      void this.until('ready').then(() => this.type(options.typeAhead ?? ''));
  }

  type(text: string): void {
    this.#script.stdin.write(text);
  }

  /** Nothing reads what the program writes any more, as after Ctrl-S or in an ssh session that hangs. */
  stall(): void {
    this.#script.stdout.pause();
  }

  goOn(): void {
    this.#script.stdout.resume();
  }

  /** Waits for a text on the screen, or for what is asked; shows the screen where it does not come. */
  async until(text: string | (() => boolean)): Promise<void> {
    const seen = typeof text === 'string' ? () => this.screen.includes(text) : text;
    await until(seen, () => `${text}; the screen: ${JSON.stringify(this.screen)}`).catch((error) => {
      this.close();
      throw error;
    });
  }

  /** Waits for a question before it types. */
  async answer(question: string, text: string): Promise<void> {
    await this.until(question);
    this.type(text);
  }

  get pid(): number {
    return Number(readFileSync(join(this.#user.home, 'pid'), 'utf8'));
  }

  get isRunning(): boolean {
    // A zombie has ended, and waits for its parent.
    const status = `/proc/${this.pid}/status`;
    return existsSync(status) && !/^State:\s+Z/m.test(readFileSync(status, 'utf8'));
  }

  /** The exit code; the shell must have its terminal as it was, and get what is typed next. */
  async end(): Promise<{ readonly code: number; readonly restored: boolean; readonly shell: string }> {
    await this.until('code=');
    this.type('next line\r');
    await this.until(() => /shell=.*\./.test(this.screen));
    const [before, after] = ['before', 'after'].map((name) =>
      readFileSync(join(this.#user.home, name), 'utf8'),
    );
    return {
      code: Number(/code=(\d+)/.exec(this.screen)?.[1]),
      restored: before === after,
      shell: /shell=(.*)\./.exec(this.screen)?.[1] ?? '',
    };
  }

  /** Closes the window. */
  close(): void {
    this.#script.kill('SIGKILL');
  }
}
