/** The README's CI job and its action, run as a runner would: nothing is ordered twice, whatever step fails. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  CiRunner,
  type Job,
  leafOf,
  type Outcome,
  readAction,
  readmeJob,
  repositoryWith,
  type Step,
} from '../support/ci-runner.ts';
import { freshFolder, listing } from '../support/files.ts';
import { type OrderingAccount, orderingAccount, reply } from '../support/ledger.ts';
import { blockOf, byHand, heredocOf, installedTools } from '../support/readme.ts';
import { sliceOf } from '../support/slices.ts';
import { KEY } from '../support/steno.ts';

const ACTION = '.github/actions/steno';
const action = readAction(ACTION);
const job = readmeJob();
const talks = heredocOf('talks.csv');
const urls = talks.match(/https?:[^,\s]+/g) ?? [];
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** The job with other inputs of the action, or another environment. */
const jobWith = (inputs: Record<string, string>, env: Record<string, string> = {}): Job => ({
  env: { ...job.env, ...env },
  steps: job.steps.map(
    (step): Step => (step.with ? { ...step, id: 'steno', with: { ...step.with, ...inputs } } : step),
  ),
});

const setupOf = ({ service }: OrderingAccount, manifest = talks) => ({
  files: repositoryWith(manifest, version),
  env: { PATH: installedTools() },
  secrets: { STENO_API_KEY: KEY },
  vars: { STENO_BASE_URL: service.baseUrl },
});

const runnerFor = (account: OrderingAccount, own = job, manifest = talks): CiRunner =>
  new CiRunner(own, setupOf(account, manifest));

const ordered = ({ service }: OrderingAccount): string[] =>
  service.calls('POST /order_url').flatMap(({ body }) => (body?.url ?? []) as string[]);

const codeOf = (outcome: Outcome, name: string) => leafOf(outcome, name)?.result?.code;
const exitCode = ({ outputs }: Outcome): unknown =>
  (outputs.steno as { outputs: Record<string, string> }).outputs['exit-code'];

describe('the CI job of the README', () => {
  it('has ten lines, and an environment that the settings page names', () => {
    expect(blockOf('job').trimEnd().split('\n').length).toBeLessThanOrEqual(10);
    expect(urls.length).toBeGreaterThan(1);
    expect(Object.keys(job.env)).toEqual(['STENO_API_KEY', 'STENO_BASE_URL']);
    expect(Object.keys(parse(blockOf('job')) as object)).toEqual(['on', 'concurrency', 'jobs']);
  });

  it('names inputs that the action has, and the version of the package', () => {
    const [, listed = ''] = /More inputs: ([\s\S]*?);/.exec(byHand) ?? [];
    const named = [...listed.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !(name in action.inputs))).toEqual([]);
    expect(action.inputs.version?.default).toBe(version);
    expect(job.steps.at(-1)?.with?.version).toBe(`./steno-cli-${version}.tgz`);
  });
});

describe('the action', () => {
  const { runs, inputs } = action;

  it('has no expression in what a shell runs, and a shell for each', () => {
    const scripts = runs.steps.filter((step): step is Step & { shell: string } => step.run !== undefined);
    expect(scripts.length).toBeGreaterThan(4);
    for (const { run, shell } of scripts) {
      expect(run).not.toContain('${{');
      expect(shell).toBe('bash');
      execFileSync('bash', ['-n'], { input: run });
    }
    execFileSync('bash', ['-n', join(ACTION, 'run.sh')]);
  });

  it('explains every input, and uses it', () => {
    const text = readFileSync(join(ACTION, 'action.yml'), 'utf8');
    for (const [name, { description }] of Object.entries(inputs)) {
      expect(description.length, name).toBeGreaterThan(10);
      expect(text).toContain(`inputs.${name} `);
    }
    expect(runs.using).toBe('composite');
  });

  it('saves under a key of its own in each use, and restores the newest of its name', () => {
    const [restore, save] = ['restore', 'save'].map((id) => runs.steps.find((step) => step.id === id)?.with);
    expect(save?.key).toBe(restore?.key);
    expect(save?.path).toBe(restore?.path);
    expect(restore?.['restore-keys']).toMatch(/^\$\{\{ steps\.settings\.outputs\.prefix \}\}$/);
  });
});

