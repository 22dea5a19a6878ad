/** Packs the package once and installs it into an empty prefix, as a user does; every test of this folder runs that. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { hasPostgres } from '../support/postgres-programs.ts';
import setUpPostgres from '../support/setup-postgres.ts';
import { fetchNodes } from './node-versions.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    prefix: string;
    tarball: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  fetchNodes();
  const folder = mkdtempSync(join(tmpdir(), 'steno-nodes-'));
  const prefix = join(folder, 'prefix');
  const empty = join(folder, 'empty');
  mkdirSync(empty);
  const npm = (...args: string[]): string =>
    execFileSync('npm', [...args, '--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  // The build is there: the setup of all tests has made it.
  const said = npm('pack', '--ignore-scripts', '--json', '--pack-destination', folder);
  const [packed] = JSON.parse(said) as Array<{ readonly filename: string }>;
  if (!packed) throw new Error(`npm pack made nothing: ${said}`);
  const tarball = join(folder, packed.filename);
  npm('install', '--global', '--prefix', prefix, '--prefer-offline', '--ignore-scripts', tarball);
  project.provide('prefix', prefix);
  project.provide('tarball', tarball);
  const stopPostgres = hasPostgres || process.env.CI ? await setUpPostgres(project) : undefined;
  return async () => {
    await stopPostgres?.();
    rmSync(folder, { recursive: true, force: true });
  };
}
