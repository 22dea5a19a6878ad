/** The process around the program: its streams, its signals, its end. */
import { main } from './main.ts';

// Whoever lists processes sees neither a key given as a flag nor anything else of the command line.
process.title = 'steno';

const interrupt = new AbortController();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (interrupt.signal.aborted) process.exit(exitCodeOf(signal));
    interrupt.abort(signal);
  });
}

// A reader that has seen enough (head) is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

const { env, stdin, stdout, stderr } = process;
const code = await main(process.argv.slice(2), { env, stdin, stdout, stderr, signal: interrupt.signal });
process.exitCode = code === 130 ? exitCodeOf(interrupt.signal.reason) : code;
stdin.unref?.();

function exitCodeOf(signal: unknown): number {
  return signal === 'SIGTERM' ? 143 : 130;
}
