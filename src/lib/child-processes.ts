/**
 * A command line of the user's and every process that it starts and that stays in its process group. They end together:
 * when the command itself has ended, when we say so, and when this process is gone, however it ended.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Env } from './env.ts';
import { errorCode } from './errors.ts';
import { statOf } from './processes.ts';

const onWindows = process.platform === 'win32';
/** After the end of the command: for this long its last output may still come. */
const DRAIN_MS = 500;

/**
 * Runs the command as a child and leads its process group; the socket 3 leads to us. A watcher waits for a line from it,
 * or for its end, and then ends the group by `kill 0`: no number of a process is remembered that another one may have
 * by then. After the command, what it left running is asked to end, its exit code is sent, and a line is waited for; where
 * the socket closes instead, something held on to the output, and is killed.
 */
const LEADER = `exec 5>&2 2>/dev/null
( trap : TERM HUP INT; read -r line <&3; kill -TERM 0; sleep 2; kill -KILL 0 ) </dev/null >/dev/null 5>&- &
watcher=$!
trap : TERM HUP INT
( exec 2>&5 3>&- 5>&-; exec /bin/sh -c "$@" )
code=$?
exec </dev/null >/dev/null 5>&-
kill -KILL $watcher
wait $watcher
trap '' TERM
kill -TERM 0
echo $code >&3
read -r line <&3 || { sleep 2; kill -KILL 0; }`;

export interface GroupEnd {
  /** Null where the group was killed. */
  readonly code: number | null;
  readonly killedBy: string | null;
}

interface GroupOptions {
  readonly command: string;
  /** What the command sees as $1, $2 and so on, never as a part of its own text; Windows has nothing like it. */
  readonly args?: readonly string[];
  readonly env: Env;
  /** Whether it gets input; otherwise it has none. */
  readonly hasInput: boolean;
}

export class ProcessGroup {
  readonly stdin: Writable | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the command has ended, whatever it left running; rejects if it can't be started. */
  readonly ended: Promise<GroupEnd>;
  /** Absent where the system refused at once. */
  readonly #child: ChildProcess | undefined;
  #openOutputs: number;
  #isEnding = false;
  #onClosed: () => void = () => {};

