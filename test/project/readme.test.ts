/** README.md against the program: its generated parts, its claims, and its examples, which are run for real. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { groups } from '../../src/cli/command-list.ts';
import type { Command } from '../../src/cli/command-spec.ts';
import { fillSections } from '../../src/cli/docs.ts';
import { globalOptions } from '../../src/cli/global-options.ts';
import type { Option } from '../../src/cli/options.ts';
import { parse } from '../../src/cli/program.ts';
import { uploadRecipes } from '../../src/flows/uploads/recipes.ts';
import { exitCodes } from '../../src/lib/errors.ts';
import { shellWord } from '../../src/lib/shell-word.ts';
import { scenarios } from '../../src/sandbox/scenarios.ts';
import { freshFolder } from '../support/files.ts';
import { BIN, finished, type Result } from '../support/steno.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
Object.assign(globalThis, { STENO_VERSION: version });

const readme = readFileSync('README.md', 'utf8');
const byHand = readme.replace(/<!-- generated: (\S+) -->[\s\S]*?<!-- end: \1 -->/g, '');

interface Block {
  /** What the comment before it says: `run`, `prints`, … */
  readonly mark: string;
  readonly details: string;
  readonly language: string;
  readonly text: string;
  readonly line: number;
}

/** Every fenced block, with the comment that stands right before it. */
const blocks: readonly Block[] = [
  ...byHand.matchAll(/(?:<!-- (\w+)(?:: ([^>]*))? -->\n)?```(\w*)\n([\s\S]*?)```\n/g),
].map(([, mark = '', details = '', language = '', text = ''], at, all) => ({
  mark,
  details,
  language,
  text,
  line: readme.slice(0, readme.indexOf(all[at]?.[0] ?? '')).split('\n').length,
}));

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

const runnable = commands.filter(({ command }) => command.load).map(({ path }) => path);

const flagsOf = (options: Readonly<Record<string, Option>> = {}): string[] =>
  Object.values(options).flatMap((option) => option.flags.match(/--[a-z-]+/g) ?? []);

