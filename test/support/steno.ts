/** Runs the real program as a user would: a process of its own, fresh folders, nothing of this machine's settings. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { compiledCode, nodeArguments } from './compiled-code.ts';
import { freshFolder } from './files.ts';
import { canRunHere, runHere } from './in-process.ts';
import { ledgerSetting } from './store.ts';

export const BIN = resolve('bin/steno.js');
export const KEY = 'sk+very/secret=key&0123456789';

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
}

export interface Options {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string;
  readonly cwd?: string;
}

/** A user with a home of their own: what one command keeps, the next one finds. */
export class User {
  readonly home = freshFolder();
  readonly env: Record<string, string | undefined>;
  /** What is run, and its first arguments. */
  readonly program: readonly [string, ...string[]] = [process.execPath, ...nodeArguments, BIN];

  constructor(env: Record<string, string | undefined> = {}) {
    this.env = {
      PATH: process.env.PATH,
      HOME: this.home,
      STENO_CONFIG_DIR: join(this.home, 'config'),
      STENO_STATE_DIR: join(this.home, 'state'),
      ...compiledCode,
      ...ledgerSetting(),
      ...env,
    };
  }

  /** Not another program, such as an installed package. */
  get #isBuild(): boolean {
    return this.program[0] === process.execPath;
  }

  start(args: readonly string[], options: Options = {}): ChildProcessWithoutNullStreams {
    const [program, ...first] = this.program;
    return spawn(program, [...first, ...args], {
      cwd: options.cwd ?? this.home,
      env: { ...this.env, ...options.env },
    });
  }

  /** In the process of the test where a process of its own would prove nothing: that takes a tenth of the time. */
  run(args: readonly string[], options: Options = {}): Promise<Result> {
    const env = { ...this.env, ...options.env };
    if (this.#isBuild && canRunHere(args, env))
      return runHere(args, { ...options, env, cwd: options.cwd ?? this.home });
    return this.runAlone(args, options);
  }

  /** In a process of its own, whatever the file. */
  runAlone(args: readonly string[], options: Options = {}): Promise<Result> {
    const child = this.start(args, options);
    child.stdin.on('error', () => {});
    child.stdin.end(options.stdin ?? '');
    return finished(child);
  }

  /** Runs it on a pseudo-terminal and gives what the screen was sent. */
  onTerminal(line: string, options: Options & { readonly columns?: number; readonly rows?: number } = {}) {
    const { columns = 120, rows = 40 } = options;
    const size = `stty cols ${columns} rows ${rows} 2>/dev/null; `;
    const child = spawn(
      'script',
      ['-qec', `${size}${line.replace(/\bsteno\b/, this.program.join(' '))}`, '/dev/null'],
      {
        cwd: options.cwd ?? this.home,
        // A test that pages says so: a pager would wait for a key.
        env: { TERM: 'xterm-256color', STENO_PAGER: 'cat', ...this.env, ...options.env },
      },
    );
    child.stdin.on('error', () => {});
    // It is typed when the program asks, not before: a terminal may lose what comes early.
    let seen = '';
    child.stdout.on('data', (chunk: Buffer) => {
      const asked = /[:\]] (\u001b\[\d*[A-Z])*$/;
      const before = asked.test(seen);
      seen += chunk.toString();
      if (options.stdin !== undefined && !before && asked.test(seen))
        setTimeout(() => child.stdin.write(options.stdin), 150);
    });
    return finished(child);
  }
}

export function finished(child: ChildProcessWithoutNullStreams): Promise<Result> {
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => {
      const bytes = Buffer.concat(out);
      done({ code, bytes, stdout: bytes.toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}
