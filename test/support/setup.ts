import { execFileSync } from 'node:child_process';
import { makeSharedFolder } from './compiled-code.ts';

/** Tests run what users run: the bundle, built once before the first test. */
export default function setup(): void {
  makeSharedFolder();
  execFileSync(process.execPath, ['rolldown.config.js'], { stdio: 'inherit' });
}
