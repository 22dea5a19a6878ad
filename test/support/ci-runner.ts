/** Runs a workflow's one job step by step as a runner of GitHub Actions would, with a cache that is a folder. */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { parse } from 'yaml';
import { type Contexts, fill, holds } from './ci-expressions.ts';
import { freshFolder } from './files.ts';
import { blockOf } from './readme.ts';
import { finished, type Result } from './steno.ts';
import { topicBlocks } from './topics.ts';

type Texts = Readonly<Record<string, string>>;

export interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly if?: string;
  readonly with?: Texts;
  readonly env?: Texts;
}

export interface Job {
  readonly env: Texts;
  readonly steps: readonly Step[];
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string; readonly description: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export const readAction = (folder: string): Action =>
  parse(readFileSync(join(folder, 'action.yml'), 'utf8')) as Action;

export function parseJob(text: string): Job {
  const { jobs } = parse(text) as { jobs: Record<string, Partial<Job>> };
  const [job, ...others] = Object.values(jobs);
  if (!job?.steps || others.length) throw new Error('the workflow does not have one job with steps');
  return { env: job.env ?? {}, steps: job.steps };
}

/** What a shared ledger adds to the environment of the job. */
const sharedEnv = (): string =>
  (topicBlocks('shared-ledger').find((block) => block.startsWith('STENO_LEDGER: ')) ?? '').replaceAll(
    '\n',
    ' ',
  );

/** The job of the README; for a shared ledger with what the help adds, inside the braces of `env`. */
export function readmeJob({ shared = false } = {}): Job {
  const job = blockOf('job');
  return parseJob(shared ? job.replace(/(env: \{.*) \}$/m, (_, env) => `${env}, ${sharedEnv()} }`) : job);
}

/** A step that does something itself: those of an action stand in the place of the action. */
export interface Leaf {
  readonly step: Step;
  readonly ran: boolean;
  readonly failed: boolean;
  /** Where something was run. */
  readonly result?: Result;
  /** Commands to the runner that it printed, such as `::error title=steno::…`. */
  readonly commands: readonly string[];
}

export interface Outcome {
  readonly steps: readonly Leaf[];
  readonly failed: boolean;
  readonly workspace: string;
  readonly summary: string;
  /** Outputs of the job's own steps, by their ids. */
  readonly outputs: Contexts;
}

export const leafOf = ({ steps }: Pick<Outcome, 'steps'>, name: string): Leaf | undefined =>
  steps.find(({ step: { id } }) => id === name) ?? steps.find(({ step: { uses } }) => uses?.includes(name));

/** What goes wrong in a run. */
export interface Trouble {
  /** Interrupts the step with this id once its promise resolves, as a cancelled job is. */
  readonly cancel?: { readonly step: string; readonly after: Promise<unknown> };
  /** The number of the step that fails after it has done its work. */
  readonly failAfter?: number;
  /** The same, and the machine is gone with it: no other step runs. */
  readonly dieAfter?: number;
  /** GitHub has removed all caches. */
  readonly evicted?: boolean;
  /** Where it runs, if not on the branch of the repository. */
  readonly branch?: string;
  readonly isTag?: boolean;
  /** The number of caches that are saved before the cache service fails; a save then only warns. */
  readonly saves?: number;
}

/** What a repository has, and what is on the machine. */
export interface Setup {
  readonly files: (workspace: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly secrets?: Texts;
  readonly vars?: Texts;
  readonly branch?: string;
}

/** One run of the job, on a machine of its own. */
interface Run {
  readonly number: number;
  readonly home: string;
  readonly workspace: string;
  readonly temp: string;
  readonly summary: string;
  readonly paths: string[];
  readonly leaves: Leaf[];
  readonly trouble: Trouble;
  cancelled: boolean;
  dead: boolean;
  saved: number;
}

/** Where steps stand: in the job, or in an action. */
interface Scope {
  readonly env: Texts;
  readonly contexts: Contexts;
  readonly folder?: string;
}

/** What a step did to those after it. */
interface Done {
  readonly failed: boolean;
  readonly outputs: Texts;
  readonly result?: Result;
  readonly commands?: readonly string[];
}

/** A test in the process of the program may change the working folder. */
const ACTIONS = resolve('.github/actions');

const DEFAULT_BRANCH = 'main';
const SUCCEEDED: Done = { failed: false, outputs: {} };

/**
 * One repository: its files and its cache outlive a run. Every run gets an empty disk, under the same path unless several
 * run at once.
 */
export class CiRunner {
  #job: Job;
  readonly #setup: Setup;
  readonly #cache = freshFolder();
  readonly #machine = freshFolder();
  #runs = 0;
  #saved = 0;
  #running = 0;
  /** What the last run uploaded as an artifact. */
  readonly artifact = freshFolder();

