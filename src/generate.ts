/** Writes what is kept but made from the program: the completions, and the marked parts of README.md. */
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { completionScript, keptScripts, type Shell } from './completion/script.ts';
import { fillSections } from './docs.ts';

export function generate(): void {
  mkdirSync('completions', { recursive: true });
  for (const [shell, path] of Object.entries(keptScripts))
    writeFileSync(path, completionScript(shell as Shell));
  if (existsSync('README.md')) writeFileSync('README.md', fillSections(readFileSync('README.md', 'utf8')));
}

const executed = process.argv[1];
if (executed && realpathSync(executed) === fileURLToPath(import.meta.url)) generate();
