/** Writes what is made from the program: the texts of dist, or of the checkout: completions, and parts of help topics. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Shell } from '../completion/model.ts';
import { completionScript, scriptPaths } from '../completion/shells.ts';
import { makeFolder } from '../lib/fs.ts';
import type { Group } from '../spec/command.ts';
import { commandTree } from './command-tree.ts';
import { catalogueTexts, fillSections, helpPages, manPages, skillText } from './docs.ts';
import { loadGroups } from './registry.ts';

async function writeTexts(folder: string, groups: readonly Group[]): Promise<void> {
  makeFolder(folder);
  for (const [name, text] of [...helpPages(groups), ...(await catalogueTexts())])
    writeFileSync(`${folder}/${name}.txt`, text);
}

/** Packed, because they are as long as all help texts together; man reads them so. */
function writeManPages(folder: string, groups: readonly Group[]): void {
  makeFolder(folder);
  for (const { file, text } of manPages(groups))
    writeFileSync(`${folder}/${file}.gz`, gzipSync(text, { level: 9 }));
}

/** npm links the pages that package.json names, and takes no folder of them. */
function listManPages(groups: readonly Group[]): void {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { man: string[] };
  manifest.man = manPages(groups).map(({ file }) => `dist/man/${file}.gz`);
  writeFileSync('package.json', `${JSON.stringify(manifest, null, 2)}\n`);
}

function writeCheckout(groups: readonly Group[]): void {
  makeFolder('completions');
  for (const [shell, path] of Object.entries(scriptPaths))
    writeFileSync(path, completionScript(shell as Shell));
  writeTopics('src/help', groups);
}

/** The parts that are made from the program are filled in, also if the file in src was not. */
function writeTopics(folder: string, groups: readonly Group[]): void {
  for (const file of readdirSync(folder)) {
    const path = `${folder}/${file}`;
    writeFileSync(path, fillSections(readFileSync(path, 'utf8'), groups));
  }
}

async function generate(task: string | undefined, out: string | undefined): Promise<void> {
  const groups = await loadGroups();
  if (task === 'texts') {
    writeTopics(`${out}/help`, groups);
    writeFileSync(`${out}/completion.json`, JSON.stringify(commandTree(groups)));
    await writeTexts(`${out}/text`, groups);
    writeManPages(`${out}/man`, groups);
    writeFileSync(`${out}/SKILL.md`, skillText());
  } else {
    writeCheckout(groups);
    listManPages(groups);
  }
}

// Not awaited, because the bundle is CommonJS; if it fails, node exits with 1 by itself.
void generate(process.argv[2], process.argv[3]);
