/** Runs the program within the process of a test, from its sources. */
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { PassThrough, Writable } from 'node:stream';
import { expect } from 'vitest';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
// The build puts these in.
Object.assign(globalThis, { STENO_VERSION: version, STENO_BUILD: 'test' });

export interface InProcessOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin?: string | Uint8Array;
  /** The width of a terminal; without it stdout is none. */
  readonly columns?: number | undefined;
}

export interface InProcessResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly bytes: Buffer;
}

class Sink extends Writable {
  readonly chunks: Buffer[] = [];

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks);
  }
}

export async function runInProcess(
  args: readonly string[],
  { env, stdin = '', columns }: InProcessOptions,
): Promise<InProcessResult> {
  const { Main } = await import('../../src/cli/main.ts');
  const [stdout, stderr] = [new Sink(), new Sink()];
  if (columns !== undefined) Object.assign(stdout, { isTTY: true, columns, rows: 40 });
  const input = new PassThrough();
  input.end(stdin);
  const { signal } = new AbortController();
  // Every call under way listens to it.
  setMaxListeners(0, signal);
  const main = new Main(args, {
    env: { ...env },
    stdout: stdout as unknown as NodeJS.WriteStream,
    stderr: stderr as unknown as NodeJS.WriteStream,
    stdin: input as unknown as NodeJS.ReadStream,
    signal,
    hardSignal: signal,
  });
  const code = await main.run();
  const { bytes } = stdout;
  return { code, bytes, stdout: bytes.toString(), stderr: stderr.bytes.toString() };
}

/**
 * Files whose commands must be processes of their own: they are about what only a process has (signals, memory, compiled
 * code, another user, a disk that fails, several at once), or about the build.
 */
const OWN_PROCESS = new RegExp(
  `/test/(${[
    ...['crash/', 'nodes/', 'pictures/', 'project/', 'start/'],
    ...[
      'api/http/fault-matrix',
      'cli/help',
      'commands/doctor',
      'flows/files/outage',
      'flows/orders/(attempts|signatures|unclear-rows)',
    ],
    ...['ledger/(gone|local-outcomes|places)', 'ledger/stores/(doctor|races)'],
  ].join('|')})`,
);

let isRunning = false;

/** One at a time, because a process has one current folder and one environment. Words are completed by another program. */
export function canRunHere([word = '']: readonly string[], env: InProcessOptions['env']): boolean {
  if (isRunning || word.startsWith('__') || env.NODE_OPTIONS || env.NODE_EXTRA_CA_CERTS) return false;
  // The long tests are about what becomes of processes.
  if (process.env.STENO_MATRIX === 'all') return false;
  return !OWN_PROCESS.test(expect.getState().testPath ?? '/test/project/');
}

/** The program in this process, with the folder and the environment that it would have in its own. */
export async function runHere(
  args: readonly string[],
  { cwd, env, ...more }: InProcessOptions & { readonly cwd: string },
): Promise<InProcessResult> {
  isRunning = true;
  const before = { cwd: process.cwd(), env: { ...process.env } };
  try {
    process.chdir(cwd);
    setEnvironment(env);
    return await runInProcess(args, { ...more, env });
  } finally {
    process.chdir(before.cwd);
    setEnvironment(before.env);
    isRunning = false;
  }
}

function setEnvironment(env: InProcessOptions['env']): void {
  const isOfTests = (name: string): boolean => /^(VITEST|TEST$|NODE_ENV$|TMPDIR$)/.test(name);
  for (const name of Object.keys(process.env)) if (!isOfTests(name)) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}
