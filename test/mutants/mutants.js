// Starts the run with mutants: bundles it into a folder of its own, runs it there, and takes the folder away.
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

// In memory, where there is such a folder: thousands of ledgers are written and synced.
const memory = '/dev/shm';
const folder = mkdtempSync(join(existsSync(memory) ? memory : tmpdir(), 'steno-mutants-'));
mkdirSync(join(folder, 'tmp'));
chmodSync(folder, 0o755);
chmodSync(join(folder, 'tmp'), 0o777);
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction');
await build({
  entryPoints: ['main', 'host'].map((name) => `test/mutants/${name}.ts`),
  outdir: join(folder, 'mutants'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['vitest', 'pg'],
});
const child = spawn(process.execPath, [join(folder, 'mutants/main.mjs'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, TMPDIR: join(folder, 'tmp') },
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('close', (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 130;
});
