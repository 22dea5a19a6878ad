/** README.md against the program: its generated parts, its claims and its pictures. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fillSections } from '../../src/cli/docs.ts';
import { topicNames, topicPage } from '../../src/cli/help-topics.ts';
import { parse } from '../../src/cli/main.ts';
import { exitCodes } from '../../src/lib/errors.ts';
import { shellWord } from '../../src/lib/text.ts';
import { scenarios } from '../../src/sandbox/scenarios.ts';
import { settingList } from '../../src/settings/settings.ts';
import { uploadRecipes } from '../../src/settings/upload-recipes.ts';
import type { Command } from '../../src/spec/command.ts';
import { globalOptions } from '../../src/spec/global-options.ts';
import type { Option } from '../../src/spec/options.ts';
import { pagePictures } from '../pictures/pages.ts';
import { sessions } from '../pictures/sessions.ts';
import { groups } from '../support/commands.ts';
import { blocks, byHand, readme } from '../support/readme.ts';
import { User } from '../support/steno.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
Object.assign(globalThis, { STENO_VERSION: version });

interface Named {
  readonly path: string;
  readonly command: Command;
}

const commands: readonly Named[] = groups
  .flatMap((group) => group.commands)
  .flatMap(function named(command: Command): Named[] {
    const children = (command.children ?? []).flatMap(named);
    return [
      { path: command.name, command },
      ...children.map((child) => ({ ...child, path: `${command.name} ${child.path}` })),
    ];
  });

const runnable = commands.filter(({ command }) => command.run).map(({ path }) => path);

const flagsOf = (options: Readonly<Record<string, Option>> = {}): string[] =>
  Object.values(options).flatMap((option) => option.flags.match(/--[a-z-]+/g) ?? []);

const allFlags = [
  ...new Set([...commands.flatMap(({ command }) => flagsOf(command.options)), ...flagsOf(globalOptions)]),
];

const has = (text: string, flag: string): boolean => new RegExp(`${flag}(?![a-z-])`).test(text);

describe('the text', () => {
  it('has at most 1,500 words', () => {
    expect(readme.split(/\s+/).length).toBeLessThanOrEqual(1500);
  });

  it('shows each of its tasks in fewer than ten lines', () => {
    const own = blocks
      .filter(({ path }) => path === 'README.md')
      .map(({ text }) => text.trimEnd().split('\n'));
    expect(own.length).toBeGreaterThan(7);
    expect(own.filter((lines) => lines.length >= 10)).toEqual([]);
  });

  it('has generated parts that are up to date: npm run generate', () => {
    for (const name of topicNames()) {
      const text = readFileSync(`src/help/${name}.md`, 'utf8');
      expect(fillSections(text, groups), name).toBe(text);
      expect(readFileSync(`dist/help/${name}.md`, 'utf8'), name).toBe(text);
    }
  });

  it('leads to a topic that lists every command', () => {
    const list = readFileSync('src/help/topics.md', 'utf8');
    expect(readme).toContain('](src/help/topics.md)');
    expect(runnable.filter((path) => !list.includes(`\`${path}\``))).toEqual([]);
  });

  it('mentions every alias and every setting', () => {
    const aliases = commands.flatMap(({ command }) => command.alias ?? []);
    expect(aliases.filter((alias) => !byHand.includes(`steno ${alias}`))).toEqual([]);
    const names = settingList.map(({ name }) => name);
    expect(names.filter((name) => !byHand.includes(`\`${name}\``))).toEqual([]);
  });

  it('has a changelog beside it that names every command and flag', () => {
    const changelog = readFileSync('CHANGELOG.md', 'utf8');
    const names = [...runnable, ...allFlags];
    expect(names.filter((name) => !new RegExp(`\`[^\`]*${name}\\b[^\`]*\``).test(changelog))).toEqual([]);
  });

  it('mentions no flag that is not there', () => {
    // Flags of other programs.
    const others =
      `--help --version --global --url --clobber --only-show-errors --expires-in --system --shell --now --init
      --env-file --entrypoint`.split(/\s+/);
    const known = new Set([...allFlags, ...others]);
    const mentioned = byHand.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [];
    expect([...new Set(mentioned)].filter((flag) => !known.has(flag))).toEqual([]);
  });

  it('says in a topic, for every exit code, what it means and what to do', () => {
    const rows = topicPage('exit-codes')?.sections[0]?.body.flat() ?? [];
    expect(rows).toHaveLength(Object.keys(exitCodes).length);
    Object.entries(exitCodes).forEach(([name, { code, when }], at) => {
      const [term, text = ''] = rows[at] ?? [];
      expect(term).toBe(`${code} ${name}`);
      expect(text.startsWith(when), text).toBe(true);
      expect(text.includes('. Next: ')).toBe(code !== 0);
    });
  });

  it('names the scenarios of the sandbox', () => {
    expect(scenarios.filter(({ word }) => !byHand.includes(`\`${word}\``))).toEqual([]);
  });

  it('links to every topic, and like them only to files that are there', () => {
    const linksOf = (path: string): string[] =>
      [...readFileSync(path, 'utf8').matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) =>
        join(dirname(path), target),
      );
    const topics = topicNames().map((name) => `src/help/${name}.md`);
    expect(topics.filter((path) => !linksOf('README.md').includes(path))).toEqual([]);
    expect(['README.md', ...topics].flatMap(linksOf).filter((target) => !existsSync(target))).toEqual([]);
  });

  it('shows every picture, for light and for dark, and says what is on it', () => {
    const pictures = [
      ...readme.matchAll(
        /^<picture><source media="\(prefers-color-scheme: dark\)" srcset="(\S+)-dark\.(?:svg|webp)"><img src="(\S+)-light\.(?:svg|webp)" alt="[^"]{20,}"><\/picture>$/gm,
      ),
    ].map(([, dark, light]) => [dark, light]);
    const wanted = [...sessions, ...pagePictures].map(({ name }) => `.github/pictures/${name}`);
    expect(pictures.sort()).toEqual(wanted.map((path) => [path, path]).sort());
    expect(readdirSync('.github/pictures')).toHaveLength(2 * wanted.length);
  });

  it('has only command lines that the program understands', async () => {
    const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'));
    const ours = lines.flatMap((line) => /^(?:[A-Z_]+=\S* |\w+=\$\()?steno (.*)$/.exec(line)?.[1] ?? []);
    expect(ours.length).toBeGreaterThan(40);
    for (const line of ours) {
      const [before = ''] = line.split(/\)$|\s+(?:[|<>#&]|&&|\|\|)(?:\s|$)/);
      const words = [...before.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
      await expect(parse(words.map(([, a, b, bare = '']) => a ?? b ?? bare)), line).resolves.toBeDefined();
    }
  });

  it('has on its first screen a line that sets up and orders, and one that runs the tests', () => {
    expect(blocks[0]?.text).toMatch(
      /^npm ci && \.\/bin\/steno\.js --sandbox order \S+ --sku \w+ --wait --download \.\n$/,
    );
    expect(blocks[1]?.text).toBe('npm ci && npm test\n');
    expect(blocks[1]?.line).toBeLessThan(30);
    expect(readFileSync('.ci/run', 'utf8')).toContain('npm ci && npm test');
  });

  it('installs from a clone or a tarball before the package is published, and by its name only after', async () => {
    const { stdout } = await new User().run(['help', 'service']);
    const byName = /npm (install|i|update) (--global|-g) steno-cli\b(?!-)/;
    const sentences = byHand.split(/\n\n|```/).filter((text) => byName.test(text));
    expect(byHand).toMatch(/^\*\*Before it is published:\*\* `steno` is not on npm yet\./m);
    expect(byHand).toMatch(/npm install --global \S*steno-cli-\*\.tgz/);
    expect(sentences).toEqual([
      expect.stringMatching(/^\*\*Once it is published,\*\* `npm install --global steno-cli`/),
    ]);
    expect(blocks.filter(({ text }) => byName.test(text))).toEqual([]);
    expect(stdout).not.toMatch(byName);
    expect(stdout).toContain('npm pack\n');
  });
});

describe('the help, which has what is too long for the README', () => {
  const user = new User();

  it.each(commands)('has every flag of $path, with a text', async ({ path, command }) => {
    const { stdout } = await user.run([...path.split(' '), '--help']);
    const options = Object.values(command.options ?? {});
    expect(options.filter(({ help }) => help.length < 10)).toEqual([]);
    expect(flagsOf(command.options).filter((flag) => !has(stdout, flag))).toEqual([]);
  });

  it('has every global option', async () => {
    const { stdout } = await user.run(['help', 'options']);
    expect(flagsOf(globalOptions).filter((flag) => !has(stdout, flag))).toEqual([]);
  });

  it('names every environment variable that the program reads', async () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const text = sources.map((path) => readFileSync(join('src', path), 'utf8')).join('\n');
    const names = [...text.matchAll(/\benv(?:\.|: '|\[')([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name);
    const platforms = /^(APPDATA|LOCALAPPDATA|XDG_\w+|TERM|SNAP|STENO_TEST_\w+)$/;
    expect(names).toContain('STENO_STATE_DIR');
    const ours = new Set(names.filter((name) => !platforms.test(name)));
    const { stdout } = await user.run(['help', 'environment']);
    expect([...ours].filter((name) => !new RegExp(`\\b${name}\\b`).test(stdout))).toEqual([]);
  });

  it('shows every upload command that can be copied, one step per line', async () => {
    const { stdout } = await user.run(['help', 'uploads']);
    const shown = stdout.replace(/ &&\n +/g, ' && ').replace(/upload-command '\n +/g, "upload-command '");
    const lines = uploadRecipes.map(({ command }) => `steno config set upload-command ${shellWord(command)}`);
    expect(lines.filter((line) => !shown.includes(`\n  ${line}\n`))).toEqual([]);
  });

  it('explains the scenarios of the sandbox', async () => {
    const { stdout } = await user.run(['help', 'sandbox']);
    expect(scenarios.filter(({ word }) => !stdout.includes(`  ${word} `))).toEqual([]);
  });

  it('has every topic that the README names', async () => {
    const named = [...byHand.matchAll(/`steno help ([\w-]+)`/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(5);
    for (const name of new Set(named)) {
      const { code, stdout } = await user.run(['help', name]);
      expect([name, code, stdout.length > 200]).toEqual([name, 0, true]);
    }
  });
});