describe('the text', () => {
  it('has generated parts that are up to date: npm run generate', () => {
    const names = [...readme.matchAll(/<!-- generated: (\S+) -->/g)].map(([, name]) => name);
    expect(names.sort()).toEqual(['bench', 'commands', 'exit-codes', 'global-options', 'help', 'settings']);
    expect(fillSections(readme)).toBe(readme);
  });

  it.each(runnable)('shows how to use %s', (path) => {
    expect(new RegExp(`steno (?:--sandbox )?${path}\\b`).test(byHand)).toBe(true);
  });

  it('mentions every alias', () => {
    const aliases = commands.flatMap(({ command }) => command.alias ?? []);
    expect(aliases.filter((alias) => !byHand.includes(`steno ${alias}`))).toEqual([]);
  });

  it('mentions every flag', () => {
    const flags = [...commands.flatMap(({ command }) => flagsOf(command.options)), ...flagsOf(globalOptions)];
    expect([...new Set(flags)].filter((flag) => !new RegExp(`${flag}(?![a-z-])`).test(readme))).toEqual([]);
  });

  it('has a changelog beside it that names every command and flag', () => {
    const changelog = readFileSync('CHANGELOG.md', 'utf8');
    const flags = [...commands.flatMap(({ command }) => flagsOf(command.options)), ...flagsOf(globalOptions)];
    const names = [...runnable, ...flags];
    expect(
      [...new Set(names)].filter((name) => !new RegExp(`\`[^\`]*${name}\\b[^\`]*\``).test(changelog)),
    ).toEqual([]);
  });

  it('mentions no flag that is not there', () => {
    const flags = [...commands.flatMap(({ command }) => flagsOf(command.options)), ...flagsOf(globalOptions)];
    // Flags of npm, cloudflared and aws, and the slip that the example of an error makes.
    const known = new Set([
      ...[...flags, '--help', '--version', '--global', '--url', '--skus'],
      ...['--only-show-errors', '--expires-in'],
    ]);
    const mentioned = byHand.match(/(?<![\w-])--[a-z][a-z-]*/g) ?? [];
    expect([...new Set(mentioned)].filter((flag) => !known.has(flag))).toEqual([]);
  });

  it('says for every exit code what it means and what to do', () => {
    const [, troubles = ''] = /### Troubleshooting\n([\s\S]*?)\n## /.exec(byHand) ?? [];
    const rows = [...troubles.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
    const codes = Object.values(exitCodes).map(({ code }) => code as number);
    expect(rows).toEqual(codes.filter((code) => code !== 0));
    expect(codes.filter((code) => !new RegExp(`^\\| ${code} \\| \\w+ \\|`, 'm').test(readme))).toEqual([]);
  });

  it('shows every upload command that can be copied', () => {
    const lines = uploadRecipes.map(({ command }) => `steno config set upload-command ${shellWord(command)}`);
    expect(lines.filter((line) => !byHand.includes(`\n${line}\n`))).toEqual([]);
  });

  it('lists the scenarios of the sandbox', () => {
    const rows = scenarios.map(({ word, what }) => `| \`${word}\` | ${what} |`);
    expect(rows.filter((row) => !byHand.includes(row))).toEqual([]);
  });

  it('names every environment variable that the program reads', () => {
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const text = sources.map((path) => readFileSync(join('src', path), 'utf8')).join('\n');
    const names = [...text.matchAll(/\benv(?:\.|: '|\[')([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name);
    const platforms = /^(APPDATA|LOCALAPPDATA|XDG_\w+|TERM|SNAP)$/;
    expect(names).toContain('STENO_STATE_DIR');
    const ours = new Set(names.filter((name) => !platforms.test(name)));
    expect([...ours].filter((name) => !byHand.includes(`\`${name}\``))).toEqual([]);
  });

  it('links to headings that are there', () => {
    const anchors = [...readme.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...byHand.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']) => anchor);
    expect(links.filter((anchor) => !anchors.includes(anchor))).toEqual([]);
  });

  it('has only command lines that the program understands', () => {
    const lines = blocks.filter(({ language }) => language === 'sh').flatMap(({ text }) => text.split('\n'));
    const ours = lines.flatMap((line) => /^(?:[A-Z_]+=\S* )?steno (.*)$/.exec(line)?.[1] ?? []);
    expect(ours.length).toBeGreaterThan(40);
    for (const line of ours) {
      const [before = ''] = line.split(/\s+(?:[|<>#&]|&&|\|\|)(?:\s|$)/);
      const words = [...before.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare = '']) => quoted ?? bare);
      if (!line.includes('--skus')) expect(() => parse(words), line).not.toThrow();
    }
  });

  it('begins with one line that sets up and does the main job, and has one that runs the tests', () => {
    expect(blocks[0]?.text).toMatch(
      /^npm ci && \.\/bin\/steno\.js --sandbox order \S+ --sku \w+ --wait --download \.\n$/,
    );
    expect(blocks.some(({ text }) => text === 'npm ci && npm test\n')).toBe(true);
    expect(readFileSync('.ci/run', 'utf8')).toContain('npm ci && npm test');
  });
});

const root = freshFolder();
const tools = join(root, 'bin');
mkdirSync(tools);
symlinkSync(BIN, join(tools, 'steno'));

/** A new user in a new folder that holds the files which the README shows. */
class Reader {
  readonly folder = freshFolder();
  readonly env: Record<string, string | undefined>;

  constructor(env: Record<string, string> = {}) {
    this.env = {
      PATH: [tools, dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: join(this.folder, 'home'),
      TERM: 'xterm-256color',
      ...env,
    };
    mkdirSync(join(this.folder, 'home'));
    writeFileSync(join(this.folder, 'key.txt'), 'a-key-of-a-reader\n');
    for (const { mark, details, text } of blocks) {
      if (mark === 'file') writeFileSync(join(this.folder, details), text);
    }
  }

  bash(script: string): Promise<Result> {
    return this.#run('bash', ['-e', '-o', 'pipefail', '-c', script]);
  }

  /** On a pseudo-terminal, with what goes to stderr left out. */
  onTerminal(script: string): Promise<Result> {
    writeFileSync(join(this.folder, 'script.sh'), `stty cols 100 rows 40\n${script}`);
    return this.#run('script', ['-qec', 'bash -e script.sh 2>/dev/null', '/dev/null']);
  }

  #run(file: string, args: readonly string[]): Promise<Result> {
    const child = spawn(file, args, { cwd: this.folder, env: this.env });
    child.stdin.end();
    return finished(child);
  }
}

const sandboxed = { STENO_PROFILE: 'sandbox' };
const plain = (text: string): string => text.replace(/\x1b\[[\d;?]*[A-Za-z]/g, '').replace(/[ \t\r]+$/gm, '');

/** The words of an example that are never the same twice stand for whatever is printed in their place. */
function expectSame(printed: string, block: Block): void {
  const varying = /^(\w+) varies$/.exec(block.details)?.[1];
  const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = varying ? block.text.split(varying).map(literal).join('(\\w+ *)') : literal(block.text);
  if (!varying) expect(plain(printed)).toBe(block.text);
  else expect(plain(printed)).toMatch(new RegExp(`^${pattern.replaceAll('(\\w+ *) +', '(\\w+ *)')}$`));
}

describe.concurrent('the examples', () => {
  const runs = blocks.flatMap((block, at) => (block.mark === 'run' ? [{ ...block, at }] : []));

  it.each(runs)(
    'run as they stand: line $line',
    async ({ text, details, at }) => {
      const reader = new Reader(details.includes('own settings') ? {} : sandboxed);
      const port = /port (\d+)/.exec(details)?.[1];
      const script = port ? text.replaceAll(port, String(20_000 + (process.pid % 20_000))) : text;
      const result = await (details.includes('terminal') ? reader.onTerminal(script) : reader.bash(script));
      const wanted = Number(/exit (\d+)/.exec(details)?.[1] ?? 0);
      expect(result.code, `${text}\n${result.stdout}\n${result.stderr}`).toBe(wanted);
      const next = blocks[at + 1];
      if (next?.mark === 'prints') expectSame(result.stdout, next);
      if (next?.mark === 'warns') expectSame(result.stderr, next);
    },
    120_000,
  );

  it('of the first line gives a transcript', async () => {
    const reader = new Reader();
    const line = (blocks[0]?.text ?? '').replace('npm ci && ./bin/steno.js', 'steno');
    const result = await reader.bash(line);
    expect(result.code, result.stderr).toBe(0);
    expect(readFileSync(join(reader.folder, '1001.txt'), 'utf8')).toContain('https://example.com/talk.mp3');
  }, 60_000);

  it('of a cron line fetch what is new, and are silent when nothing is', async () => {
    const line = blocks.find(({ mark }) => mark === 'cron')?.text ?? '';
    const command = line.replace(/^(\S+ ){5}/, '').replace('steno sync', 'steno --sandbox sync');
    const reader = new Reader();
    await reader.bash('steno --sandbox order https://example.com/talk.mp3 --sku TRANS14 --wait');
    const first = await reader.bash(command);
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout.trim().split('\n')).toHaveLength(2);
    expect(existsSync(join(reader.folder, 'home', 'transcripts', '1001.docx'))).toBe(true);
    expect(await reader.bash(command)).toMatchObject({ code: 0, stdout: '', stderr: '' });
  }, 60_000);
});
