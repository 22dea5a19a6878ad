/** The process around the program: its streams, its signals, its end. */
import { getEventListeners, setMaxListeners } from 'node:events';
import { exitCodes } from '../lib/errors.ts';
import { monotonicMs } from '../lib/time.ts';
import { isDiskBusy } from '../lib/whole-file.ts';
import { Main } from './main.ts';

const interrupt = new AbortController();
/** A second interruption, for calls for money: the first one lets their answer come. */
const hardInterrupt = new AbortController();
// Every call under way listens to it.
setMaxListeners(0, interrupt.signal);
const signals = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
type Signal = keyof typeof signals;

/** One press of Ctrl-C may arrive twice, from the terminal and from a parent process; two presses take longer. */
const SAME_SIGNAL_MS = 100;
/** How long the end of a call for money may take to be written down. */
const HARD_EXIT_MS = 2_000;
/** How long a reader that may have stalled has for the last lines of a `listen` that was interrupted or failed. */
const LAST_LINES_MS = 1_000;
/** How long a disk may take that is still at work when the command has ended. */
const SLOW_DISK_MS = 5_000;
let interruptedAt = 0;

for (const signal of Object.keys(signals) as Signal[]) process.on(signal, () => onSignal(signal));

function onSignal(signal: Signal): void {
  if (interrupt.signal.aborted && monotonicMs() - interruptedAt <= SAME_SIGNAL_MS) return;
  interruptedAt = monotonicMs();
  // Ctrl-C is a key of the pager too, which stays until it is quit.
  if (signal === 'SIGINT' && interrupt.signal.aborted && main.out.stdout.pager?.isOpen) return;
  if (!interrupt.signal.aborted) {
    interrupt.abort(signal);
    if (exitCode !== undefined && main.out.stderr.ignoresStalls) exitSoon(signals[signal]);
    return;
  }
  const moneyInFlight = getEventListeners(hardInterrupt.signal, 'abort').length > 0;
  if (hardInterrupt.signal.aborted || !moneyInFlight) exitNow(signals[signal]);
  setTimeout(() => process.exit(exitCodes.uncertain.code), HARD_EXIT_MS).unref();
  hardInterrupt.abort(signal);
}

/** What is written but not read would keep the process alive, and so does a disk that hangs: a slow one is waited for. */
function exitSoon(code: number): void {
  const isInterrupted = interrupt.signal.aborted;
  const deadline = monotonicMs() + LAST_LINES_MS + (isInterrupted ? 0 : SLOW_DISK_MS);
  const exit = (): void => {
    if (isDiskBusy() && monotonicMs() < deadline) setTimeout(exit, 50).unref();
    else exitNow(code);
  };
  setTimeout(exit, LAST_LINES_MS).unref();
}

/** Node joins its threads before it exits, and a disk that hangs holds its thread for ever: a signal ends that too. */
function exitNow(code: number): void {
  if (!isDiskBusy()) process.exit(code);
  const signal = (interrupt.signal.reason as Signal | undefined) ?? 'SIGTERM';
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Why stdout could not be written. */
let stdoutError: Error | undefined;
/** The exit code, once the command has ended. */
let exitCode: number | undefined;
/** How long a command may run on after stdout failed, to come to its own exit code; one that prints for ever is ended. */
const AFTER_STDOUT_ERROR_MS = 2_000;

// EPIPE (head, less) is not an error; a full disk is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE' || stdoutError) return;
  stdoutError = error;
  if (exitCode !== undefined) return void reportStdoutError(error);
  setTimeout(() => {
    // What was done is told first, with all else that the command has to say.
    if (exitCode === undefined && !main.out.hasDone) void reportStdoutError(error);
  }, AFTER_STDOUT_ERROR_MS).unref();
});
// Messages that can't be written change no exit code: it may be all that a script gets to know.
process.stderr.on('error', () => {});

/** A command that failed by itself keeps its code. */
async function reportStdoutError(error: Error): Promise<void> {
  await main.failToWrite(error);
  process.exit(exitCode || exitCodes.failed.code);
}

let stdin: NodeJS.ReadStream | undefined;
const main = new Main(process.argv.slice(2), {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: interrupt.signal,
  hardSignal: hardInterrupt.signal,
  // Opening stdin takes node some time: most commands do without it.
  get stdin() {
    stdin ??= process.stdin;
    return stdin;
  },
});

/** How long clean-ups may take after a crash. */
const CRASH_LIMIT_MS = 5_000;
let crashed = false;

/** The last net: an error that nothing caught is one line too, and what must be undone is undone. */
function onCrash(error: unknown): void {
  if (crashed) return;
  crashed = true;
  const exit = (): never => process.exit(1);
  setTimeout(exit, CRASH_LIMIT_MS);
  // An empty write ends after those before it: where stderr is a pipe on Windows, exit would lose them.
  const flushAndExit = (): void => void process.stderr.write('', exit);
  main.crash(error).then(flushAndExit, flushAndExit);
}
process.on('uncaughtException', onCrash);
process.on('unhandledRejection', onCrash);

// Without a timer of its own node would exit with 0 while the program waits for something that keeps no handle open.
const keepAlive = setInterval(() => {}, 2 ** 30);

void main.run().then((code) => {
  clearInterval(keepAlive);
  exitCode = code === 130 ? (signals[interrupt.signal.reason as Signal] ?? 130) : code;
  if (crashed) return;
  if (stdoutError) return void reportStdoutError(stdoutError);
  process.exitCode = exitCode;
  const asPlanned = code === 0 || code === exitCodes.timeout.code;
  if (isDiskBusy() || (main.out.stderr.ignoresStalls && (interrupt.signal.aborted || !asPlanned)))
    exitSoon(exitCode);
  stdin?.unref?.();
});
