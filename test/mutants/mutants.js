// Starts the run with mutants: bundles it into a folder of its own, runs it there, and takes the folder away.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const folder = mkdtempSync(join(tmpdir(), 'steno-mutants-'));
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
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('close', (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 130;
});
