/** Writes what is made from the program: with `pages` the help pages of dist, else what is kept in the checkout. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { completionScript, keptScripts, type Shell } from './completion/script.ts';
import { fillSections, helpPages } from './docs.ts';

const [task, out] = process.argv.slice(2);
if (task === 'pages') {
  mkdirSync(`${out}/help`, { recursive: true });
  for (const [name, text] of helpPages()) writeFileSync(`${out}/help/${name}.txt`, text);
} else {
  mkdirSync('completions', { recursive: true });
  for (const [shell, path] of Object.entries(keptScripts))
    writeFileSync(path, completionScript(shell as Shell));
  if (existsSync('README.md')) writeFileSync('README.md', fillSections(readFileSync('README.md', 'utf8')));
}