// Each starts ten processes and more.
describe.concurrent('a run of the action', { timeout: 240_000 }, () => {
  it('can be tried in the sandbox, without the secrets of an account', async () => {
    const setup = { files: repositoryWith(talks, version), env: { PATH: installedTools() } };
    const outcome = await new CiRunner(jobWith({}, { STENO_PROFILE: 'sandbox' }), setup).run();
    expect(outcome.failed, leafOf(outcome, 'order')?.result?.stdout).toBe(false);
    expect(outcome.summary).toContain('exit code of `order`: 0, of `sync`: 0.');
    const [files = ''] = outcome.summary.split('###');
    expect(files.match(/^\| 10\d\d \| /gm)).toHaveLength(urls.length);
  });

  it('orders, downloads, uploads, sums up, and orders nothing again', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account, jobWith({}));
    const first = await runner.run();
    expect(first.failed, leafOf(first, 'order')?.result?.stdout).toBe(false);
    expect(exitCode(first)).toBe('0');
    const second = await runner.run();
    expect([second.failed, ordered(account).sort()]).toEqual([false, [...urls].sort()]);
    expect(listing(runner.artifact)).toHaveLength(urls.length * 2);
    expect(second.summary).toContain('### Spend by month');
    expect(second.steps.flatMap(({ commands }) => commands)).toEqual([]);
    expect(JSON.stringify(second.steps.map(({ result }) => result))).not.toContain(KEY);
  });

  it('keeps the ledger of a run whose sync failed, and fails with the code of sync', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account, jobWith({}));
    account.service.on('GET /audiofile/1', { status: 403, body: 'not now' });
    const first = await runner.run();
    expect([first.failed, codeOf(first, 'order')]).toEqual([true, 0]);
    expect(codeOf(first, 'sync')).toBeGreaterThan(0);
    expect(exitCode(first)).toBe(String(codeOf(first, 'sync')));
    expect(leafOf(first, 'save')?.ran).toBe(true);
    account.service.on('GET /audiofile/1', { body: { audiofile: { id: 1, statename: 'Delivered' } } });
    expect((await runner.run()).failed).toBe(false);
    expect(ordered(account).sort()).toEqual([...urls].sort());
  });

  it('keeps the ledger of a run whose order failed, fetches what is ready, and orders the rest once', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account, jobWith({}));
    let calls = 0;
    let files = 0;
    account.service.on('POST /order_url', (got, response) => {
      calls += 1;
      if (calls === 2) return void response.writeHead(402).end('no funds');
      const audiofiles = ((got.body?.url ?? []) as string[]).map(() => ++files);
      response.end(JSON.stringify({ order: `p${calls}`, audiofiles }));
    });
    const first = await runner.run();
    expect([codeOf(first, 'order'), exitCode(first), first.failed]).toEqual([10, '10', true]);
    expect(leafOf(first, 'sync')).toMatchObject({ ran: true, result: { code: 0 } });
    const second = await runner.run();
    expect(second.failed, leafOf(second, 'order')?.result?.stdout).toBe(false);
    const accepted = account.service.calls('POST /order_url').filter((_, at) => at !== 1);
    expect(accepted.flatMap(({ body }) => body?.url as string[]).sort()).toEqual([...urls].sort());
  });

  it('marks each refused row on its line of the manifest, and names it in the summary', async () => {
    const account = await orderingAccount();
    let calls = 0;
    account.service.on('POST /order_url', (got, response) => {
      const asked = (got.body?.url ?? []) as string[];
      if (asked.includes(urls[1] as string))
        return void response.writeHead(400).end(JSON.stringify({ message: '50% of, it: is\ngone' }));
      const audiofiles = asked.map((url) => (urls as string[]).indexOf(url) + 1);
      response.end(JSON.stringify({ order: `p${++calls}`, audiofiles }));
    });
    const outcome = await runnerFor(account, jobWith({})).run();
    expect([codeOf(outcome, 'order'), exitCode(outcome)]).toEqual([10, '10']);
    const line = talks.split('\n').findIndex((text) => text.includes(urls[1] as string)) + 1;
    const [mark, ...others] = leafOf(outcome, 'order')?.commands ?? [];
    expect(mark).toMatch(new RegExp(`^::error file=talks.csv,line=${line}::https?:.*50%25 of, it: is gone`));
    expect(others).toEqual([]);
    expect(outcome.summary).toMatch(
      new RegExp(`### Rows that were not ordered\n\n {4}line ${line}: .*50% of, it: is gone`),
    );
  });

  it('fails with 11 and names the purchase, and the next run does not send it again', async () => {
    const account = await orderingAccount();
    const own = jobWith({ manifest: 'one.txt', sku: 'TRANS14' });
    const setup = setupOf(account);
    const files = (workspace: string): void => {
      setup.files(workspace);
      writeFileSync(join(workspace, 'one.txt'), 'https://example.com/unclear.mp3\n');
    };
    const runner = new CiRunner(own, { ...setup, files });
    account.service.on('POST /order_url', { status: 500, body: 'oops' });
    const first = await runner.run();
    expect([codeOf(first, 'order'), exitCode(first), first.failed]).toEqual([11, '11', true]);
    expect(first.summary).toMatch(/### Uncertain purchases\n\n\| attempt .*\n.*\n\| 1 \| order \| unclear/);
    const second = await runner.run();
    expect([codeOf(second, 'order'), second.failed]).toEqual([9, true]);
    expect(account.service.calls('POST /order_url')).toHaveLength(1);
    expect(second.summary).toContain('run the job once with the input `settle`, such as `1 --not-placed`');
    for (const settle of ['1 --not-placed; touch pwned', '--all', '1\n--not-placed']) {
      runner.replaceJob(jobWith({ manifest: 'one.txt', sku: 'TRANS14', settle }));
      const refused = await runner.run();
      expect([codeOf(refused, 'settle'), leafOf(refused, 'order')?.ran]).toEqual([2, false]);
    }
    account.service.on('POST /order_url', { body: { order: 'p1', audiofiles: [1] } });
    runner.replaceJob(jobWith({ manifest: 'one.txt', sku: 'TRANS14', settle: '1 --not-placed' }));
    const settled = await runner.run();
    expect([codeOf(settled, 'settle'), settled.failed]).toEqual([0, false]);
    expect(account.service.calls('POST /order_url')).toHaveLength(2);
  });

  it('keeps the ledger of a run that was cancelled while it ordered, which ends by itself', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account);
    let asked: () => void = () => {};
    const sent = new Promise<void>((done) => {
      asked = done;
    });
    let files = 0;
    account.service.on('POST /order_url', (got, response) => {
      asked();
      const audiofiles = ((got.body?.url ?? []) as string[]).map(() => ++files);
      setTimeout(() => response.end(JSON.stringify({ order: `q${files}`, audiofiles })), 700);
    });
    const first = await runner.run({ cancel: { step: 'order', after: sent } });
    expect([first.failed, codeOf(first, 'order')]).toEqual([true, 143]);
    expect(leafOf(first, 'sync')?.ran).toBe(false);
    expect(leafOf(first, 'save')?.ran).toBe(true);
    await runner.run();
    await runner.run();
    const all = ordered(account);
    expect(all).toHaveLength(new Set(all).size);
  });

  it('orders from a feed, under a budget and a limit', async () => {
    const account = await orderingAccount();
    const inputs = { manifest: '', feed: './feed.xml', sku: 'TRANS14', latest: '1' };
    const setup = setupOf(account);
    const item = (n: number): string =>
      `<item><guid>${n}</guid><title>Part ${n}</title><pubDate>0${n} Nov 2026 00:00:00 GMT</pubDate><enclosure url="https://example.com/${n}.mp3" type="audio/mpeg"/></item>`;
    const feed = `<rss version="2.0"><channel><title>Talks</title>${item(1)}${item(2)}</channel></rss>`;
    const files = (workspace: string): void => {
      setup.files(workspace);
      writeFileSync(join(workspace, 'feed.xml'), feed);
    };
    const limited = [{ 'max-cost': '5' }, { budget: '5/month' }];
    for (const limit of limited) {
      const refused = await new CiRunner(jobWith({ ...inputs, ...limit }), { ...setup, files }).run();
      expect([codeOf(refused, 'order'), exitCode(refused)]).toEqual([2, '2']);
    }
    // A budget of the job is not undone by the action.
    const kept = jobWith(inputs, { STENO_BUDGET: '5/month' });
    expect(codeOf(await new CiRunner(kept, { ...setup, files }).run(), 'order')).toBe(2);
    expect(ordered(account)).toEqual([]);
    const done = await new CiRunner(jobWith(inputs), { ...setup, files }).run();
    expect([done.failed, ordered(account)]).toEqual([false, ['https://example.com/2.mp3']]);
  });

  it('only downloads where there is nothing to order, and says what is wrong with its inputs', async () => {
    const account = await orderingAccount();
    const idle = await runnerFor(account, jobWith({ manifest: '' })).run();
    expect([idle.failed, leafOf(idle, 'order')?.ran, codeOf(idle, 'sync')]).toEqual([false, false, 0]);
    const both = await runnerFor(account, jobWith({ feed: 'feed.xml' })).run();
    expect([codeOf(both, 'order'), exitCode(both), both.failed]).toEqual([2, '2', true]);
    const wrong = await runnerFor(account, jobWith({ version: 'gone.tgz' })).run();
    expect([codeOf(wrong, 'install'), leafOf(wrong, 'sync')?.ran, wrong.failed]).toEqual([2, false, true]);
    expect(exitCode(wrong)).toBe('2');
    const unsettled = await runnerFor(account, jobWith({ manifest: '', settle: 'nonsense' })).run();
    expect([codeOf(unsettled, 'settle'), exitCode(unsettled), unsettled.failed]).toEqual([2, '2', true]);
    expect(leafOf(wrong, 'save')?.ran).toBe(true);
    expect(ordered(account)).toEqual([]);
  });
});

