/** The parts of `.ci/run`: the slice of the long tests, and what it makes of the reports of its test runs. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';

type Status = 'passed' | 'failed' | 'skipped';

interface Given {
  /** The test files on disk. */
  readonly files: readonly string[];
  /** By run, and in it by file: what became of its tests, and how long they took. */
  readonly runs: Readonly<Record<string, Readonly<Record<string, readonly [Status[], number]>>>>;
  readonly failedBefore?: number;
  readonly exitCode?: number;
  readonly expected?: readonly string[];
}

function summary({ files, runs, failedBefore = 0, exitCode = 0, expected = Object.keys(runs) }: Given): {
  readonly code: number | null;
  readonly lines: readonly string[];
} {
  const folder = freshFolder();
  for (const file of files) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    writeFileSync(join(folder, file), '');
  }
  for (const [run, results] of Object.entries(runs)) {
    const all = Object.values(results).flatMap(([statuses]) => statuses);
    const report = {
      numPassedTests: all.filter((status) => status === 'passed').length,
      numFailedTests: all.filter((status) => status === 'failed').length,
      testResults: Object.entries(results).map(([file, [statuses, took]]) => ({
        name: join(folder, file),
        startTime: 1000,
        endTime: 1000 + took,
        assertionResults: statuses.map((status, n) => ({
          status,
          fullName: `case ${n + 1}`,
          failureMessages: status === 'failed' ? ['AssertionError: 1 is not 2\n    at a line'] : [],
        })),
      })),
    };
    writeFileSync(join(folder, `${run}.json`), JSON.stringify(report));
  }
  const args = [folder, failedBefore, exitCode, ...expected].map(String);
  const { status, stdout } = spawnSync(process.execPath, [resolve('.ci/summary.js'), ...args], {
    cwd: folder,
    encoding: 'utf8',
  });
  return { code: status, lines: stdout.trimEnd().split('\n') };
}

const [a, b] = ['test/x/a.test.ts', 'test/b.test.ts'];

describe('the summary of a run of CI', () => {
  it('ends with the sum of all runs', () => {
    const { code, lines } = summary({
      files: [a, b],
      runs: { one: { [a]: [['passed', 'passed', 'skipped'], 10] }, two: { [b]: [['passed'], 10] } },
    });
    expect([code, lines.at(-1)]).toEqual([0, '3 passed, 0 failed']);
  });

  it('fails where a test failed', () => {
    const { code, lines } = summary({ files: [a], runs: { one: { [a]: [['passed', 'failed'], 10] } } });
    expect([code, lines.at(-1)]).toEqual([1, '1 passed, 1 failed']);
    expect(lines.slice(-4, -1)).toEqual([
      `failed in the run 'one': ${a} > case 2`,
      '    AssertionError: 1 is not 2',
      '        at a line',
    ]);
  });

  it('fails where a test file ran in no run, or only skipped its tests', () => {
    const { code, lines } = summary({
      files: [a, b, 'test/c.test.ts'],
      runs: { one: { [a]: [['passed'], 10], [b]: [['skipped'], 0] } },
    });
    expect([code, lines.at(-1)]).toEqual([1, '1 passed, 2 failed']);
    expect(lines).toEqual(expect.arrayContaining([`no test ran of ${b}`, 'no test ran of test/c.test.ts']));
  });

  it('takes a file that another run skipped', () => {
    const { code } = summary({
      files: [a],
      runs: { one: { [a]: [['skipped'], 0] }, two: { [a]: [['passed'], 5] } },
    });
    expect(code).toBe(0);
  });

  it('fails where a run left no report, an earlier step failed, or vitest failed without a failed test', () => {
    const runs: Given['runs'] = { one: { [a]: [['passed'], 10] } };
    const given = { files: [a], runs };
    const cases = [
      summary({ ...given, expected: ['one', 'two'] }),
      summary({ ...given, failedBefore: 1 }),
      summary({ ...given, failedBefore: 1, exitCode: 1 }),
      summary({ ...given, exitCode: 1 }),
    ];
    for (const { code, lines } of cases) expect([code, lines.at(-1)]).toEqual([1, '1 passed, 1 failed']);
    expect(cases[0]?.lines).toContain("the run 'two' left no report");
  });

  it('names the ten slowest files before the result', () => {
    const files = Array.from({ length: 12 }, (_, n) => `test/f${n}.test.ts`);
    const run = Object.fromEntries(
      files.map((file, n): [string, [Status[], number]] => [file, [['passed'], n * 1000]]),
    );
    const { lines } = summary({
      files,
      runs: { one: run, two: { 'test/f3.test.ts': [['passed'], 60_000] } },
    });
    expect(lines).toHaveLength(12);
    expect(lines.slice(1, 4)).toEqual([
      '    63 s  test/f3.test.ts',
      '    11 s  test/f11.test.ts',
      '    10 s  test/f10.test.ts',
    ]);
  });
});

describe('the tests of a long file', () => {
  const file = `
    const ran = (name) => () => console.log('ran ' + name + '.');
    it('a', ran('a'));
    describe('some', () => {
      it.each(['b', 'c'])('%s', (name) => ran(name)());
      it.skip('never', ran('never'));
      describe.concurrent('more', () => {
        it('d', ran('d'));
        it('e', ran('e'));
      });
    });`;

  const folder = freshFolder();
  writeFileSync(join(folder, 'some.test.js'), file);
  const config = { globals: true, setupFiles: [resolve('test/support/slice-tests.ts')] };
  writeFileSync(join(folder, 'vitest.config.mjs'), `export default { test: ${JSON.stringify(config)} }`);

  function runSlice(slice: string): string[] {
    const vitest = resolve('node_modules/vitest/vitest.mjs');
    const { status, stdout, stderr } = spawnSync(process.execPath, [vitest, 'run', '--root', folder], {
      env: { PATH: process.env.PATH, NO_COLOR: '1', STENO_MATRIX: 'all', STENO_SLICE: slice },
      encoding: 'utf8',
    });
    expect(status, stdout + stderr).toBe(0);
    return [...stdout.matchAll(/^ran (\w+)\.$/gm)].map(([, name = '']) => name);
  }

  it('are run in one of the slices each, and in each slice is one of them', () => {
    const slices = ['1/3', '2/3', '3/3'].map(runSlice);
    for (const ran of slices) expect(ran.length).toBeGreaterThan(0);
    expect(slices.flat().sort()).toEqual(['a', 'b', 'c', 'd', 'e']);
  }, 60_000);
});
