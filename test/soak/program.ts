/** Runs the built program, and ends what is left of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type Env = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Of the copy that was built beside this script. */
const BIN = join(dirname(fileURLToPath(import.meta.url)), 'package', 'bin', 'steno.js');
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(130));

export function envIn(folder: string, more: Env = {}): Env {
  mkdirSync(folder, { recursive: true });
  return {
    PATH: process.env.PATH ?? '',
    HOME: folder,
    STENO_CONFIG_DIR: join(folder, 'config'),
    STENO_STATE_DIR: join(folder, 'state'),
    ...more,
  };
}

/** One that runs for long. What it prints goes to files: memory is measured, and a pipe that is read would add to it. */
export class Running {
  readonly name: string;
  readonly pid: number;
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #folder: string;

  constructor(name: string, args: readonly string[], env: Env) {
    this.name = name;
    this.#folder = env.HOME ?? '';
    this.#child = spawn(process.execPath, [BIN, ...args], {
      env,
      cwd: this.#folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = this.#child;
    stdout?.pipe(createWriteStream(join(this.#folder, `${name}.out`)));
    stderr?.pipe(createWriteStream(join(this.#folder, `${name}.err`)));
    this.pid = this.#child.pid ?? 0;
    children.add(this.#child);
    this.ended = new Promise((done) => {
      this.#child.on('close', (code) => {
        children.delete(this.#child);
        done(code);
      });
    });
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  printed(to: 'out' | 'err'): string {
    try {
      return readFileSync(join(this.#folder, `${this.name}.${to}`), 'utf8');
    } catch {
      return '';
    }
  }

  /** Waits for a line that it prints, and gives what the expression finds in it. */
  async says(to: 'out' | 'err', what: RegExp): Promise<string> {
    for (let waits = 0; waits < 600; waits += 1) {
      const found = what.exec(this.printed(to))?.[1];
      if (found !== undefined) return found;
      if (!this.isRunning) break;
      await new Promise((done) => setTimeout(done, 100));
    }
    throw new Error(`${this.name} does not say ${what}: ${this.printed('err')}`);
  }

  interrupt(): Promise<number | null> {
    this.#child.kill('SIGINT');
    return this.ended;
  }
}

export function run(args: readonly string[], env: Env): Promise<Ended> {
  const child = spawn(process.execPath, [BIN, ...args], {
    env,
    cwd: env.HOME,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.add(child);
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (text: Buffer) => {
    stdout += text;
  });
  child.stderr.on('data', (text: Buffer) => {
    stderr += text;
  });
  return new Promise((done) => {
    child.on('close', (code) => {
      children.delete(child);
      done({ code, stdout, stderr });
    });
  });
}

/** The same, where it must work. */
export async function runWell(args: readonly string[], env: Env): Promise<string> {
  const { code, stdout, stderr } = await run(args, env);
  if (code !== 0) throw new Error(`${args.join(' ')}: exit ${code}\n${stderr}`);
  return stdout;
}
