/** The process around the program: its streams, its signals, its end. */
import { setMaxListeners } from 'node:events';
import { main } from './main.ts';

const interrupt = new AbortController();
// Every call under way listens to it.
setMaxListeners(0, interrupt.signal);
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Signal = keyof typeof signals;

/** One press of Ctrl-C may arrive twice, from the terminal and from a parent: only a later one is impatience. */
const IMPATIENT = 500;
let interruptedAt = 0;

for (const signal of Object.keys(signals) as Signal[]) {
  process.on(signal, () => {
    if (interrupt.signal.aborted && Date.now() - interruptedAt > IMPATIENT) process.exit(signals[signal]);
    interruptedAt ||= Date.now();
    interrupt.abort(signal);
  });
}

// A reader that has seen enough (head) is no error; a full disk is.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    if (stream === process.stdout) process.stderr.write(`steno: can't write the output: ${error.message}\n`);
    process.exit(1);
  });
}

let stdin: NodeJS.ReadStream | undefined;
const edges = {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupt.signal,
  get stdin() {
    stdin ??= process.stdin;
    return stdin;
  },
};

// Node ends a program, as if all were well, when nothing but timers of its own kind is left to wait for: not this one.
const awake = setInterval(() => {}, 2 ** 30);

main(process.argv.slice(2), edges).then((code) => {
  clearInterval(awake);
  process.exitCode = code === 130 ? (signals[interrupt.signal.reason as Signal] ?? 130) : code;
  stdin?.unref?.();
});
