/** Runs `listen` as a process, sends it deliveries, and gives it a target to forward to. */
import { type ChildProcessWithoutNullStreams, spawnSync } from 'node:child_process';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { finished, type Options, type Result, type User } from './steno.ts';
import { isShared, querySchema } from './store.ts';
import { onFileEnd, onTestEnd } from './test-end.ts';
import { until } from './until.ts';

export const FORM = 'application/x-www-form-urlencoded';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface Sending {
  readonly method?: string;
  /** Empty: none is sent. */
  readonly type?: string;
  readonly headers?: Record<string, string>;
}

export function send(url: string, body: string | Buffer, sending: Sending = {}): Promise<Answer> {
  const { method = 'POST', type = FORM, headers = {} } = sending;
  return new Promise((done, failed) => {
    const all = { ...(type && { 'content-type': type }), ...headers };
    const call = request(url, { method, agent: false, headers: all }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', failed).on('end', () => {
        const { statusCode = 0, headers: got } = response;
        done({ status: statusCode, headers: got, text: Buffer.concat(chunks).toString() });
      });
    });
    call.on('error', failed).end(body);
  });
}

export const form = (fields: Record<string, string>): string =>
  new URLSearchParams({ webhook_version: '1', ...fields }).toString();

export const complete = (id: string, order = 'o1'): string =>
  form({ event: 'TRANSCRIPT_COMPLETE', audiofile: id, order, originallink: `https://example.com/${id}.mp3` });

/** Whether a process has ended; a zombie counts as ended. */
export const isGone = (pid: number): boolean =>
  /^(Z.*)?$/.test(spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim());

const running = new Set<ChildProcessWithoutNullStreams>();

function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
}

// Beside a test that has ended others may run.
onTestEnd(({ task }) => {
  if (!task.concurrent) endAll();
});
onFileEnd(endAll);

export class Listener {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Result>;
  url = '';
  stdout = '';
  stderr = '';

  readonly #user: User;

  private constructor(user: User, args: readonly string[], options: Options) {
    this.#user = user;
    this.child = user.start([...args, ...(args.includes('--port') ? [] : ['--port', '0'])], options);
    running.add(this.child);
    this.child.stdout.on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.child.stderr.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.ended = finished(this.child);
    void this.ended.then(() => running.delete(this.child));
  }

  /** Starts one and waits for the line that says that it is ready. */
  static async start(user: User, args: readonly string[] = [], options: Options = {}): Promise<Listener> {
    const listener = new Listener(user, ['listen', ...args], options);
    await listener.until(() => /^listening on /m.test(listener.stderr));
    listener.url = /^listening on (\S+)$/m.exec(listener.stderr)?.[1] ?? '';
    return listener;
  }

  /** The same for all tests of a file, which ends it itself. */
  static async startForAll(user: User, args: readonly string[] = []): Promise<Listener> {
    const listener = await Listener.start(user, args);
    running.delete(listener.child);
    return listener;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get lines(): string[] {
    return this.stdout.split('\n').filter(Boolean);
  }

  get json(): Array<Record<string, unknown>> {
    return this.lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Waits for something to become true; fails at once if the listener ends instead. */
  async until(isSo: () => boolean | Promise<boolean>, limitMs?: number): Promise<void> {
    const state = (): string => `(exit ${this.child.exitCode}) ${this.stderr} | ${this.stdout}`;
    await until(
      async () => {
        if (await isSo()) return true;
        if (this.child.exitCode !== null) throw new Error(`the listener has ended: ${state()}`);
        return false;
      },
      state,
      limitMs,
    );
  }

  post(body: string | Buffer, sending: Sending = {}): Promise<Answer> {
    return send(this.url, body, sending);
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Result> {
    this.child.kill(signal);
    const result = await this.ended;
    if (signal === 'SIGKILL') endLease(this.#user, this.child.pid ?? 0);
    return result;
  }
}

/** On a shared ledger a process that is gone keeps what it has until its lease is over: tests do not wait for that. */
function endLease({ env }: User, pid: number): void {
  if (!isShared || !env.STENO_LEDGER) return;
  const sql = "UPDATE runs SET seen_at = '2020-01-01T00:00:00.000Z' WHERE pid = ? AND ended_at IS NULL";
  querySchema(env.STENO_LEDGER, sql, [pid]);
}

export interface Delivered {
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** A server that events are forwarded to. */
export class Target {
  readonly got: Delivered[] = [];
  /** The status of its answer to each call, counted from 1. */
  status: (call: number) => number = () => 200;
  /** No call is answered before this resolves. */
  opens: Promise<void> = Promise.resolve();
  readonly #server = createServer((call, response) => {
    const chunks: Buffer[] = [];
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('end', () => {
      this.got.push({ body: Buffer.concat(chunks), headers: call.headers });
      const status = this.status(this.got.length);
      void this.opens.then(() => response.writeHead(status).end());
    });
  });

  static async start(port = 0): Promise<Target> {
    const target = new Target();
    await new Promise<void>((done) => target.#server.listen(port, '127.0.0.1', done));
    targets.push(target);
    return target;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((done) => void this.#server.close(() => done()));
  }
}

const targets: Target[] = [];

const closeAll = async (): Promise<void> => {
  for (const target of targets.splice(0)) await target.close();
};

onTestEnd(async ({ task }) => {
  if (!task.concurrent) await closeAll();
});
onFileEnd(closeAll);

export interface EventJson {
  /** Null while it is not in the ledger. */
  readonly n: number | null;
  readonly event: string;
  readonly audiofile: string | null;
  readonly order: string | null;
  readonly source: string;
  readonly fields: Record<string, string | string[]>;
}

/** What `steno events` lists, newest first. */
export async function eventsOf(user: User, ...args: string[]): Promise<EventJson[]> {
  const { stdout, code, stderr } = await user.run(['events', '--json', ...args]);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as EventJson[];
}
