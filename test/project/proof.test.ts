/** The README's table "How it is tested", and the figures that it is made of. */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Proofs, readProofs, recordProof } from '../proof/record.ts';
import { withTable } from '../proof/table.ts';
import { freshFolder } from '../support/files.ts';

const readme = readFileSync('README.md', 'utf8');
const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

describe('the table', () => {
  it('has the figures of the last runs: npm run proof:table', () => {
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

  it('names scripts that are there', () => {
    const all = ['cases', 'matrix cells', 'crash points', 'fuzz runs', 'nodes', 'mutants', 'soak'] as const;
    const known = all.filter((name) => readProofs()[name]);
    const named = [...withTable(readme, readProofs()).matchAll(/`npm run ([\w:]+)`/g)].map(
      ([, name]) => name,
    );
    expect(named.filter((name) => !(`${name}` in scripts))).toEqual([]);
    expect(Object.keys(readProofs()).sort()).toEqual([...known].sort());
  });
});

describe('figures', () => {
  const before = process.env.STENO_PROOF;
  afterEach(() => {
    if (before === undefined) delete process.env.STENO_PROOF;
    else process.env.STENO_PROOF = before;
  });

  function freshResults(): string {
    const path = join(freshFolder(), 'results.json');
    writeFileSync(path, '{}\n');
    return path;
  }

  it('are kept only where that is asked for', () => {
    const path = freshResults();
    delete process.env.STENO_PROOF;
    recordProof('soak', { minutes: 30 }, path);
    expect(readProofs(path)).toEqual({});
    process.env.STENO_PROOF = '1';
    recordProof('soak', { minutes: 30 }, path);
    recordProof('cases', { 'npm test': 1, 'test:long': 2 }, path);
    recordProof('cases', { 'npm test': 3 }, path);
    expect(readProofs(path)).toMatchObject({
      soak: { figures: { minutes: 30 }, node: process.versions.node },
      cases: { figures: { 'npm test': 3, 'test:long': 2 } },
    });
    expect(readProofs(path).soak?.date).toMatch(/^\d{4}-\d\d-\d\d$/);
  });

  it('of several processes at once are all kept', async () => {
    const path = freshResults();
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
      for (let at = 0; at < 20; at += 1) recordProof('fuzz runs', { ['${name}' + at]: 1 }, ${JSON.stringify(path)});`;
    const codes = ['a', 'b', 'c', 'd'].map(
      (name) =>
        new Promise((done) => {
          const env = { ...process.env, STENO_PROOF: '1' };
          spawn(process.execPath, ['--input-type=module', '--eval', script(name)], { env }).on('close', done);
        }),
    );
    expect(await Promise.all(codes)).toEqual([0, 0, 0, 0]);
    expect(Object.keys(readProofs(path)['fuzz runs']?.figures ?? {})).toHaveLength(80);
    expect(readdirSync(join(path, '..'))).toEqual(['results.json']);
  });
});
