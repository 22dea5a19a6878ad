// Runs the soak in a folder of its own, and takes that away. STENO_SOAK_MINUTES says how long; 30 if not.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const folder = mkdtempSync(join(tmpdir(), 'steno-soak-'));
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction');
// Builds a copy, so that neither a rebuild nor a test run beside it changes what runs.
for (const name of ['src', 'bin', 'completions', 'package.json', 'rolldown.config.js', 'tsconfig.json'])
  cpSync(name, join(folder, 'package', name), { recursive: true });
execFileSync(process.execPath, ['rolldown.config.js'], { cwd: join(folder, 'package'), stdio: 'inherit' });
await build({
  entryPoints: ['test/soak/soak.ts'],
  outfile: join(folder, 'soak.mjs'),
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['@photostructure/sqlite'],
});
const child = spawn(process.execPath, [join(folder, 'soak.mjs'), folder], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('close', (code) => {
  rmSync(folder, { recursive: true, force: true });
  process.exitCode = code ?? 130;
});
