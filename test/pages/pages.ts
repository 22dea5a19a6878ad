/** Runs `steno ui` as a process and asks it as a page does. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { type IncomingHttpHeaders, request } from 'node:http';
import { finished, type Options, type Result, type User } from '../support/steno.ts';
import { onFileEnd, onTestEnd } from '../support/test-end.ts';
import { until } from '../support/until.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Asking {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

export interface Message {
  readonly type: string;
  readonly topics?: readonly string[];
  readonly message?: string;
}

/** What a live page has heard. */
export interface LivePage {
  readonly messages: Message[];
  close(): void;
}

const running = new Set<ChildProcessWithoutNullStreams>();

function endAll(): void {
  for (const child of running) child.kill('SIGKILL');
  running.clear();
}

onTestEnd(({ task }) => {
  if (!task.concurrent) endAll();
});
onFileEnd(endAll);

export class Pages {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Result>;
  /** What its address has left. */
  cookie = '';
  stdout = '';
  stderr = '';

  private constructor(user: User, args: readonly string[], options: Options) {
    this.child = user.start(args, options);
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

  /** Starts one, and waits for its address. */
  static async start(
    user: User,
    args: readonly string[] = ['ui', '--no-open'],
    options: Options = {},
  ): Promise<Pages> {
    const pages = new Pages(user, args, options);
    await pages.until(() => /^serving on /m.test(pages.stderr) && /[/]open[/][\w-]{43}/.test(pages.stdout));
    await pages.enter(pages.url);
    return pages;
  }

  /** The same for all tests of a file, which ends it itself. */
  static async startForAll(user: User, args?: readonly string[]): Promise<Pages> {
    const pages = await Pages.start(user, args);
    running.delete(pages.child);
    return pages;
  }

  /** Starts one that prints no address. */
  static async startSilently(user: User, args: readonly string[], options: Options = {}): Promise<Pages> {
    const pages = new Pages(user, args, options);
    await pages.until(() => /^serving on /m.test(pages.stderr));
    return pages;
  }

  get port(): number {
    return Number(/^serving on http:\/\/127\.0\.0\.1:(\d+)\/$/m.exec(this.stderr)?.[1]);
  }

  get url(): URL {
    const [, json] = /^\{.*"url": *"([^"]+)"/s.exec(this.stdout) ?? [];
    return new URL(json ?? this.stdout.trim());
  }

  /** Opens an address as a browser does, keeps its cookie, and gives where it leads. */
  async enter({ pathname }: URL): Promise<string> {
    const { headers } = await this.ask(pathname);
    this.cookie = headers['set-cookie']?.[0]?.split(';')[0] ?? '';
    return headers.location ?? '';
  }

  async until(isSo: () => boolean | Promise<boolean>, limitMs?: number): Promise<void> {
    const state = (): string => `(exit ${this.child.exitCode}) ${this.stderr} | ${this.stdout}`;
    await until(
      async () => {
        if (await isSo()) return true;
        if (this.child.exitCode !== null) throw new Error(`the pages have ended: ${state()}`);
        return false;
      },
      state,
      limitMs,
    );
  }

  ask(path: string, { method = 'GET', headers = {}, body }: Asking = {}): Promise<Answer> {
    return new Promise((done, failed) => {
      const options = { host: '127.0.0.1', port: this.port, path, method, agent: false, headers };
      const call = request(options, (response) => {
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

  /** As the page itself asks. */
  call(path: string, { headers, ...asking }: Asking = {}): Promise<Answer> {
    const own = {
      ...{ cookie: this.cookie, 'sec-fetch-site': 'same-origin' },
      ...(asking.body === undefined ? {} : { 'content-type': 'application/json' }),
    };
    return this.ask(`/api/${path}`, { ...asking, headers: { ...own, ...headers } });
  }

  async json<T = Record<string, unknown>>(path: string): Promise<T> {
    const { status, text } = await this.call(path);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as T;
  }

  post(path: string, body: object): Promise<Answer> {
    return this.call(path, { method: 'POST', body: JSON.stringify(body) });
  }

  /** Asks by the second what has changed, as a page does, and waits for the first answer. */
  async live(): Promise<LivePage> {
    const messages: Message[] = [];
    let seen: Readonly<Record<string, string>> | undefined;
    let isClosed = false;
    const look = async (): Promise<void> => {
      const marks = await this.json<Record<string, string>>('live');
      const { trouble } = marks;
      if (trouble !== undefined) {
        if (seen?.trouble !== trouble) messages.push({ type: 'trouble', message: trouble });
      } else if (seen?.trouble !== undefined) messages.push({ type: 'well' });
      else if (seen) {
        const topics = Object.keys(marks).filter((name) => marks[name] !== seen?.[name]);
        if (topics.length) messages.push({ type: 'changed', topics });
      } else messages.push({ type: 'hello' });
      seen = marks;
    };
    const follow = async (): Promise<void> => {
      while (!isClosed && this.child.exitCode === null) {
        await look().catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    };
    void follow();
    await until(() => seen !== undefined, 'what has changed');
    return {
      messages,
      close: () => {
        isClosed = true;
      },
    };
  }

  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<Result> {
    this.child.kill(signal);
    return this.ended;
  }
}

export const errorOf = ({ text }: Answer): { code: string; message: string; hint?: string } =>
  (JSON.parse(text) as { error: { code: string; message: string; hint?: string } }).error;
