/** Where it is measured: the package as a user gets it, fresh folders, a bare environment, servers of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, openSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { buildCopy } from '../support/built-copy.ts';

export type Env = Readonly<Record<string, string>>;

/** A server in a process of its own, and where it listens. */
export interface Running {
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

const KEY = 'bench-key';
const READY_MS = 20_000;
/** Of this run: `programs` has what was bundled, `package` what is measured. */
const here = process.env.STENO_SCRIPT_FOLDER ?? '';

export class Place {
  readonly #children = new Set<ChildProcess>();
  readonly #receivers: Running[] = [];
  #service = '';

  build(): void {
    buildCopy(here);
  }

  get bin(): string {
    return join(here, 'package', 'bin', 'steno.js');
  }

  /** The service's address; with a size, every transcript below it has that many bytes, and may take its time. */
  baseUrl(size?: number, waitsMs?: number): string {
    if (size === undefined) return `${this.#service}API4`;
    return `${this.#service}${size}${waitsMs === undefined ? '' : `-${waitsMs}`}/API4`;
  }

  /** A folder that nobody has used. */
  fresh(name: string): string {
    return mkdtempSync(join(here, `${name}-`));
  }

  /** A folder that takes no disk, where there is one; it goes with all the others. */
  inMemory(): string | undefined {
    if (!existsSync('/dev/shm')) return undefined;
    const folder = join('/dev/shm', basename(here));
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Nothing of this machine but where programs are: NODE_EXTRA_CA_CERTS alone would triple Node's start. */
  env(home: string, baseUrl = this.baseUrl()): Env {
    mkdirSync(home, { recursive: true });
    return {
      PATH: process.env.PATH ?? '',
      // The home that the system knows: compiled code is kept below no other.
      HOME: homedir(),
      BENCH_FOLDER: home,
      CURL_HOME: home,
      STENO_CONFIG_DIR: join(home, 'config'),
      STENO_STATE_DIR: join(home, 'state'),
      STENO_API_KEY: KEY,
      STENO_BASE_URL: baseUrl,
    };
  }

  async startService(): Promise<void> {
    this.#service = (await this.startOwn('service')).url;
  }

  /** Starts one of the benchmark's own servers. */
  startOwn(name: 'service' | 'bare'): Promise<Running> {
    return this.start([this.script(name)], this.env(this.fresh(name)));
  }

  script(name: 'service' | 'bare' | 'load' | 'steady'): string {
    return join(here, 'programs', `${name}.mjs`);
  }

  /** Starts a server with node and waits for the line that says where it listens. */
  start(args: readonly string[], env: Env): Promise<Running> {
    const output = openSync(join(env.BENCH_FOLDER ?? here, 'stdout'), 'w');
    const child = spawn(process.execPath, args, {
      env,
      cwd: env.BENCH_FOLDER,
      stdio: ['ignore', output, 'pipe'],
    });
    this.#children.add(child);
    const ended = new Promise<void>((done) => child.on('exit', () => done()));
    const stop = async (): Promise<void> => {
      child.kill('SIGKILL');
      await ended;
      this.#children.delete(child);
    };
    return new Promise((done, failed) => {
      let said = '';
      const late = setTimeout(() => failed(new Error(`${args} is not ready: ${said}`)), READY_MS);
      child.stderr?.setEncoding('utf8').on('data', (text: string) => {
        if (said.length < 10_000) said += text;
        const url = /(?:listening|serving) on (http\S+)/.exec(said)?.[1];
        if (!url || child.pid === undefined) return;
        clearTimeout(late);
        done({ url, pid: child.pid, stop });
      });
      child.on('exit', (code) => failed(new Error(`${args} ended with ${code}: ${said}`)));
    });
  }

  /** Remembers a receiver, to be stopped when its group of rows is done. */
  whileMeasured(receiver: Running): Running {
    this.#receivers.push(receiver);
    return receiver;
  }

  async stopReceivers(): Promise<void> {
    for (const receiver of this.#receivers.splice(0)) await receiver.stop();
  }

  leave(): void {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

/** Where a program is, or nothing if it is not installed. */
export function installed(program: string): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}