  constructor(job: Job, setup: Setup) {
    this.#job = job;
    this.#setup = setup;
  }

  /** A commit changes the workflow. */
  replaceJob(job: Job): void {
    this.#job = job;
  }

  async run(trouble: Trouble = {}): Promise<Outcome> {
    const machine = this.#running++ === 0 ? this.#machine : freshFolder();
    try {
      return await this.#run(machine, trouble);
    } finally {
      this.#running -= 1;
    }
  }

  async #run(machine: string, trouble: Trouble): Promise<Outcome> {
    for (const name of readdirSync(machine)) rmSync(join(machine, name), { recursive: true });
    const [home = '', workspace = '', temp = ''] = ['home', 'work', 'temp'].map((name) =>
      join(machine, name),
    );
    for (const folder of [home, workspace, temp]) mkdirSync(folder);
    if (trouble.evicted)
      for (const name of readdirSync(this.#cache)) rmSync(join(this.#cache, name), { recursive: true });
    const summary = join(temp, 'summary.md');
    writeFileSync(summary, '');
    const flags = { cancelled: false, dead: false, saved: 0 };
    const run: Run = {
      ...{ number: ++this.#runs, home, workspace, temp, summary, paths: [], leaves: [], trouble },
      ...flags,
    };
    const { secrets = {}, vars = {} } = this.#setup;
    const contexts = { ...this.#contexts(run), secrets, vars };
    const { failed, outputs } = await this.#all(this.#job.steps, { env: this.#job.env, contexts }, run);
    return { steps: run.leaves, failed, workspace, summary: readFileSync(summary, 'utf8'), outputs };
  }

  #contexts({ number, temp }: Run): Contexts {
    const github = {
      ...{ run_id: String(9000 + number), run_attempt: '1', token: 'gh-token' },
      event: { repository: { default_branch: DEFAULT_BRANCH } },
    };
    return { github, runner: { temp } };
  }

  /** The steps of the job or of an action. */
  async #all(
    steps: readonly Step[],
    scope: Scope,
    run: Run,
  ): Promise<{ readonly failed: boolean; readonly outputs: Contexts }> {
    const done: Record<string, Contexts> = {};
    let failed = false;
    for (const step of steps) {
      if (run.dead) break;
      const contexts = { ...scope.contexts, steps: done };
      const ran = holds(step.if, contexts, { failed, cancelled: run.cancelled });
      const own = await this.#step(step, ran, { ...scope, contexts }, run);
      failed ||= own.failed;
      if (step.id) done[step.id] = { outcome: outcomeOf(ran, own), outputs: own.outputs };
    }
    return { failed, outputs: done };
  }

  async #step(step: Step, ran: boolean, scope: Scope, run: Run): Promise<Done> {
    if (step.uses?.startsWith('./')) return ran ? this.#action(step, scope, run) : SUCCEEDED;
    const at = run.leaves.length;
    const { failAfter, dieAfter, cancel } = run.trouble;
    const cancels = ran && cancel !== undefined && step.id === cancel.step;
    const own = ran ? await this.#leaf(step, scope, run, cancels ? cancel.after : undefined) : SUCCEEDED;
    run.cancelled ||= cancels;
    run.dead ||= at === dieAfter;
    const failed = own.failed || at === failAfter || at === dieAfter;
    run.leaves.push({ commands: [], ...own, step, ran, failed });
    return { ...own, failed };
  }

