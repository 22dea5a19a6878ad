/** The man pages: one for each command and topic, which groff reads without a warning. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { commandPaths, findCommands } from '../../src/cli/help-page.ts';
import type { Command } from '../../src/spec/command.ts';
import { commands, groups } from '../support/commands.ts';

const { man, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  man: string[];
  version: string;
};

const pages = commandPaths(commands).map((path) => ({
  name: path.join(' '),
  spec: findCommands(path, groups)?.at(-1) as Command,
}));

/** What a reader sees, and what groff has to say about it. */
function render(file: string): { readonly text: string; readonly warnings: string } {
  const input = gunzipSync(readFileSync(file));
  // -c: without colours and backspaces; wide, so that no line is broken.
  const args = ['-man', '-Tutf8', '-ww', '-P-cbou', '-rLL=400n'];
  const { stdout, stderr } = spawnSync('groff', args, { input, encoding: 'utf8' });
  return { text: stdout, warnings: stderr };
}

describe('the man pages', () => {
  it('are there for the program, each command and each topic, and package.json names them', () => {
    const built = readdirSync('dist/man').map((name) => `dist/man/${name}`);
    expect([...man].sort(), 'run: npm run generate').toEqual(built.sort());
    const wanted = commandPaths(commands).map((path) => `dist/man/steno-${path.join('-')}.1.gz`);
    const topics = ['options', 'exit-codes', 'environment', 'output', 'json', 'money', 'storage'];
    expect(built).toEqual(expect.arrayContaining([...wanted, 'dist/man/steno.1.gz']));
    expect(built).toEqual(expect.arrayContaining(topics.map((name) => `dist/man/steno-${name}.7.gz`)));
  });

  it('are read by groff without a warning', () => {
    const said = man.map((file) => [file, render(file).warnings]).filter(([, warnings]) => warnings !== '');
    expect(said).toEqual([]);
  }, 60_000);

  it.each(pages)('of $name has every flag and every example as it is typed', ({ name, spec }) => {
    const { options = {}, examples } = spec;
    const { text } = render(`dist/man/steno-${name.replaceAll(' ', '-')}.1.gz`);
    const flags = Object.values(options).map((option) => option.flags.replace('…', '...'));
    expect(flags.filter((each) => !text.includes(`   ${each}`))).toEqual([]);
    expect(examples.map(([line]) => line).filter((line) => !text.includes(`   ${line}\n`))).toEqual([]);
    expect(text).toContain(`steno ${version}`);
  });

  it('keep the lines of a file that is to be copied', () => {
    const { text } = render('dist/man/steno-service.7.gz');
    expect(text).toMatch(
      /\n +\[Service\]\n +User=steno\n[\s\S]*\n +ExecStart=\S+ listen --path \$\{STENO_HOOK\} \\\n/,
    );
  });

  it('point to each other and nowhere else', () => {
    const names = man.map((file) => file.replace(/^.*\/(.*)\.(\d)\.gz$/, '$1($2)'));
    const mentioned = man.flatMap((file) => render(file).text.match(/\bsteno[a-z-]*\(\d\)/g) ?? []);
    expect(mentioned.length).toBeGreaterThan(100);
    expect([...new Set(mentioned)].filter((name) => !names.includes(name))).toEqual([]);
  }, 60_000);
});
