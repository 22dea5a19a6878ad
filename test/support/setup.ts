import { execFileSync } from 'node:child_process';

/** Tests run what users run: the bundle, built once before the first test. */
export default function setup(): void {
  execFileSync(process.execPath, ['esbuild.config.js'], { stdio: 'inherit' });
}
