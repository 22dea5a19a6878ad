/** The README's CI job and its cron line, where each step, each upload and the disk fail: nothing is lost or bought twice. */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CiRunner, type Job, readmeJob, repositoryWith } from '../support/ci-runner.ts';
import { freshFolder, listing } from '../support/files.ts';
import { audio, type OrderingAccount, orderingAccount } from '../support/ledger.ts';
import { blockOf, byHand, heredocOf, installedTools } from '../support/readme.ts';
import { sliceOf } from '../support/slices.ts';
import { finished, KEY, type Result } from '../support/steno.ts';
import { isShared } from '../support/store.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** The job with the upload that the text below it adds. */
function uploadingJob(): Job {
  const { env, steps } = readmeJob({ shared: isShared });
  const [, exec = ''] = /`exec: '(gh release upload .*?)'`/.exec(byHand) ?? [];
  return { env, steps: steps.map((step) => (step.with ? { ...step, with: { ...step.with, exec } } : step)) };
}
const talks = heredocOf('talks.csv');
const urls = (talks.match(/https?:[^,\s]+/g) ?? []).sort();
const transcripts = urls.flatMap((_, n) => [`${n + 1}.docx`, `${n + 1}.txt`]);

/** A program that stores a file on the second try: the first one is always refused. `file` is its argument. */
function refusingOnce(name: string, file: string): { readonly path: string; readonly stored: string } {
  const [path, stored] = [freshFolder(), freshFolder()];
  const script = `#!/bin/sh
name=$(basename "${file}")
test -e ${path}/tried-$name || { touch ${path}/tried-$name; exit 22; }
exec /bin/cp "${file}" ${stored}/
`;
  writeFileSync(join(path, name), script, { mode: 0o755 });
  return { path, stored };
}

const ordered = ({ service }: OrderingAccount): string[] =>
  service.calls('POST /order_url').flatMap(({ body }) => (body?.url ?? []) as string[]);

/**
 * 0 is checkout; then come settings, restore, guard, Node, install, settle, announce, announced, order, sync, summary,
 * save and artifact of the action. With a shared ledger, which takes four times as long, `npm test` tries one in three.
 */
const STEPS = [10, 1, 2, 12, 3, 4, 13, 5, 11, 0, 9, 7, 8, 6];
const STEPS_TO_ORDER = 9;

/** The job, a service that takes its time, and uploads that fail at first. */
async function running() {
  const account = await orderingAccount();
  // The first is delivered at once, each other one some runs later.
  for (const [n] of urls.entries())
    account.states.set(String(n + 1), [...Array<string>(2 * n).fill('Transcribing'), 'Delivered']);
  const { path, stored } = refusingOnce('gh', '$4');
  const { STENO_LEDGER } = account.user.env;
  const runner = new CiRunner(uploadingJob(), {
    files: repositoryWith(talks, version),
    env: { PATH: [path, installedTools()].join(delimiter) },
    secrets: { STENO_API_KEY: KEY, STENO_LEDGER_PASSWORD: '' },
    vars: { STENO_BASE_URL: account.service.baseUrl, ...(STENO_LEDGER && { STENO_LEDGER }) },
  });
  return { ...account, runner, stored };
}

describe.concurrent('the CI job of the README', { timeout: 180_000 }, () => {
  it.each(isShared ? (['failAfter', 'dieAfter'] as const) : (['failAfter'] as const))(
    '%s each of its steps, on a fresh disk: every transcript is uploaded, nothing is bought twice',
    async (trouble) => {
      const { runner, stored, ...account } = await running();
      const { steps } = await runner.run({ [trouble]: STEPS_TO_ORDER });
      expect(steps.at(STEPS_TO_ORDER)?.step.id).toBe('order');
      for (const at of sliceOf(STEPS, isShared ? 3 : 1))
        expect((await runner.run({ [trouble]: at })).failed, String(at)).toBe(true);
      for (let n = 0; n < 3; n += 1) await runner.run();
      const last = await runner.run();
      expect(last.failed, last.steps.map(({ result }) => result?.stdout).join('')).toBe(false);
      expect(listing(stored)).toEqual(transcripts);
      expect(ordered(account).sort()).toEqual(urls);
      expect(listing(runner.artifact)).toEqual(transcripts);
    },
  );
});

describe.concurrent('the cron line of the README', { timeout: 90_000 }, () => {
  it('copies each transcript, though the copy fails at first and the folder is emptied', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'), audio('b'));
    const { path, stored } = refusingOnce('cp', '$1');
    mkdirSync(join(user.home, 'Dropbox'));
    const line = blockOf('cron').replace(/^(\S+ ){5}PATH=\S+ /, '');
    const cron = (): Promise<Result> =>
      finished(
        spawn('sh', ['-c', line], {
          cwd: user.home,
          env: { ...user.env, PATH: [path, installedTools()].join(delimiter) },
        }),
      );
    const first = await cron();
    expect([first.code, first.stderr.match(/failed: exit 22$/gm)?.length]).toEqual([1, 4]);
    expect(listing(stored)).toEqual([]);
    rmSync(join(user.home, 'transcripts'), { recursive: true });
    const second = await cron();
    expect([second.code, listing(stored)]).toEqual([0, ['1.docx', '1.txt', '2.docx', '2.txt']]);
    expect(await cron()).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });
});
