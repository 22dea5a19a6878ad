/** Runs the program within the process of a test, from its sources: for thousands of runs with random input. */
import { setMaxListeners } from 'node:events';
import { PassThrough, Writable } from 'node:stream';
import { Main } from '../../src/cli/main.ts';

// The build puts these in.
Object.assign(globalThis, { STENO_VERSION: '0.0.0', STENO_BUILD: 'test' });

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
