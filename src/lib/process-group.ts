/**
 * A command line of the user's and every process that it starts and that stays in its process group. They end together:
 * when the command itself has ended, when we say so, and when this process is gone, however it ended.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, type Writable } from 'node:stream';
import type { Env } from './env.ts';
import { errorCode } from './errors.ts';

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
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
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
      child.once('error', reject).once('exit', (code, killedBy) => {
        // The leader is killed together with its command, or waits for us after it: one that just ends could not fork.
        if (onWindows || killedBy) resolve({ code, killedBy });
        else reject(Object.assign(new Error('no more processes can be started'), { code: 'EAGAIN' }));
      });
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
