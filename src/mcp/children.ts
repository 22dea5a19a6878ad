/** Runs steno itself, a few processes at a time: one that crashes, hangs or prints too much harms no other. */
import { execFile } from 'node:child_process';
import type { Effect } from '../lib/command-entry.ts';
import type { Env } from '../lib/env.ts';
import { StenoError } from '../lib/errors.ts';
import { bytesText } from '../lib/text.ts';

const MAX_CHILDREN = 4;
const MAX_OUTPUT = 4_000_000;
/** How long one that was told to end may take. */
const END_LIMIT_MS = 5_000;

/** A command line of steno. */
export interface Line {
  readonly words: readonly string[];
  /** Never taken for flags. */
  readonly args?: readonly string[];
  readonly input?: string;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export class Children {
  readonly #env: Env;
  readonly #flags: readonly string[];
  readonly #end = new AbortController();
  readonly #running = new Set<Promise<Ran>>();
  readonly #waiting: Array<() => void> = [];

  /** `flags` choose the profile, the sandbox and the like. */
  constructor(env: Env, flags: readonly string[]) {
    this.#env = env;
    this.#flags = flags;
  }

  /**
   * With no other effect than to read and, if named, this one. One that may cost money is not ended once it runs: the
   * ledger must learn what became of it.
   */
  async run(line: Line, signal: AbortSignal, effect: Effect = 'read'): Promise<Ran> {
    const ends = AbortSignal.any([signal, this.#end.signal]);
    while (this.#running.size >= MAX_CHILDREN && !ends.aborted)
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (ends.aborted) throw new StenoError('interrupted', 'cancelled; nothing was run');
      const running = this.#start(line, effect, effect === 'money' ? undefined : ends);
      this.#running.add(running);
      return await running.finally(() => this.#running.delete(running));
    } finally {
      this.#waiting.shift()?.();
    }
  }

  /** Ends all that may be ended, and waits for the others. */
  async close(): Promise<void> {
    this.#end.abort();
    for (const go of this.#waiting.splice(0)) go();
    await Promise.allSettled(this.#running);
  }

  #start({ words, args = [], input }: Line, effect: Effect, ends?: AbortSignal): Promise<Ran> {
    const line = [...words, '--no-progress', ...this.#flags, '--', ...args];
    const env = { ...this.#env, STENO_ALLOW: `read,${effect}` };
    const options = { env, windowsHide: true, maxBuffer: ends ? MAX_OUTPUT : Number.POSITIVE_INFINITY };
    return new Promise((resolve, reject) => {
      let killing: NodeJS.Timeout | undefined;
      const child = execFile(
        process.execPath,
        [process.argv[1] ?? '', ...line],
        options,
        (error, stdout, stderr) => {
          clearTimeout(killing);
          ends?.removeEventListener('abort', end);
          const code = error ? (error.code ?? null) : 0;
          if (ends?.aborted) reject(new StenoError('interrupted', 'cancelled'));
          else if (typeof code !== 'string') resolve({ code, stdout, stderr });
          else reject(code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER' ? tooLarge : error);
        },
      );
      const end = (): void => {
        child.kill('SIGTERM');
        killing = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
      };
      ends?.addEventListener('abort', end);
      child.stdin?.on('error', () => {}).end(input);
    });
  }
}

const tooLarge = new StenoError('failed', `the result is larger than ${bytesText(MAX_OUTPUT)}`, {
  hint: 'ask for less, with limit, since or another filter',
});
