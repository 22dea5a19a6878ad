/**
 * A command line of the user's and every process that it starts and that stays in its process group. They end together:
 * when the command itself has ended, when we say so, and when this process is gone, however it ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import type { Env } from './env.ts';

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
  readonly #child: ChildProcess;
  #openOutputs: number;
  #onClosed: () => void = () => {};

  constructor(options: GroupOptions) {
    const child = start(options);
    this.#child = child;
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.stdin = this.#child.stdin;
    // A command that does not read its input has not failed.
    this.stdin?.on('error', () => {});
    this.#openOutputs = this.outputs.length;
    for (const output of this.outputs) output.on('error', () => {}).once('close', () => this.#outputClosed());
    this.ended = this.#end();
  }

  get outputs(): readonly Readable[] {
    return [this.stdout, this.stderr];
  }

  /** Ends the command and all that it started: at once if they let themselves be ended, else after two seconds. */
  end(): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    if (this.#control) this.#control.write('end\n');
    // It fails where the command has ended by itself.
    else spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' }).on('error', () => {});
  }

  /** Leads to the leader; Windows has none. */
  get #control(): (Readable & Writable) | undefined {
    return onWindows ? undefined : (this.#child.stdio[3] as (Readable & Writable) | undefined);
  }

  async #end(): Promise<GroupEnd> {
    const end = await this.#commandEnd();
    const isDrained = await this.#drained();
    if (isDrained) this.#control?.write('bye\n');
    else this.#control?.destroy();
    for (const output of this.outputs) output.destroy();
    this.stdin?.destroy();
    // What held on to the output is being ended: nothing has to wait for it.
    this.#child.unref();
    return end;
  }

  #commandEnd(): Promise<GroupEnd> {
    return new Promise((resolve, reject) => {
      // The leader ends after its command, or is killed together with it.
      this.#child.once('error', reject).once('exit', (code, killedBy) => resolve({ code, killedBy }));
      let line = '';
      this.#control
        ?.on('error', () => {})
        .on('data', (chunk: Buffer) => {
          line += chunk;
          if (line.includes('\n')) resolve({ code: Number.parseInt(line, 10), killedBy: null });
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

type Child = ChildProcess & { readonly stdout: Readable; readonly stderr: Readable };

function start({ command, args = [], env, hasInput }: GroupOptions): Child {
  const input = hasInput ? 'pipe' : 'ignore';
  const options = { env: { ...env }, windowsHide: true };
  const child = onWindows
    ? spawn(command, { ...options, shell: true, stdio: [input, 'pipe', 'pipe'] })
    : spawn('/bin/sh', ['-c', LEADER, 'steno', command, 'steno', ...args], {
        ...options,
        detached: true,
        stdio: [input, 'pipe', 'pipe', 'pipe'],
      });
  // Both are pipes, so they are there.
  return child as Child;
}
