/** The pages of help: what stands on the first screen, how they are laid out, and what topics there are. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { firstLines, helpText } from '../../src/cli/help.ts';
import { commandPaths, findCommands } from '../../src/cli/help-page.ts';
import { topicMarkdown, topicNames } from '../../src/cli/help-topics.ts';
import { exitCodes } from '../../src/lib/errors.ts';
import { settingNames } from '../../src/settings/settings.ts';
import type { Command } from '../../src/spec/command.ts';
import { globalOptions } from '../../src/spec/global-options.ts';
import type { Option } from '../../src/spec/options.ts';
import { commands, groups } from '../support/commands.ts';
import { User } from '../support/steno.ts';
import { topicBlocks } from '../support/topics.ts';

const pages = commandPaths(commands).map((path) => ({
  name: path.join(' '),
  path,
  spec: findCommands(path, groups)?.at(-1) as Command,
}));
const oneLine = (text: string): string => text.replace(/\s+/g, ' ');
const rows = (text: string): string[] => text.trimEnd().split('\n');

/** Lines that are wider, without command lines to paste and words that fit in no line. */
function tooWide(text: string, width: number, examples: readonly string[]): string[] {
  const wider = rows(text).filter((line) => line.length > width);
  return wider.filter(
    (line) => ![line, line.split('  # ')[0] ?? ''].some((each) => examples.includes(each.trim())),
  );
}

describe('the first screen', () => {
  it.each([80, 60])(
    'fits %d columns and 24 to 40 lines, names every command, and opens no pager',
    async (columns) => {
      const { stdout } = await new User().onTerminal('stty rows 24; steno', {
        columns,
        env: { STENO_PAGER: 'echo paged' },
      });
      const text = stdout.replaceAll('\r', '').replace(/\x1b\[\d*m/g, '');
      const examples = firstLines.flatMap(([, lines]) => lines);
      expect(tooWide(text, columns, examples)).toEqual([]);
      expect(rows(text).length).toBeGreaterThanOrEqual(24);
      expect(rows(text).length).toBeLessThanOrEqual(40);
      expect(text).not.toContain('paged');
      const [, all = ''] = text.split('All commands:');
      expect(commands.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(all))).toEqual([]);
      for (const name of ['order', 'files', 'transcript', 'listen', 'doctor'])
        expect(text).toMatch(new RegExp(`^  ${name} +[A-Z]\\w+`, 'm'));
      expect(rows(text).findIndex((line) => line.includes('steno sync'))).toBeLessThan(15);
    },
  );

  it('has three lines that work without an account, pasted in their order', async () => {
    const user = new User();
    const { stdout } = await user.run(['--help']);
    const lines = stdout.match(/^ {2}steno --sandbox .*$/gm) ?? [];
    expect(lines).toHaveLength(3);
    for (const line of lines) {
      const result = await user.run(line.trim().split(' ').slice(1));
      expect(result.code, `${line}\n${result.stderr}`).toBe(0);
    }
    expect(readFileSync(join(user.home, '1001.txt'), 'utf8')).toContain('https://example.com/talk.mp3');
  });

  it('has three lines for an account, and says where more is', async () => {
    const { stdout } = await new User().run(['--help']);
    expect(stdout).toMatch(/With an account:\n {2}steno login\n {2}steno order .*\n {2}steno sync .*\n/);
    expect(stdout).toContain('steno help topics');
  });
});

describe.each(pages)('the page of $name', ({ path, spec }) => {
  const examples = spec.examples.map(([line]) => line);
  const options = Object.values<Option>(spec.options ?? {});

  it.each([80, 60])(
    'has usage, purpose, main options and two examples in 24 rows of %d columns',
    async (width) => {
      const top = rows(await helpText(path, width, groups)).slice(0, 24);
      expect(top[0]).toMatch(new RegExp(`^Usage: steno ${path.join(' ')}\\b`));
      expect(top.slice(2, 6).join(' ').length).toBeGreaterThan(20);
      expect(examples.slice(0, 2).filter((line) => !top.some((row) => row.includes(`  ${line}`)))).toEqual(
        [],
      );
      const shown = options.filter(({ flags }) => top.some((row) => row.startsWith(`  ${flags} `)));
      expect(shown.length).toBeGreaterThanOrEqual(Math.min(options.length, width === 80 ? 3 : 1));
    },
  );

  it.each([80, 60, 40])('is laid out for %d columns', async (width) => {
    const text = await helpText(path, width, groups);
    // At 80 columns the examples fit too.
    expect(
      tooWide(text, width, width === 80 ? [] : examples).filter((line) => /\S\s+\S/.test(line.trim())),
    ).toEqual([]);
    expect(examples.filter((line) => !rows(text).some((row) => row.startsWith(`  ${line}`)))).toEqual([]);
  });

  it('has every option with its values and its default, and no global option', async () => {
    const text = oneLine(await helpText(path, 80, groups));
    for (const { flags, values, shownDefault } of options) {
      expect(text).toContain(` ${flags} `);
      if (Array.isArray(values)) for (const value of values) expect(text).toContain(value);
      if (shownDefault) expect(text).toContain(`default: ${shownDefault}`);
    }
    expect(text).toContain('the global options: steno help options');
    expect(await helpText(path, 80, groups)).not.toMatch(/^ {2}--profile/m);
  });

  it('says what it does in one to four lines', async () => {
    const text = await helpText(path, 80, groups);
    const about = (text.split('\n\n')[1] ?? '').split('\n');
    expect(about.length).toBeLessThanOrEqual(4);
  });
});

