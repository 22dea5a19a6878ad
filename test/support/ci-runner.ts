/** Runs a workflow's one job step by step as a runner of GitHub Actions would, with a cache that is a folder. */
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sharedLedgerGuide } from '../../src/cli/help-guides.ts';
import { freshFolder } from './files.ts';
import { blockOf } from './readme.ts';
import { finished, type Result } from './steno.ts';

export interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly with: Readonly<Record<string, string>>;
}

export interface Job {
  readonly env: Readonly<Record<string, string>>;
  readonly steps: readonly Step[];
}

/** Reads the part of YAML that such a job is written in; a line that it does not know is an error. */
export function parseJob(yaml: string): Job {
  const [, head = '', body = ''] = /^([\s\S]*?)^ {4}steps:\n([\s\S]*)$/m.exec(yaml) ?? [];
  const [, envLines = ''] = /^ {4}env:\n((?: {6}.*\n)*)/m.exec(head) ?? [];
  const steps = body
    .split(/^ {6}- /m)
    .slice(1)
    .map(parseStep);
  return { env: pairs(envLines, 6), steps };
}

/** The lines that a shared ledger adds to the environment of the job. */
const sharedEnv = (): string => {
  const isEnv = (block: unknown): block is string =>
    typeof block === 'string' && /^STENO_LEDGER: /.test(block);
  const lines = sharedLedgerGuide().flatMap(({ body }) => body.filter(isEnv));
  return lines.join('\n').replace(/^/gm, '      ');
};

/** The job of the README; for a shared ledger without its cache steps, and with the lines that the help adds. */
export function readmeJob({ shared = false } = {}): Job {
  const { env, steps } = parseJob(blockOf('job'));
  if (!shared) return { env, steps };
  const added = parseJob(`    env:\n${sharedEnv()}\n    steps:\n`);
  return {
    env: { ...env, ...added.env },
    steps: steps.filter(({ uses }) => !uses?.includes('actions/cache')),
  };
}

function parseStep(text: string): Step {
  const [own = '', inputs = ''] = unfolded(text).split(/^ {8}with:\n/m);
  return { ...pairs(`        ${own}`, 8), with: pairs(inputs, 10) };
}

/** `with: { a: b, c: d }` on lines of its own. */
const unfolded = (text: string): string =>
  text.replace(
    /^ {8}with: \{ (.*) \}$/m,
    (_, inputs: string) => `        with:\n          ${inputs.replaceAll(', ', '\n          ')}`,
  );

function pairs(text: string, indent: number): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split('\n').filter((each) => each.trim())) {
    const [, key, value = ''] = new RegExp(`^ {${indent}}([\\w-]+): (.*)$`).exec(line) ?? [];
    if (key === undefined) throw new Error(`a line of the job is not understood: '${line}'`);
    found[key] = value;
  }
  return found;
}

export interface Outcome {
  /** What each step came to; a result where something was run. */
  readonly steps: ReadonlyArray<{ readonly step: Step; readonly ran: boolean; readonly result?: Result }>;
  readonly failed: boolean;
  readonly workspace: string;
}

/** What goes wrong in a run. */
export interface Trouble {
  /** Interrupts the step that begins with its word once its promise resolves, as a cancelled job is. */
  readonly cancel?: { readonly step: string; readonly after: Promise<unknown> };
  /** The number of the step that fails after it has done its work. */
  readonly failAfter?: number;
  /** The same, and the machine is gone with it: no other step runs. */
  readonly dieAfter?: number;
}

/** One run of the job, on a machine of its own. */
interface Run {
  readonly id: string;
  readonly home: string;
  readonly workspace: string;
}

/**
 * One repository: its files and its cache outlive a run. Every run gets an empty disk, under the same path unless several
 * run at once.
 */
export class CiRunner {
  readonly #job: Job;
  readonly #files: (workspace: string) => void;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #cache = freshFolder();
  readonly #machine = freshFolder();
  #runs = 0;
  #running = 0;
  /** What the last run uploaded as an artifact. */
  readonly artifact = freshFolder();

  constructor(
    job: Job,
    files: (workspace: string) => void,
    env: Readonly<Record<string, string | undefined>>,
  ) {
    this.#job = job;
    this.#files = files;
    this.#env = env;
  }

