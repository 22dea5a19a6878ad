/** The README's table "How it is tested", and the figures that it is made of. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runParts, summary } from '../proof/parts.ts';
import { type ProofName, type Proofs, readProofs, recordProof } from '../proof/record.ts';
import { withTable } from '../proof/table.ts';
import { freshFolder } from '../support/files.ts';

const readme = readFileSync('README.md', 'utf8');
const names: readonly ProofName[] = [
  'cases',
  'matrix cells',
  'crash points',
  'fuzz runs',
  'nodes',
  'mutants',
  'soak',
];
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

describe('the table', () => {
  it('has the figures of the last runs', () => {
    expect(withTable(readme, readProofs())).toBe(readme);
  });

  it('has a row for each run, and none for a run that was not made', () => {
    const one = { node: '20.0.0', date: '2026-01-01' };
    const proofs: Proofs = {
      cases: { figures: { 'npm test': 4321, 'test:long': 7 }, ...one },
      mutants: { figures: { killed: 1990, survivors: 10 }, ...one },
    };
    const table = withTable(readme, proofs).split('<!-- recorded: proof -->\n')[1]?.split('<!--')[0];
    const rows = table?.trimEnd().split('\n').slice(2) ?? [];
    expect(rows).toHaveLength(2);
    expect(rows[0]).toContain('| 4,321 (npm test), 7 (test:long) |');
    expect(rows[1]).toContain('| 1,990 of 2,000 |');
  });

  it('has room in the README with all its rows, and names scripts that are there', () => {
    const one = { figures: { cases: 1_000_000 }, node: '20.0.0', date: '2026-01-01' };
    const whole = withTable(readme, Object.fromEntries(names.map((name) => [name, one])));
    expect(whole.split('\n').filter((line) => line.endsWith('| 20.0.0, 2026-01-01 |'))).toHaveLength(7);
    expect(whole.trimEnd().split('\n').length).toBeLessThanOrEqual(500);
    const named = [...readme.matchAll(/`npm run ([\w:]+)`/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !(name in scripts))).toEqual([]);
    expect(Object.keys(readProofs()).filter((name) => !names.some((each) => each === name))).toEqual([]);
  });
});

describe('figures', () => {
  const before = process.env.STENO_PROOF;
  afterEach(() => {
    if (before === undefined) delete process.env.STENO_PROOF;
    else process.env.STENO_PROOF = before;
  });

  /** Neither of this project. */
  function freshPaths(): { readonly results: string; readonly readme: string } {
    const folder = freshFolder();
    const paths = { results: join(folder, 'results.json'), readme: join(folder, 'README.md') };
    writeFileSync(paths.results, '{}\n');
    writeFileSync(paths.readme, readme);
    return paths;
  }

  it('are kept only where that is asked for', () => {
    const paths = freshPaths();
    const kept = () => readProofs(paths.results);
    delete process.env.STENO_PROOF;
    recordProof('soak', { minutes: 30 }, paths);
    expect([kept(), readFileSync(paths.readme, 'utf8')]).toEqual([{}, readme]);
    process.env.STENO_PROOF = '1';
    recordProof('soak', { minutes: 30 }, paths);
    recordProof('cases', { 'npm test': 1, 'test:long': 2 }, paths);
    recordProof('cases', { 'npm test': 3 }, paths);
    expect(readFileSync(paths.readme, 'utf8')).toBe(withTable(readme, kept()));
    expect(kept()).toMatchObject({
      soak: { figures: { minutes: 30 }, node: process.versions.node },
      cases: { figures: { 'npm test': 3, 'test:long': 2 } },
    });
    expect(kept().soak?.date).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('of several processes at once are all kept', async () => {
    const paths = freshPaths();
    const module = join(freshFolder(), 'record.mjs');
    const { build } = await import('esbuild');
    await build({
      entryPoints: ['test/proof/record.ts'],
      outfile: module,
      bundle: true,
      format: 'esm',
      platform: 'node',
    });
    const script = (name: string) =>
      `import { recordProof } from ${JSON.stringify(module)};
      for (let at = 0; at < 20; at += 1) recordProof('fuzz runs', { ['${name}' + at]: 1 }, ${JSON.stringify(paths)});`;
    const codes = ['a', 'b', 'c', 'd'].map(
      (name) =>
        new Promise((done) => {
          const env = { ...process.env, STENO_PROOF: '1' };
          spawn(process.execPath, ['--input-type=module', '--eval', script(name)], { env }).on('close', done);
        }),
    );
    expect(await Promise.all(codes)).toEqual([0, 0, 0, 0]);
    expect(Object.keys(readProofs(paths.results)['fuzz runs']?.figures ?? {})).toHaveLength(80);
    expect(readdirSync(join(paths.results, '..')).sort()).toEqual(['README.md', 'results.json']);
  });
});

describe('a run of several parts', () => {
  const part = (name: string, script: string) => ({ name, command: [process.execPath, '-e', script] });

  it('runs all of them though one fails, and says which', async () => {
    const path = join(freshFolder(), 'order');
    const append = (text: string) => `fs.appendFileSync(${JSON.stringify(path)}, '${text}')`;
    const parts = [
      part('first', append('1')),
      part('second', `${append('2')}; process.exit(3)`),
      part('third', append('3')),
    ];
    const outcomes = await runParts(parts, [part('beside', "console.log('a leak'); process.exit(1)")]);
    expect(readFileSync(path, 'utf8')).toBe('123');
    expect(outcomes.map(({ name, code }) => [name, code])).toEqual([
      ['first', 0],
      ['second', 3],
      ['third', 0],
      ['beside', 1],
    ]);
    const text = summary(outcomes);
    expect(text).toContain('a leak');
    expect(text.match(/^(passed|FAILED) .*$/gm)?.map((line) => line.replace(/ .* /, ' '))).toEqual([
      'passed first',
      'FAILED second',
      'passed third',
      'FAILED beside',
    ]);
  });

  it('counts a command that can not be started as a failure', async () => {
    const [outcome] = await runParts([{ name: 'missing', command: ['no-such-program-here'] }]);
    expect(outcome?.code).not.toBe(0);
  });
});
