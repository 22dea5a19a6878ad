/** Writes what is made from the program: with `texts` those that dist answers with, else what the checkout keeps. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { Shell } from '../completion/model.ts';
import { completionScript, scriptPaths } from '../completion/script.ts';
import { commands } from './command-list.ts';
import { commandTree } from './command-tree.ts';
import { fillSections } from './docs.ts';
import { catalogueTexts, helpPages } from './ready-texts.ts';

const [task, out] = process.argv.slice(2);
if (task === 'texts') {
  mkdirSync(`${out}/text`, { recursive: true });
  const write = ([name, text]: [string, string]): void => writeFileSync(`${out}/text/${name}.txt`, text);
  helpPages().forEach(write);
  catalogueTexts().then((texts) => texts.forEach(write));
} else {
  mkdirSync('completions', { recursive: true });
  const tree = commandTree(commands);
  for (const [shell, path] of Object.entries(scriptPaths))
    writeFileSync(path, completionScript(shell as Shell, tree));
  if (existsSync('README.md')) writeFileSync('README.md', fillSections(readFileSync('README.md', 'utf8')));
}
