// Starts the benchmark: bundles it into a folder of its own, runs it there, and takes the folder away.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const folder = mkdtempSync(join(tmpdir(), 'steno-bench-'));
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction');
await build({
  entryPoints: ['main', 'service', 'bare', 'load', 'steady', 'undici'].map((name) => `test/bench/${name}.ts`),
  outdir: join(folder, 'bench'),
  outExtension: { '.js': '.mjs' },
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  external: ['@photostructure/sqlite', 'undici', 'pg'],
});
const inGroup = process.platform !== 'win32';
const child = spawn(process.execPath, [join(folder, 'bench/main.mjs'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  detached: inGroup,
});
// While it times something it hears no signal, so it is ended from here, with all that it started.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => (inGroup ? process.kill(-child.pid, 'SIGKILL') : child.kill()));
}
child.on('close', (code) => {
  for (const each of [folder, join('/dev/shm', basename(folder))])
    rmSync(each, { recursive: true, force: true });
  process.exitCode = code ?? 130;
});
