/** Starts and ends the processes that run tests. What a mutant leaves running ends with them. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Answer, Request } from './host.ts';

export class Host {
  readonly #program: string;
  readonly #root: string;
  #child: ChildProcess | undefined;

  constructor(program: string, root: string) {
    this.#program = program;
    this.#root = root;
  }

  /** Gives nothing where the time is over. */
  async run(request: Request, limitMs: number): Promise<Answer | undefined> {
    const child = this.#child ?? (await this.#start());
    child.send(request);
    const answer = await new Promise<Answer | undefined>((done) => {
      const timer = setTimeout(() => done(undefined), limitMs);
      child.once('message', (message) => {
        clearTimeout(timer);
        done(message as Answer);
      });
      child.once('exit', () => {
        clearTimeout(timer);
        done({ ran: [], failure: { test: '*', message: 'the tests ended their own process' } });
      });
    });
    child.removeAllListeners();
    if (!answer || child.exitCode !== null) this.stop();
    return answer;
  }

  async #start(): Promise<ChildProcess> {
    // A group of its own, which can be ended as a whole.
    const child = fork(this.#program, [this.#root], {
      detached: true,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    this.#child = child;
    await once(child, 'message');
    return child;
  }

  stop(): void {
    const { pid } = this.#child ?? {};
    this.#child = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It is gone.
    }
  }
}