describe.concurrent('a ledger that is gone', { timeout: 240_000 }, () => {
  it('stops the next run before it orders, which saves nothing in its place', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account);
    await runner.run();
    for (const trouble of [{ evicted: true }, {}]) {
      const { failed, steps } = await runner.run(trouble);
      expect([failed, leafOf({ steps }, 'guard')?.result?.code]).toEqual([true, 2]);
      expect(leafOf({ steps }, 'guard')?.commands[0]).toMatch(
        /^::error title=steno::The ledger of earlier runs/,
      );
      for (const name of ['order', 'sync', 'save']) expect(leafOf({ steps }, name)?.ran, name).toBe(false);
    }
    expect(ordered(account)).toHaveLength(urls.length);
  });

  it('because the machine died after it ordered, is not replaced by an empty one', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account);
    const at = (await runner.run()).steps.findIndex(({ step }) => step.id === 'order');
    const other = runnerFor(account, jobWith({ cache: 'other' }));
    await other.run({ dieAfter: at });
    expect((await other.run()).failed).toBe(true);
    expect(ordered(account)).toHaveLength(urls.length * 2);
  });

  it.each([
    ['machine died after it ordered', (order: number) => ({ dieAfter: order })],
    ['cache was full when it ended', () => ({ saves: 1 })],
  ])('because the %s, is not replaced by an older one', async (_, trouble) => {
    const account = await orderingAccount();
    let manifest = talks;
    const setup = setupOf(account);
    const files = (workspace: string): void => repositoryWith(manifest, version)(workspace);
    const runner = new CiRunner(job, { ...setup, files });
    const order = (await runner.run()).steps.findIndex(({ step }) => step.id === 'order');
    manifest += 'https://example.com/new.mp3,TRANS14,,\n';
    await runner.run(trouble(order));
    const { failed, steps } = await runner.run();
    expect([failed, leafOf({ steps }, 'order')?.ran]).toEqual([true, false]);
    expect(leafOf({ steps }, 'guard')?.commands).toEqual([
      expect.stringMatching(/^::error title=steno::An earlier run has not saved its ledger/),
    ]);
    expect(ordered(account)).toHaveLength(urls.length + 1);
    runner.replaceJob(jobWith({ 'new-ledger': 'true', manifest: '' }));
    expect((await runner.run()).failed).toBe(false);
    runner.replaceJob(job);
    expect((await runner.run()).failed).toBe(false);
  });

  it('cannot be saved, so nothing is ordered', async () => {
    const account = await orderingAccount();
    const outcome = await runnerFor(account, jobWith({})).run({ saves: 0 });
    expect([outcome.failed, codeOf(outcome, 'order'), exitCode(outcome)]).toEqual([true, 2, '2']);
    expect(leafOf(outcome, 'order')?.commands[0]).toContain('The cache cannot be written');
    expect(ordered(account)).toEqual([]);
  });

  it('is made anew where the repository says so', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account, jobWith({ 'new-ledger': 'true' }));
    await runner.run({ failAfter: 0 });
    expect((await runner.run()).failed).toBe(false);
    expect(ordered(account)).toHaveLength(urls.length);
  });

  it('of a longer name is another one', async () => {
    const account = await orderingAccount();
    const [long, short] = ['talks-more', 'talks'].map((cache) => jobWith({ cache }).steps.at(-1) as Step);
    const runner = runnerFor(account, {
      ...job,
      steps: [...job.steps.slice(0, -1), ...(long ? [long] : [])],
    });
    await runner.run();
    runner.replaceJob({ ...job, steps: [...job.steps.slice(0, -1), ...(short ? [short] : [])] });
    expect(codeOf(await runner.run(), 'guard')).toBe(2);
  });

  it('of an earlier use in the same job is used, as is one in a folder that outlives the cache', async () => {
    const [checkout, action] = job.steps as [Step, Step];
    const twice = await orderingAccount();
    const both = await runnerFor(twice, { ...job, steps: [checkout, action, action] }).run();
    expect([both.failed, ordered(twice).length]).toEqual([false, urls.length]);
    const kept = await orderingAccount();
    const runner = runnerFor(kept, jobWith({ ledger: freshFolder() }));
    await runner.run();
    expect((await runner.run({ evicted: true })).failed).toBe(false);
    expect(ordered(kept)).toHaveLength(urls.length);
  });

  it('of another machine is used instead of an older one in a folder', async () => {
    const account = await orderingAccount();
    let manifest = talks;
    const files = (workspace: string): void => repositoryWith(manifest, version)(workspace);
    const folder = join(freshFolder(), 'ledger');
    const runner = new CiRunner(jobWith({ ledger: folder }), { ...setupOf(account), files });
    await runner.run();
    // The folder of the other machine, which has not run before, is filled from the cache.
    renameSync(folder, `${folder}-of-first`);
    manifest += 'https://example.com/new.mp3,TRANS14,,\n';
    expect((await runner.run()).failed).toBe(false);
    rmSync(folder, { recursive: true });
    renameSync(`${folder}-of-first`, folder);
    const stopped = await runner.run();
    expect(leafOf(stopped, 'guard')?.commands).toEqual([
      expect.stringMatching(/^::error title=steno::Another machine has saved a newer ledger/),
    ]);
    rmSync(folder, { recursive: true });
    expect((await runner.run()).failed).toBe(false);
    expect(ordered(account)).toHaveLength(urls.length + 1);
  });

  it('is not replaced by the empty one of a job that only downloads', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account, jobWith({ manifest: '' }));
    expect(leafOf(await runner.run(), 'save')?.ran).toBe(false);
    runner.replaceJob(job);
    expect(codeOf(await runner.run(), 'guard')).toBe(2);
    expect(ordered(account)).toEqual([]);
  });

  it('of another branch is not seen, so only one branch orders, and each may download', async () => {
    const account = await orderingAccount();
    const onBranch = (own: Job): Promise<Outcome> =>
      new CiRunner(own, { ...setupOf(account), branch: 'side' }).run();
    const refused = await onBranch(job);
    expect(refused.failed).toBe(true);
    expect(leafOf(refused, 'settings')?.commands).toEqual([
      expect.stringMatching(/^::error title=steno::GitHub keeps caches by branch/),
    ]);
    expect((await onBranch(jobWith({ manifest: '' }))).failed).toBe(false);
    expect(ordered(account)).toEqual([]);
    expect((await onBranch(jobWith({ branch: 'side' }))).failed).toBe(false);
    expect(ordered(account)).toHaveLength(urls.length);
    const tagged = await new CiRunner(job, setupOf(account)).run({ isTag: true });
    expect(leafOf(tagged, 'settings')?.result?.code).toBe(2);
  });

  it('is saved by the branch that orders alone: a copy of another one would hide newer ledgers', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account);
    expect((await runner.run()).failed).toBe(false);
    runner.replaceJob(jobWith({ manifest: '' }));
    const aside = await runner.run({ branch: 'side' });
    expect([aside.failed, codeOf(aside, 'sync'), leafOf(aside, 'save')?.ran]).toEqual([false, 0, false]);
    expect(aside.summary).toContain('| Delivered |');
    const there = await runner.run();
    expect([there.failed, leafOf(there, 'save')?.ran]).toEqual([false, true]);
  });

  it('of the default branch is not the one of a branch that orders in its place', async () => {
    const account = await orderingAccount();
    const runner = runnerFor(account, jobWith({ 'new-ledger': 'true' }));
    await runner.run();
    runner.replaceJob(jobWith({ branch: 'side' }));
    expect(codeOf(await runner.run({ branch: 'side' }), 'guard')).toBe(2);
    expect(ordered(account)).toHaveLength(urls.length);
  });
});