  /** A composite action of the repository: its steps see its inputs, and neither secrets nor variables. */
  async #action(step: Step, { env, contexts }: Scope, run: Run): Promise<Done> {
    const folder = join(run.workspace, step.uses ?? '');
    const { inputs, outputs, runs } = readAction(folder);
    const given = filled(step.with ?? {}, contexts);
    const unknown = Object.keys(given).filter((name) => !(name in inputs));
    if (unknown.length) throw new Error(`the action has no input ${unknown.join()}`);
    const defaults = Object.entries(inputs).map(([name, input]) => [name, input.default ?? '']);
    const inner = { ...this.#contexts(run), inputs: { ...Object.fromEntries(defaults), ...given } };
    const job = { ...filled(env, contexts), ...filled(step.env ?? {}, contexts) };
    const result = await this.#all(runs.steps, { env: job, contexts: inner, folder }, run);
    const values = Object.entries(outputs).map(([name, { value }]) => [name, value] as const);
    const after = { ...inner, steps: result.outputs };
    return { failed: result.failed, outputs: filled(Object.fromEntries(values), after) };
  }

  async #leaf(step: Step, scope: Scope, run: Run, cancel: Promise<unknown> | undefined): Promise<Done> {
    if (step.run === undefined) return this.#use(step, filled(step.with ?? {}, scope.contexts), run);
    const env = { ...filled(scope.env, scope.contexts), ...filled(step.env ?? {}, scope.contexts) };
    return this.#bash(step.run, env, scope, run, cancel);
  }

  #use({ uses = '' }: Step, given: Texts, run: Run): Done {
    const action = uses.replace(/@v\d+$/, '');
    const { path = '', key = '' } = given;
    if (action === 'actions/checkout') this.#checkOut(run.workspace);
    else if (action === 'actions/cache/restore') return this.#restore(given, run);
    else if (action === 'actions/cache/save') this.#save(path, key, run);
    else if (action === 'actions/upload-artifact') this.#upload(join(run.workspace, path));
    else if (action !== 'actions/setup-node') throw new Error(`the runner has no action ${action}`);
    return SUCCEEDED;
  }