  async run(trouble: Trouble = {}): Promise<Outcome> {
    const machine = this.#running++ === 0 ? this.#machine : freshFolder();
    try {
      return await this.#run(machine, trouble);
    } finally {
      this.#running -= 1;
    }
  }

  async #run(machine: string, { cancel, failAfter, dieAfter }: Trouble): Promise<Outcome> {
    for (const name of readdirSync(machine)) rmSync(join(machine, name), { recursive: true });
    const [home, workspace] = [join(machine, 'home'), join(machine, 'work')];
    for (const folder of [home, workspace]) mkdirSync(folder);
    const run = { id: String(++this.#runs), home, workspace };
    const steps: Array<Outcome['steps'][number]> = [];
    let [failed, cancelled] = [false, false];
    for (const [at, step] of this.#job.steps.entries()) {
      const ran = runs(step.if, failed, cancelled);
      const cancels = ran && cancel !== undefined && step.run?.startsWith(cancel.step) === true;
      const result = ran ? await this.#do(step, run, cancels ? cancel.after : undefined) : undefined;
      cancelled ||= cancels;
      failed ||= (result !== undefined && result.code !== 0) || at === failAfter || at === dieAfter;
      steps.push({ step, ran, ...(result && { result }) });
      if (at === dieAfter) break;
    }
    return { steps, failed, workspace };
  }

  async #do(step: Step, run: Run, cancel: Promise<unknown> | undefined): Promise<Result | undefined> {
    if (step.uses) this.#use(step, run);
    return step.run === undefined ? undefined : this.#bash(step.run, run, cancel);
  }

  #use(step: Step, { id, home, workspace }: Run): void {
    const action = step.uses?.replace(/@.*/, '');
    const path = (step.with.path ?? '').replace(/^~/, home);
    const key = (step.with.key ?? '')
      .replace(/\$\{\{ github\.run_id \}\}/, id)
      .replace(/\$\{\{ github\.run_attempt \}\}/, '1');
    if (action === 'actions/checkout') this.#files(workspace);
    else if (action === 'actions/cache/restore') this.#restore(path, step.with['restore-keys'] ?? key);
    else if (action === 'actions/cache/save') this.#save(path, key);
    else if (action === 'actions/upload-artifact') this.#upload(join(workspace, path));
    else if (action !== 'actions/setup-node') throw new Error(`the runner has no action ${action}`);
  }

  /** Gives back the newest entry whose key begins so. */
  #restore(path: string, prefix: string): void {
    const names = readdirSync(this.#cache).filter((name) => name.startsWith(prefix));
    const [newest] = names.sort(
      (a, b) => statSync(join(this.#cache, b)).ctimeMs - statSync(join(this.#cache, a)).ctimeMs,
    );
    if (newest) cpSync(join(this.#cache, newest), path, { recursive: true });
  }

  #upload(path: string): void {
    rmSync(this.artifact, { recursive: true });
    mkdirSync(this.artifact);
    if (existsSync(path)) cpSync(path, this.artifact, { recursive: true });
  }

  /** An entry is never replaced. */
  #save(path: string, key: string): void {
    if (existsSync(path) && !existsSync(join(this.#cache, key)))
      cpSync(path, join(this.#cache, key), { recursive: true });
  }

  #bash(line: string, { home, workspace }: Run, cancelled: Promise<unknown> | undefined): Promise<Result> {
    const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', `exec ${line}`], {
      cwd: workspace,
      env: { ...this.#env, HOME: home },
    });
    child.stdin.end();
    void cancelled?.then(() => child.kill('SIGINT'));
    return finished(child);
  }
}

/** Whether a step runs: after a failure or a cancellation only if it says so. */
function runs(condition: string | undefined, failed: boolean, cancelled: boolean): boolean {
  const text = (condition ?? 'success()').replace(/^\$\{\{ | \}\}$/g, '');
  if (text === 'always()') return true;
  if (text === '!cancelled()') return !cancelled;
  if (text === 'success()') return !failed && !cancelled;
  throw new Error(`the runner does not know the condition '${text}'`);
}
