/** The run with mutants itself, on a small example. */
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';
import { mutate } from './mutate.ts';
import { targets } from './targets.ts';

const mutantsOf = (source: string): string[] =>
  mutate('a.ts', source, 1, './switch.ts').mutants.map(({ from, to }) => `${from} -> ${to}`);

describe('mutants', () => {
  it.each<[string, string[]]>([
    ['if (a && b) c();', ['a && b -> true', 'a && b -> false', 'a && b -> a', 'a && b -> b', 'c(); -> ']],
    ['const x = a < 3;', ['a < 3 -> a <= 3', '3 -> 4']],
    ['const x = a ?? b;', ['a ?? b -> a', 'a ?? b -> b']],
    ['const x = [a(), b()];', ['a() -> ', 'b() -> ']],
    ['const x = a.filter(b).some(c);', ['a.filter(b).some(c) -> a.filter(b).every(c)', 'a.filter(b) -> a']],
    [
      "throw usage('no', { hint: a ? 1 : 2 });",
      ["throw usage('no', { hint: a ? 1 : 2 }); -> ", "'no' -> ''"],
    ],
    ["const x = /^a$/i.test('two words');", ['/^a$/i -> /a$/i', '/^a$/i -> /^a/i', '/^a$/i -> /^a$/']],
    [
      "const x = 'DELETE FROM t WHERE a = ? AND b = 1';",
      [
        "'DELETE FROM t WHERE a = ? AND b = 1' -> 'DELETE FROM t WHERE (a = ? OR 1 = 1) AND b = 1'",
        "'DELETE FROM t WHERE a = ? AND b = 1' -> 'DELETE FROM t WHERE (a = ? AND 1 = 0) AND b = 1'",
        "'DELETE FROM t WHERE a = ? AND b = 1' -> 'DELETE FROM t WHERE a = ? AND (b = 1 OR 1 = 1)'",
      ],
    ],
    ['type A = 1 | 2; const x: A = y as 1;', []],
  ])('of %s', (source, expected) => {
    expect(mutantsOf(source)).toEqual(expected);
  });

  it('leave the program as it is while none is chosen, and change it when one is', async () => {
    const folder = freshFolder();
    const source = `
      const list: readonly number[] = [1, 2, 3];
      const sum = (from: number): number => list.filter((n) => n >= from).reduce((all, n) => all + n, 0);
      export function tell(from: number | undefined): string {
        if (from === undefined) return 'none';
        const found = { list }?.list.slice(1)?.length;
        return \`\${sum(from)} \${found ?? 0}\`;
      }
      console.log(tell(2), tell(undefined));
    `;
    const { source: mutated, mutants } = mutate('a.ts', source, 1, './switch.ts');
    writeFileSync(join(folder, 'a.ts'), mutated);
    writeFileSync(
      join(folder, 'switch.ts'),
      'export const isMutant = (id) => String(id) === process.env.MUTANT;',
    );
    await build({
      input: join(folder, 'a.ts'),
      platform: 'node',
      output: { file: join(folder, 'a.mjs'), format: 'esm' },
    });
    const printed = (id: number): string =>
      execFileSync(process.execPath, [join(folder, 'a.mjs')], {
        encoding: 'utf8',
        env: { MUTANT: String(id) },
      });
    const idOf = (from: string, to: string): number =>
      mutants.find((each) => each.from === from && each.to === to)?.id ?? 0;
    expect(printed(0)).toBe('5 2 none\n');
    expect(printed(idOf('n >= from', 'n > from'))).toBe('3 2 none\n');
    expect(printed(idOf('from === undefined', 'true'))).toBe('none none\n');
    expect(printed(idOf('list.filter((n) => n >= from)', 'list'))).toBe('6 2 none\n');
  });
});

it('are put into sources that exist, and tried with tests that do', () => {
  for (const { sources, tests } of targets)
    for (const file of [...sources, ...tests]) expect(existsSync(file), file).toBe(true);
});
