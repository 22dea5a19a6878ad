/** The README's CI job, run as a runner would: nothing is ordered twice, whatever step fails. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CiRunner, type Outcome, parseJob, readmeJob } from '../support/ci-runner.ts';
import { type OrderingAccount, orderingAccount } from '../support/ledger.ts';
import { blockOf, heredocOf, installedTools } from '../support/readme.ts';
import { KEY } from '../support/steno.ts';

const job = readmeJob();
const talks = heredocOf('talks.csv');
const urls = talks.match(/https?:[^,\s]+/g) ?? [];

function runnerFor({ service }: OrderingAccount): CiRunner {
  const env = {
    PATH: installedTools(),
    STENO_API_KEY: KEY,
    STENO_BASE_URL: service.baseUrl,
  };
  return new CiRunner(job, (workspace) => writeFileSync(join(workspace, 'talks.csv'), talks), env);
}

const ordered = ({ service }: OrderingAccount): string[] =>
  service.calls('POST /order_url').flatMap(({ body }) => (body?.url ?? []) as string[]);

const step = (outcome: Outcome, word: string) =>
  outcome.steps.find((each) => each.step.run?.includes(word) || each.step.uses?.includes(word));

describe.concurrent('the CI job of the README', () => {
  it('is understood, and sets what the settings page names', () => {
    expect(urls.length).toBeGreaterThan(1);
    expect(Object.keys(job.env)).toEqual(['STENO_API_KEY', 'STENO_BASE_URL', 'GH_TOKEN']);
    expect(job.steps.map(({ uses, run }) => uses ?? run)).toHaveLength(8);
  });

  it('can be tried in the sandbox, without the secrets of an account', async () => {
    const text = blockOf('job').replace(/steno (order|sync)/g, 'steno --sandbox $1');
    const env = { PATH: installedTools(), STENO_API_KEY: '', STENO_BASE_URL: '' };
    const files = (workspace: string) => writeFileSync(join(workspace, 'talks.csv'), talks);
    const outcome = await new CiRunner(parseJob(text), files, env).run();
    expect(outcome.failed, step(outcome, 'order')?.result?.stderr).toBe(false);
    expect(step(outcome, 'order')?.result?.stdout.trim().split('\n')).toHaveLength(urls.length);
  });

  it('keeps the ledger of a run whose sync failed', async () => {
    const it = await orderingAccount();
    const runner = runnerFor(it);
    it.service.on('GET /audiofile/1', { status: 403, body: 'not now' });
    const first = await runner.run();
    expect(step(first, 'steno sync')?.result?.code).toBeGreaterThan(0);
    expect(step(first, 'cache/save')?.ran).toBe(true);
    it.service.on('GET /audiofile/1', { body: { audiofile: { id: 1, statename: 'Delivered' } } });
    const second = await runner.run();
    expect(second.failed).toBe(false);
    expect(ordered(it).sort()).toEqual([...urls].sort());
  });

  it('keeps the ledger of a run whose order failed, fetches what is ready, and orders the rest once', async () => {
    const it = await orderingAccount();
    const runner = runnerFor(it);
    let calls = 0;
    let files = 0;
    it.service.on('POST /order_url', (got, response) => {
      calls += 1;
      if (calls === 2) return void response.writeHead(402).end('no funds');
      const audiofiles = ((got.body?.url ?? []) as string[]).map(() => ++files);
      response.end(JSON.stringify({ order: `p${calls}`, audiofiles }));
    });
    const first = await runner.run();
    expect(step(first, 'steno order')?.result?.code).toBe(10);
    expect(step(first, 'steno sync')).toMatchObject({ ran: true, result: { code: 0 } });
    const second = await runner.run();
    expect(second.failed, step(second, 'steno order')?.result?.stderr).toBe(false);
    const accepted = it.service.calls('POST /order_url').filter((_, at) => at !== 1);
    expect(accepted.flatMap(({ body }) => body?.url as string[]).sort()).toEqual([...urls].sort());
  });

  it('keeps the ledger of a run that was cancelled while it ordered', async () => {
    const it = await orderingAccount();
    const runner = runnerFor(it);
    let asked: () => void = () => {};
    const sent = new Promise<void>((done) => {
      asked = done;
    });
    let files = 0;
    it.service.on('POST /order_url', (got, response) => {
      asked();
      const audiofiles = ((got.body?.url ?? []) as string[]).map(() => ++files);
      setTimeout(() => response.end(JSON.stringify({ order: `q${files}`, audiofiles })), 700);
    });
    const first = await runner.run({ cancel: { step: 'steno order', after: sent } });
    expect(first.failed).toBe(true);
    expect(step(first, 'steno sync')?.ran).toBe(false);
    expect(step(first, 'cache/save')?.ran).toBe(true);
    await runner.run();
    await runner.run();
    const all = ordered(it);
    expect(all).toHaveLength(new Set(all).size);
  });
});
