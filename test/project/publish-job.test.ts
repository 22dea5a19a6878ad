/** The job that checks captions and quotations of a pull request, run with the build of this folder. */
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { orderingAccount } from '../support/ledger.ts';
import { blockOf } from '../support/readme.ts';
import { BIN } from '../support/steno.ts';

interface Step {
  readonly run?: string;
}

const execFileAsync = promisify(execFile);

const vtt = (text: string): string => `WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n<v Ada>${text}\n`;

it('marks faulty captions and wrong quotations of a pull request, in ten lines', async () => {
  const block = blockOf('publish job');
  expect(block.trimEnd().split('\n').length).toBeLessThanOrEqual(10);
  const { steps } = (parse(block) as { jobs: { check: { steps: Step[] } } }).jobs.check;
  const [fetching = '', checking = '', quoting = ''] = steps.flatMap(({ run }) => run ?? []);
  const { service, user, order } = await orderingAccount();
  expect((await order('https://media.example/1.mp3')).code).toBe(0);
  service.on('POST /audiofile/1/transcript.vtt', { body: vtt('We met in the old market.') });
  for (const folder of ['bin', 'captions', 'posts']) mkdirSync(join(user.home, folder));
  symlinkSync(BIN, join(user.home, 'bin', 'steno'));
  writeFileSync(join(user.home, 'talks.txt'), '1\n');
  const PATH = [join(user.home, 'bin'), process.env.PATH].join(delimiter);
  const run = (line: string) =>
    execFileAsync('sh', ['-c', line], { cwd: user.home, env: { ...user.env, PATH } }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
    );
  expect((await run(fetching.replace(/^npm install .*? && /, ''))).code).toBe(0);

  writeFileSync(join(user.home, 'captions', 'a.vtt'), vtt('Hello there.'));
  writeFileSync(join(user.home, 'posts', 'a.md'), 'Ada said: “We met in the old market.”\n');
  expect(await run(checking)).toMatchObject({ code: 0 });
  expect(await run(`${quoting} 2>&1`)).toMatchObject({ code: 0, stdout: '' });

  writeFileSync(join(user.home, 'captions', 'b.vtt'), vtt('Hello there.').replace(/00:02/, '00:00'));
  writeFileSync(join(user.home, 'posts', 'b.md'), 'One line.\n\nAda said: “We met in the new market.”\n');
  expect(await run(checking)).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^::error file=captions\/b\.vtt,line=\d/m),
  });
  expect(await run(quoting)).toEqual({
    code: 1,
    stdout: expect.stringMatching(/^::error file=posts\/b\.md,line=3/m),
  });
});
