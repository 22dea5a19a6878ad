/** Writes what is made from the program: the texts of dist, or the README's parts and the completions of the checkout. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Shell } from '../completion/model.ts';
import { completionScript, scriptPaths } from '../completion/shells.ts';
import { makeFolder } from '../lib/folders.ts';
import { commands } from './command-list.ts';
import { commandTree } from './command-tree.ts';
import { fillSections } from './docs.ts';
import { manFiles, manPages } from './man.ts';
import { catalogueTexts, helpPages } from './ready-texts.ts';

async function writeTexts(folder: string): Promise<void> {
  makeFolder(folder);
  for (const [name, text] of [...(await helpPages()), ...(await catalogueTexts())])
    writeFileSync(`${folder}/${name}.txt`, text);
}

/** Packed, because they are as long as all help texts together; man reads them so. */
async function writeManPages(folder: string): Promise<void> {
  makeFolder(folder);
  for (const { file, text } of await manPages())
    writeFileSync(`${folder}/${file}.gz`, gzipSync(text, { level: 9 }));
}

/** npm links the pages that package.json names, and takes no folder of them. */
function listManPages(): void {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { man: string[] };
  manifest.man = manFiles().map((file) => `dist/man/${file}.gz`);
  writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
}

function writeCheckout(): void {
  makeFolder('completions');
  for (const [shell, path] of Object.entries(scriptPaths))
    writeFileSync(path, completionScript(shell as Shell));
  if (existsSync('README.md')) writeFileSync('README.md', fillSections(readFileSync('README.md', 'utf8')));
}

const [task, out] = process.argv.slice(2);
// Not awaited, because the bundle is CommonJS; if it fails, node exits with 1 by itself.
if (task === 'texts') {
  writeFileSync(`${out}/completion.json`, JSON.stringify(commandTree(commands)));
  void Promise.all([writeTexts(`${out}/text`), writeManPages(`${out}/man`)]);
} else {
  writeCheckout();
  listManPages();
}
