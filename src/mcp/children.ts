/** Runs steno itself, a few processes at a time: one that crashes, hangs or prints too much harms no other. */
import { execFile } from 'node:child_process';
import type { Effect } from '../lib/effects.ts';
import { exitCodes, type Kind, StenoError } from '../lib/errors.ts';
import { bytesText } from '../lib/text.ts';
import type { Context } from '../spec/context.ts';

const MAX_CHILDREN = 4;
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

/** What a command that failed said, as JSON or as `steno: what happened` and `hint: what to do`. */
export function failureOf({ code, stderr }: Pick<Ran, 'code' | 'stderr'>): StenoError {
  const json = /^\{"error":.*/m.exec(stderr)?.[0];
  if (json) {
    const { code: kind, message, hint } = JSON.parse(json).error;
    return new StenoError(kind, message, { hint });
  }
  const [kind = 'failed'] = Object.entries(exitCodes).find(([, each]) => each.code === code) ?? [];
  const message = /^steno: (.*)/m.exec(stderr)?.[1] ?? `steno ended with ${code ?? 'a signal'}`;
  return new StenoError(kind as Kind, message, { hint: /^hint: (.*)/m.exec(stderr)?.[1] });
}

export class Children {
  readonly #context: Context;
  readonly #maxOutput: number;
  readonly #end = new AbortController();
  readonly #running = new Set<Promise<Ran>>();
  readonly #waiting: Array<() => void> = [];

  /** They run for the same account and ledger. */
  constructor(context: Context, maxOutput: number) {
    this.#context = context;
    this.#maxOutput = maxOutput;
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
    const line = [...words, '--no-progress', ...flagsOf(this.#context), '--', ...args];
    const { env: own, globals } = this.#context;
    // A key is never put into a command line.
    const key = globals.apiKey === undefined ? {} : { STENO_API_KEY: globals.apiKey };
    const env = { ...own, ...key, STENO_ALLOW: `read,${effect}` };
    const options = { env, windowsHide: true, maxBuffer: ends ? this.#maxOutput : Number.POSITIVE_INFINITY };
    const tooLarge = new StenoError('failed', `the result is larger than ${bytesText(this.#maxOutput)}`, {
      hint: 'ask for less, with limit, since or another filter',
    });
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

function flagsOf({ globals }: Context): string[] {
  const { profile, baseUrl, sandbox, timeout, ledger } = globals;
  const flags = [
    profile !== undefined && `--profile=${profile}`,
    baseUrl !== undefined && `--base-url=${baseUrl}`,
    timeout !== undefined && `--timeout=${timeout}ms`,
    sandbox && '--sandbox',
    !ledger && '--no-ledger',
  ];
  return flags.filter((flag) => flag !== false);
}
