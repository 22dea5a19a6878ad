/**
 * Runs a program that is written in TypeScript: bundles it into a folder of its own, which STENO_SCRIPT_FOLDER names,
 * runs it, and deletes the folder. Node 20 can't read types.
 *
 *   node test/support/script.js test/bench/main.ts [<other programs that it starts>…] [<argument>…]
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { build } from 'rolldown';

const given = process.argv.slice(2);
const programs = given.filter((each) => /^test\/.*\.ts$/.test(each));
const args = given.filter((each) => !programs.includes(each));
const nameOf = (path) => basename(path, '.ts');
const [main] = programs;

const folder = mkdtempSync(join(tmpdir(), `steno-${nameOf(main)}-`));
// Tests may run programs as other users.
chmodSync(folder, 0o755);
symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction');
await build({
  input: Object.fromEntries(programs.map((path) => [nameOf(path), path])),
  platform: 'node',
  external: [/^@photostructure\/sqlite/, 'pg', 'undici', 'puppeteer-core', /^vitest/],
  transform: { target: 'node20' },
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: join(folder, 'programs'),
    format: 'esm',
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name].mjs',
  },
});

const inGroup = process.platform !== 'win32';
const child = spawn(process.execPath, [join(folder, 'programs', `${nameOf(main)}.mjs`), ...args], {
  stdio: 'inherit',
  detached: inGroup,
  env: { ...process.env, STENO_SCRIPT_FOLDER: folder },
});
// While the benchmark times something it hears no signal, so all is ended from here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => (inGroup ? process.kill(-child.pid, 'SIGKILL') : child.kill()));
child.on('close', (code) => {
  for (const each of [folder, join('/dev/shm', basename(folder))])
    rmSync(each, { recursive: true, force: true });
  process.exitCode = code ?? 130;
});