  #checkOut(workspace: string): void {
    cpSync(ACTIONS, join(workspace, '.github', 'actions'), { recursive: true });
    this.#setup.files(workspace);
  }

  /** Gives back the newest entry whose key begins so: of its branch, else of the default one, and of the same path. */
  #restore(given: Texts, run: Run): Done {
    const { path = '', key = '', 'restore-keys': prefix = key, 'lookup-only': looks } = given;
    const all = readdirSync(this.#cache).sort().map(entryOf);
    const fitting = all.filter((entry) => entry.path === path && entry.key.startsWith(prefix));
    const ofBranch = (branch: string) => fitting.findLast((entry) => entry.branch === branch);
    const newest = ofBranch(this.#branchOf(run)) ?? ofBranch(DEFAULT_BRANCH);
    if (!newest) return SUCCEEDED;
    if (looks !== 'true') cpSync(join(this.#cache, newest.name), inRun(path, run), { recursive: true });
    return { failed: false, outputs: { 'cache-matched-key': newest.key } };
  }

  /** An entry is never replaced. */
  #save(path: string, key: string, run: Run): void {
    if (run.saved++ >= (run.trouble.saves ?? Number.POSITIVE_INFINITY)) return;
    const taken = readdirSync(this.#cache).some((name) => entryOf(name).key === key);
    if (taken) throw new Error(`the cache has the key ${key} already`);
    const names = [String(++this.#saved).padStart(6, '0'), this.#branchOf(run), path, key];
    const name = names.map(encodeURIComponent).join(' ');
    if (existsSync(inRun(path, run))) cpSync(inRun(path, run), join(this.#cache, name), { recursive: true });
  }

  #branchOf({ trouble }: Run): string {
    return trouble.branch ?? this.#setup.branch ?? DEFAULT_BRANCH;
  }

  #upload(path: string): void {
    rmSync(this.artifact, { recursive: true });
    mkdirSync(this.artifact);
    if (existsSync(path)) cpSync(path, this.artifact, { recursive: true });
  }

  async #bash(
    script: string,
    env: Texts,
    { folder }: Scope,
    run: Run,
    cancelled: Promise<unknown> | undefined,
  ): Promise<Done> {
    const { number, home, workspace, temp, summary, paths } = run;
    const name = join(temp, `step-${run.leaves.length}`);
    const files = { output: `${name}.output`, path: `${name}.path`, script: `${name}.sh` };
    for (const file of Object.values(files)) writeFileSync(file, '');
    writeFileSync(files.script, script);
    const child = spawn('bash', ['--noprofile', '--norc', '-eo', 'pipefail', files.script], {
      cwd: workspace,
      env: {
        ...{
          GITHUB_RUN_ID: String(9000 + number),
          GITHUB_RUN_ATTEMPT: '1',
          GITHUB_RUN_NUMBER: String(number),
        },
        ...{ GITHUB_REF_NAME: this.#branchOf(run), GITHUB_REF_TYPE: run.trouble.isTag ? 'tag' : 'branch' },
        ...{ GITHUB_WORKSPACE: workspace, RUNNER_TEMP: temp },
        ...{ GITHUB_OUTPUT: files.output, GITHUB_PATH: files.path, GITHUB_STEP_SUMMARY: summary },
        ...(folder && { GITHUB_ACTION_PATH: folder }),
        ...this.#setup.env,
        ...env,
        PATH: [...paths, this.#setup.env.PATH].join(delimiter),
        HOME: home,
      },
    });
    child.stdin.end();
    void cancelled?.then(() => child.kill('SIGINT'));
    const result = await finished(child);
    paths.unshift(...linesOf(files.path));
    const { commands, outputs } = commandsIn(`${result.stdout}\n${result.stderr}`);
    const set = linesOf(files.output).map((line) => /^([\w-]+)=(.*)$/.exec(line)?.slice(1) ?? broken(line));
    return {
      failed: result.code !== 0,
      outputs: { ...Object.fromEntries(set), ...outputs },
      result,
      commands,
    };
  }
}

/** What a step printed that the runner obeys, unless `::stop-commands::` says otherwise. */
function commandsIn(text: string): { readonly commands: string[]; readonly outputs: Texts } {
  const commands: string[] = [];
  const outputs: Record<string, string> = {};
  let stopped = '';
  for (const line of text.split(/\r?\n/).map((each) => each.trimStart())) {
    const [, token] = /^::stop-commands::(.*)$/.exec(line) ?? [];
    if (stopped) {
      if (line === `::${stopped}::`) stopped = '';
    } else if (token) stopped = token;
    else if (/^::[\w-]+( .*?)?::/.test(line)) {
      commands.push(line);
      const [, name, value = ''] = /^::set-output name=([\w-]+)::(.*)$/.exec(line) ?? [];
      if (name) outputs[name] = value;
    }
  }
  return { commands, outputs };
}

/** Entries are numbered, so that the newest is the last. */
function entryOf(name: string) {
  const [, branch = '', path = '', key = ''] = name.split(' ').map(decodeURIComponent);
  return { name, branch, path, key };
}

/** A path as actions read it. */
const inRun = (path: string, { home, workspace }: Run): string =>
  path.startsWith('~/') ? join(home, path.slice(2)) : resolve(workspace, path);

const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').filter(Boolean);

function broken(line: string): never {
  throw new Error(`the runner does not understand the output '${line}'`);
}

const filled = (texts: Texts, contexts: Contexts): Texts =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(String(text), contexts)]));

function outcomeOf(ran: boolean, { failed }: Done): string {
  if (!ran) return 'skipped';
  return failed ? 'failure' : 'success';
}

/** Puts a manifest and an empty tarball into a workspace. */
export const repositoryWith =
  (manifest: string, version: string) =>
  (workspace: string): void => {
    writeFileSync(join(workspace, 'talks.csv'), manifest);
    appendFileSync(join(workspace, `steno-cli-${version}.tgz`), '');
  };