  constructor(options: GroupOptions) {
    let refusal: unknown;
    try {
      this.#child = start(options);
    } catch (error) {
      refusal = error;
    }
    // Node makes no streams where descriptors are used up.
    this.stdout = this.#child?.stdout ?? Readable.from([]);
    this.stderr = this.#child?.stderr ?? Readable.from([]);
    this.stdin = this.#child?.stdin ?? null;
    // A command that does not read its input has not failed.
    this.stdin?.on('error', () => {});
    this.#openOutputs = this.outputs.length;
    for (const output of this.outputs) output.on('error', () => {}).once('close', () => this.#outputClosed());
    this.ended = this.#child ? this.#end(this.#child) : Promise.reject(refusal);
  }

  get outputs(): readonly Readable[] {
    return [this.stdout, this.stderr];
  }

  /** Ends the command and all that it started: at once if they let themselves be ended, else after two seconds. */
  end(): void {
    const { pid, exitCode = null, signalCode = null } = this.#child ?? {};
    if (this.#isEnding || pid === undefined || exitCode !== null || signalCode !== null) return;
    // Said twice, it could reach a leader that is gone: the socket would fail, and the exit code in it be lost.
    this.#isEnding = true;
    if (this.#control) this.#control.write('end\n');
    // It fails where the command has ended by itself.
    else spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' }).on('error', () => {});
  }

  /** Leads to the leader; Windows has none. */
  get #control(): (Readable & Writable) | undefined {
    return onWindows ? undefined : (this.#child?.stdio?.[3] as (Readable & Writable) | undefined);
  }

  async #end(child: ChildProcess): Promise<GroupEnd> {
    let isDrained = false;
    try {
      const end = await this.#commandEnd(child);
      isDrained = await this.#drained();
      return end;
    } finally {
      if (isDrained) this.#control?.write('bye\n');
      else this.#control?.destroy();
      for (const output of this.outputs) output.destroy();
      this.stdin?.destroy();
      // What held on to the output is being ended: nothing has to wait for it.
      child.unref();
    }
  }

  #commandEnd(child: ChildProcess): Promise<GroupEnd> {
    return new Promise((resolve, reject) => {
      const control = this.#control;
      let line = '';
      control
        ?.on('error', () => {})
        .on('data', (chunk: Buffer) => {
          line += chunk;
          if (line.includes('\n')) resolve({ code: Number.parseInt(line, 10), killedBy: null });
        });
      child.once('error', reject).once('exit', (code, killedBy) => {
        if (!control || killedBy) return resolve({ code, killedBy });
        const noFork = (): void =>
          reject(Object.assign(new Error('no more processes can be started'), { code: 'EAGAIN' }));
        // The exit code of the command may have been sent and not read yet. A leader that sent none could not fork.
        if (control.closed) return noFork();
        control.once('close', noFork).end();
      });
    });
  }

  /** Resolves when nothing more can be printed; false if something holds on to the output. */
  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      if (this.#openOutputs === 0) return resolve(true);
      const timer = setTimeout(() => resolve(false), DRAIN_MS);
      this.#onClosed = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  #outputClosed(): void {
    this.#openOutputs -= 1;
    if (this.#openOutputs === 0) this.#onClosed();
  }
}

/** Whether the system may start a command later that it could not start: it did nothing yet. One too long stays so. */
export const mayStartLater = (error: unknown): boolean =>
  error instanceof Error && /^E(?!2BIG|RR_)/.test(errorCode(error) ?? '');

function start({ command, args = [], env, hasInput }: GroupOptions): ChildProcess {
  const input = hasInput ? 'pipe' : 'ignore';
  const options = { env: { ...env }, windowsHide: true };
  return onWindows
    ? spawn(command, { ...options, shell: true, stdio: [input, 'pipe', 'pipe'] })
    : spawn('/bin/sh', ['-c', LEADER, 'steno', command, 'steno', ...args], {
        ...options,
        detached: true,
        stdio: [input, 'pipe', 'pipe', 'pipe'],
      });
}

/**
 * The ids of a process and of its descendants, for a child that can't have a process group of its own; only its own
 * where the system does not tell.
 */
export function processTree(root: number): number[] {
  const tree = [root];
  const parents = parentIds();
  // Children are added while the loop runs, and their children are looked for then.
  for (const parent of tree) for (const [pid, of] of parents) if (of === parent) tree.push(pid);
  return tree;
}

/** Sends a signal to each process that still runs; on Windows, where there are none, it ends the tree of the first. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(pids[0]), '/T', '/F'], { stdio: 'ignore', windowsHide: true });
    return;
  }
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended by itself.
    }
  }
}

/** The parent of each process. On Linux read by hand: a small container has no ps. */
function parentIds(): Map<number, number> {
  try {
    if (process.platform === 'linux')
      return new Map(readdirSync('/proc').map((name) => [Number(name), statOf(Number(name))?.parent ?? 0]));
    if (process.platform === 'win32') return new Map();
    const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).trim().split('\n');
    return new Map(rows.map((row) => row.trim().split(/\s+/).map(Number) as [number, number]));
  } catch {
    return new Map();
  }
}

/** What one run may print; the rest is read and dropped, with a pause after each piece: `yes` would fill a processor. */
const MAX_BYTES = 1024 * 1024;
const DROP_PAUSE_MS = 1;
const MAX_LINE_LENGTH = 65_536;

/**
 * Hands on what a command prints for people, in whole lines: in half a line a mask might find half a key. Returns what
 * hands on a last line that has no end.
 */
export function passLines(source: Readable, onLines: (lines: string) => void): () => void {
  const decoder = new StringDecoder('utf8');
  const unbroken = lineBreaks();
  let [waiting, left, isTooLong] = ['', MAX_BYTES, false];
  const add = (text: string): void => {
    const start = isTooLong ? text.indexOf('\n') + 1 : 0;
    if (isTooLong && start === 0) return;
    isTooLong = false;
    waiting += text.slice(start);
    const end = waiting.lastIndexOf('\n') + 1;
    if (end) onLines(waiting.slice(0, end));
    waiting = waiting.slice(end);
    if (waiting.length <= MAX_LINE_LENGTH) return;
    [waiting, isTooLong] = ['', true];
    onLines('steno: a line longer than 64 KiB is not shown\n');
  };
  source.on('data', (chunk: Buffer) => {
    if (left <= 0) {
      source.pause();
      setTimeout(() => source.resume(), DROP_PAUSE_MS);
      return;
    }
    add(unbroken(decoder.write(chunk.subarray(0, left))));
    left -= chunk.length;
    if (left > 0) return;
    waiting = '';
    onLines('steno: the command printed more than 1 MiB; the rest is not shown\n');
  });
  return () => {
    const last = left > 0 && !isTooLong ? waiting + decoder.end() : '';
    waiting = '';
    if (last) onLines(`${last}\n`);
  };
}

/** Each line ends with \n alone. A progress bar writes over its line with a \r, and Windows ends one with \r\n. */
function lineBreaks(): (text: string) => string {
  let isHeld = false;
  return (text) => {
    const whole = isHeld ? `\r${text}` : text;
    // The \n after it may come next.
    isHeld = whole.endsWith('\r');
    return (isHeld ? whole.slice(0, -1) : whole).replace(/\r\n?/g, '\n');
  };
}
