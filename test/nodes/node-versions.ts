/** The Nodes that users have, from the npm registry, kept in a cache folder outside of the project. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export const versions = ['20', '22', '24', '26'] as const;

export type NodeVersion = (typeof versions)[number];

/** `STENO_NODES` names another folder; to get newer releases, delete it. */
const folder =
  process.env.STENO_NODES ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'steno-test-nodes', process.arch);

/** The folder of the program `node` of a version, to put into PATH. */
export const binFolder = (version: NodeVersion): string => join(folder, 'node_modules', `n${version}`, 'bin');

/** Fetches them if they are not there; about 730 MB. */
export function fetchNodes(): void {
  if (versions.every((version) => existsSync(join(binFolder(version), 'node')))) return;
  mkdirSync(join(folder, '..'), { recursive: true });
  // In a folder of its own that then gets its name: a run that is interrupted leaves nothing half there.
  const draft = mkdtempSync(`${folder}.`);
  try {
    const packages = versions.map((version) => `n${version}@npm:${packageName()}@${version}`);
    const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
    execFileSync('npm', ['install', '--no-save', '--ignore-scripts', ...quiet, ...packages], {
      cwd: draft,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    rmSync(folder, { recursive: true, force: true });
    renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

const packageName = (): string => `node-${process.platform}-${process.arch}`;