describe('help', () => {
  it.each([
    ['help events show', 'events show --help'],
    ['help ls', 'ls --help'],
    ['help', '--help'],
    ['help', ''],
    ['help help', 'help topics'],
    ['help --help', 'help topics'],
    ['--sandbox help order', 'order --help'],
    ['help order --help', 'order --help'],
    ['--profile work order --help', 'order --help'],
  ])('steno %s is the same as steno %s', async (line, same) => {
    const user = new User();
    const [one, other] = [await user.run(line.split(' ')), await user.run(same.split(' ').filter(Boolean))];
    expect(one).toMatchObject({ code: 0, stderr: '' });
    expect(one.stdout).toBe(other.stdout);
    expect(one.stdout.length).toBeGreaterThan(100);
  });

  it.each([
    ['help ordr', "unknown command or topic 'ordr'", 'did you mean order?'],
    ['help exit-code', "unknown command or topic 'exit-code'", 'did you mean exit-codes?'],
    ['help events shw', "unknown command 'steno events shw'", 'did you mean show?'],
    ['help qqqqqqqq', "unknown command or topic 'qqqqqqqq'", 'see: steno help topics'],
    ['help money output', 'one topic at a time', 'see: steno help money'],
    ['ordr --help', "unknown command or topic 'ordr'", 'did you mean order?'],
  ])('steno %s is a mistake', async (line, what, hint) => {
    const { code, stdout, stderr } = await new User().run(line.split(' '));
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(what);
    expect(stderr).toContain(hint);
  });

  it.each([
    ['listen', 'processes that leave the group (setsid, daemons) keep running'],
    ['listen', 'have links without their signature'],
    ['events replay', 'links come without their signature'],
  ])('of %s tells its limits: %s', async (line, limit) => {
    const { stdout } = await new User().run([...line.split(' '), '--help']);
    expect(stdout.replace(/\s+/g, ' ')).toContain(limit);
  });

  it('is laid out for the width of a narrow terminal, and 80 columns wide on all others', async () => {
    const user = new User();
    const shown = async (columns: number) => {
      const { stdout } = await user.onTerminal('steno order --help', { columns });
      return stdout.replaceAll('\r', '').replace(/\x1b\[(1|22)m/g, '');
    };
    const narrow = await shown(60);
    expect(narrow).toBe(await helpText(['order'], 60, groups));
    const wide = await helpText(['order'], 80, groups);
    expect(narrow).not.toBe(wide);
    expect(await shown(80)).toBe(wide);
    expect(await shown(200)).toBe(wide);
    expect((await user.run(['order', '--help'], { env: { COLUMNS: '60' } })).stdout).toBe(wide);
  });
});

it.each(['files', 'events', 'attempts', 'balance', 'skus'])(
  'the page of %s names the columns that it prints',
  async (name) => {
    const header = (await new User().run(['--sandbox', name, '--csv'])).stdout.trim().split(/\r?\n/)[0] ?? '';
    const [, named = ''] = /Columns:\n([\s\S]*)$/.exec(await helpText([name], 80, groups)) ?? [];
    const [own = '', more = ''] = oneLine(named).split(/With --columns all, and in CSV, also:/);
    const names = [own, more].flatMap((each) => each.trim().split(', ')).filter(Boolean);
    expect(names).toEqual(header.split(','));
  },
);

describe('headings', () => {
  const titles = (text: string): string[] =>
    [...text.matchAll(/\x1b\[1m(.*?)\x1b\[22m/g)].map(([, title = '']) => title);

  it.each([200, 60])('are bold on a terminal of %d columns', async (columns) => {
    const { stdout } = await new User().onTerminal('steno listen --help', { columns });
    const wanted = ['Usage:', 'Examples:', 'Options:', 'More examples:', 'Details:'];
    expect(titles(stdout)).toEqual(expect.arrayContaining(wanted));
    expect(titles(stdout).filter((title) => title.includes('--'))).toEqual([]);
  });

  it.each([
    ['steno listen --help', { NO_COLOR: '1' }],
    ['steno listen --help', { TERM: 'dumb' }],
    ['steno --no-color listen --help', {}],
    ['steno listen --help | cat', {}],
  ])('are plain in %s with %o', async (line, env) => {
    for (const columns of [200, 60]) {
      const { stdout } = await new User().onTerminal(line, { columns, env });
      expect(stdout).toContain('Usage: steno listen');
      expect(stdout).not.toContain('\x1b');
    }
  });
});

/** Lines that are pasted, and so never broken. */
const toPaste = (topic: string): string[] => [
  'steno files --json | jq -r ".[].audiofile"',
  ...topicBlocks(topic).flatMap((block) => block.split('\n').map((line) => line.trim())),
];

/** Without headings' and other marks. */
const words = (text: string): string[] =>
  text
    .replace(/^# .*$|^```\w*$/gm, '')
    .replace(/^- (\*\*|`)(.*?)\1:/gm, '$2')
    .replace(/^## (.*)$/gm, '$1:')
    .replace(/\*\*|`|\]\([^)]*\)|\[(?=[\w.])/g, '')
    .split(/\s+/)
    .filter(Boolean);

describe('the topics', () => {
  it('are listed, and each is laid out for 80 and 60 columns', async () => {
    const list = await helpText(['topics'], 80, groups);
    for (const name of topicNames()) {
      expect(list).toMatch(new RegExp(`^ {2}${name} `, 'm'));
      // Nothing is lost between the file and the terminal, and no mark of Markdown is left.
      expect(words(await helpText([name], 80, groups))).toEqual(words(topicMarkdown(name)));
      for (const width of [80, 60])
        expect(tooWide(await helpText([name], width, groups), width, toPaste(name))).toEqual([]);
    }
  });

  it('exit-codes has all of them', async () => {
    const text = oneLine(await helpText(['exit-codes'], 80, groups));
    for (const [name, { code, when }] of Object.entries(exitCodes))
      expect(text).toContain(`${code} ${name} ${when}`);
  });

  it('environment explains each variable once', async () => {
    const text = await helpText(['environment'], 80, groups);
    const names = [...text.matchAll(/^ {2}([A-Z][A-Z0-9_]+(?:, [A-Z][A-Z0-9_]+)*)(?: |$)/gm)].flatMap(
      ([, list = '']) => list.split(', '),
    );
    expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([]);
    expect(oneLine(text)).toMatch(/STENO_PAGER pager for long lists and help on a terminal/);
  });

  it('options has every global option', async () => {
    const text = await helpText(['options'], 80, groups);
    const flags = [
      ...Object.values<Option>(globalOptions).map((each) => each.flags),
      '-h, --help',
      '-v, --version',
    ];
    expect(flags.filter((each) => !text.includes(`\n  ${each}`))).toEqual([]);
    expect(oneLine(text)).toContain(
      'default: 30s for a read, 1m for an upgrade or refund, 1m plus 30s per URL for an order; none for wait and listen',
    );
  });

  it('environment has every variable that the program reads, and every setting', async () => {
    const text = await helpText(['environment'], 80, groups);
    const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.ts'),
    );
    const source = sources.map((path) => readFileSync(join('src', path), 'utf8')).join('\n');
    const read = [...source.matchAll(/\benv(?:\.|: '|\[')([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name);
    // Those of the platform and of tests, and what listen itself sets for its commands.
    const others = /^(APPDATA|LOCALAPPDATA|XDG_\w+|SNAP|STENO_EVENT_N|STENO_TEST_\w+)$/;
    expect(read).toContain('STENO_LEDGER');
    expect([...new Set(read)].filter((name) => !others.test(name) && !text.includes(name))).toEqual([]);
    expect(settingNames.filter((name) => !text.includes(`\n  ${name} `))).toEqual([]);
  });

  it('have names of their own, which no command has', () => {
    const taken = commands.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));
    expect(topicNames().filter((name) => taken.includes(name))).toEqual([]);
  });

  it('storage is where settings and ledger are', async () => {
    const user = new User();
    const { stdout } = await user.run(['help', 'storage']);
    expect(stdout).toMatch(/\nFolders:\n[\s\S]*~\/\.config\/steno[\s\S]*\nFiles:\n[\s\S]*ledger\.db/);
    const path = (await user.run(['config', 'path'])).stdout;
    expect(stdout).toContain(path.trim().split('/').at(-1));
  });
});
