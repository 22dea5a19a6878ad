import { execFileSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';

/** Builds a copy in `package`, so that neither a rebuild nor a test run beside it changes what runs. */
export function buildCopy(folder: string): void {
  const root = join(folder, 'package');
  for (const name of ['src', 'bin', 'completions', 'package.json', 'rolldown.config.js', 'tsconfig.json'])
    cpSync(name, join(root, name), { recursive: true });
  execFileSync(process.execPath, ['rolldown.config.js'], { cwd: root, stdio: 'inherit' });
}
