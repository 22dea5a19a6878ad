/**
 * Puts faults into what guards money and secrets, one at a time, and lists those that no test finds. All faults of a
 * source are built into one copy of the project, in which a file says which of them is on.
 *
 *   npm run test:mutants -- src/ledger/claims.ts    a fault takes some seconds, a source up to an hour
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { startPostgres } from '../support/postgres.ts';
import { type Mutant, mutate } from './mutate.ts';
import { type Target, targets } from './targets.ts';

/** A fault that takes longer has made a loop without an end. */
const LIMIT_MS = 180_000;
const LEFT_OUT = /^(node_modules|\.git|dist(\..*)?)$/;
/** Tests that measure time or count steps tell nothing of a program that holds all faults. */
const NAMES = '^(?!.*(in proportion to|is quick|number of steps|few steps|in one pass))';

const root = join(process.env.STENO_SCRIPT_FOLDER ?? '', 'copy');
const chosen = join(root, 'chosen');

const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** A copy in which one source has all its mutants; none of them is on. */
function makeCopy(source: string, tests: readonly string[]): readonly Mutant[] {
  rmSync(root, { recursive: true, force: true });
  for (const name of readdirSync('.'))
    if (!LEFT_OUT.test(name)) cpSync(name, join(root, name), { recursive: true });
  symlinkSync(resolve('node_modules'), join(root, 'node_modules'), 'junction');
  const path = relative(dirname(source), 'src/mutant-switch.ts');
  const { source: text, mutants } = mutate(
    source,
    readFileSync(source, 'utf8'),
    1,
    path.startsWith('.') ? path : `./${path}`,
  );
  writeFileSync(join(root, source), text);
  writeFileSync(
    join(root, 'src/mutant-switch.ts'),
    `import { readFileSync } from 'node:fs';
const chosen = Number(readFileSync(${JSON.stringify(chosen)}, 'utf8'));
export const isMutant = (id: number): boolean => id === chosen;\n`,
  );
  writeFileSync(
    join(root, 'vitest.config.ts'),
    `export default { test: {
      setupFiles: ['test/support/seed.ts', 'test/support/hooks.ts'],
      include: ${JSON.stringify(tests)},
      testNamePattern: /${NAMES}/,
      testTimeout: 60_000,
      hookTimeout: 60_000,
      bail: 1,
    } };\n`,
  );
  writeFileSync(chosen, '0');
  execFileSync(process.execPath, ['rolldown.config.js'], { cwd: root, stdio: 'inherit' });
  return mutants;
}

/** Whether all tests pass with this mutant; 0 is none. */
function passes(id: number): boolean {
  writeFileSync(chosen, String(id));
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  const { status } = spawnSync(process.execPath, [vitest, 'run'], {
    cwd: root,
    stdio: 'ignore',
    timeout: LIMIT_MS,
  });
  return status === 0;
}

function trySource(source: string, { tests }: Target): number {
  const mutants = makeCopy(source, tests);
  say(`${source}: ${mutants.length} faults`);
  if (!passes(0)) throw new Error(`the tests of ${source} fail without a fault`);
  let survivors = 0;
  for (const { id, line, within, from, to } of mutants) {
    if (!passes(id)) continue;
    survivors += 1;
    say(`no test finds ${source}:${line} ${within}: ${from} -> ${to || '(left out)'}`);
  }
  return survivors;
}

const wanted = process.argv.slice(2);
const sources = targets
  .flatMap((target) => target.sources.map((source) => ({ source, target })))
  .filter(({ source }) => wanted.length === 0 || wanted.some((each) => source.includes(each)));
if (sources.length === 0) throw new Error(`test/mutants/targets.ts has no source ${wanted.join(' ')}`);
const server = await startPostgres(['max_connections = 200', 'fsync = off']);
process.env.STENO_TEST_POSTGRES = `postgres://postgres@127.0.0.1:${server.port}/postgres`;
try {
  for (const { source, target } of sources) say(`${trySource(source, target)} survive`);
} finally {
  await server.stop();
}