describe.concurrent('hostile', { timeout: 240_000 }, () => {
  const EVIL = '$(touch pwned)`touch pwned`"; touch pwned; #';

  const inputs = [
    ...['manifest', 'feed', 'latest', 'sku', 'max-cost', 'budget', 'download', 'format', 'since'],
    ...['artifact', 'ledger', 'cache', 'branch', 'settle', 'new-ledger', 'version'],
  ];

  it.each(sliceOf(inputs, 4))(
    'input %s runs nothing, and orders nothing that was not asked for',
    async (name) => {
      const account = await orderingAccount();
      for (const value of [EVIL, `--again\n::set-output name=code::0\ncode=0\n${EVIL}`, '-o/etc/passwd']) {
        const given = { [name]: value, ...(name === 'feed' && { manifest: '' }) };
        const outcome = await runnerFor(account, jobWith(given)).run();
        const { workspace } = outcome;
        expect(existsSync(join(workspace, 'pwned')), value).toBe(false);
        expect(existsSync(join(workspace, '..', 'home', 'pwned')), value).toBe(false);
        const codes = outcome.steps.flatMap(({ result }) => (result ? [result.code] : []));
        expect(outcome.failed).toBe(codes.some((code) => code !== 0));
        expect(outcome.steps.flatMap(({ commands }) => commands).join('\n')).not.toContain('set-output');
      }
    },
  );

  it('titles and refusals are text in the log and in the summary', async () => {
    const account = await orderingAccount();
    const title = '::set-output name=code::0 | <img src=x onerror=alert(1)> [a](javascript:b) @everyone';
    account.service.allow('*', ({ path }, response) => {
      const [, id] = /^\/audiofile\/(\d+)$/.exec(path) ?? [];
      if (id) reply(response, { audiofile: { id: Number(id), statename: 'Delivered', title } });
      else response.end('transcript\n::add-mask::e\n');
    });
    const own = jobWith({ exec: 'cat "$STENO_EVENT_PATH"; echo "::set-output name=code::0"; exit 3' });
    const runner = runnerFor(account, own);
    const first = await runner.run();
    expect(leafOf(first, 'sync')).toMatchObject({ failed: true, commands: [] });
    expect(exitCode(first)).toBe('1');
    expect(first.summary).toContain('\\<img src=x onerror=alert(1)\\>');
    expect(first.summary).not.toMatch(/(?<!\\)<img|(?<!\\)\[a\]|(?<!\\)@everyone/);
    const [, width] = /^(\| audiofile .*)$/m.exec(first.summary)?.map((line) => line.split('|').length) ?? [];
    const cells = first.summary.split('\n').filter((line) => /^\| \d+ \| Delivered/.test(line));
    expect(cells.map((line) => line.split(/(?<!\\)\|/).length)).toEqual(urls.map(() => width));
    account.service.on('POST /order_url', {
      status: 400,
      body: '\n::error::pwned\n::set-output name=code::0',
    });
    const more = 'url,sku\nhttps://example.com/refused.mp3,TRANS14\n';
    const refused = await runnerFor(account, jobWith({}), more).run();
    // One command of ours, in which the refusal is text.
    expect(leafOf(refused, 'order')?.commands).toEqual([
      expect.stringMatching(/^::error file=talks\.csv,line=2::https:\/\/example\.com\/refused\.mp3: /),
    ]);
    expect([exitCode(refused), refused.failed]).toEqual(['1', true]);
  });
});

describe('installed by the action', () => {
  it('from the tarball, the README job runs as it stands', async () => {
    const account = await orderingAccount();
    const folder = freshFolder();
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]);
    const tarball = join(folder, `steno-cli-${version}.tgz`);
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const setup = setupOf(account);
    const files = (workspace: string): void => {
      setup.files(workspace);
      writeFileSync(join(workspace, `steno-cli-${version}.tgz`), readFileSync(tarball));
    };
    // Without the stand-ins: npm is the real one, and steno is what it installs.
    const PATH = [join(process.execPath, '..'), process.env.PATH].join(delimiter);
    const outcome = await new CiRunner(job, { ...setup, files, env: { ...process.env, PATH } }).run();
    expect(outcome.failed, outcome.steps.map(({ result }) => result?.stderr).join('\n')).toBe(false);
    expect(existsSync(join(outcome.workspace, '..', 'temp', 'steno', 'bin', 'steno'))).toBe(true);
    expect(ordered(account).sort()).toEqual([...urls].sort());
  }, 120_000);
});
