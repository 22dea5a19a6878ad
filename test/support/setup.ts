import { execFileSync } from 'node:child_process';
import { makeSharedFolder } from './compiled-code.ts';

/** Tests run what users run: the bundle, built once before the first test. */
export default function setup(): void {
  // Vitest calls this once more for each project.
  if (process.env.STENO_TEST_BUILD_OF === String(process.pid)) return;
  process.env.STENO_TEST_BUILD_OF = String(process.pid);
  makeSharedFolder();
  execFileSync(process.execPath, ['rolldown.config.js'], { stdio: 'inherit' });
}
