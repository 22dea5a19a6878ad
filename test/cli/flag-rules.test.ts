/** A flag that would be ignored is refused, with what to add: exit 2, nothing sent. */
import { describe, expect, it } from 'vitest';
import type { Command } from '../../src/spec/command.ts';
import { globalOptions } from '../../src/spec/global-options.ts';
import { longName, type Option } from '../../src/spec/options.ts';
import { account, fileAnswer } from '../support/account.ts';
import { commands } from '../support/commands.ts';

interface Path {
  readonly path: string;
  readonly spec: Command;
}

const walk = (spec: Command, parent = ''): Path[] => {
  const path = `${parent} ${spec.name}`.trim();
  return [{ path, spec }, ...(spec.children ?? []).flatMap((child) => walk(child, path))];
};
const all = commands.flatMap((spec) => walk(spec));
const globals = Object.values<Option>(globalOptions);
const optionsOf = ({ spec }: Path): Option[] => Object.values(spec.options ?? {});

describe('every flag', () => {
  it.each(all)('of $path that needs another says so in its help, and names one that exists', (at) => {
    const known = [...optionsOf(at), ...globals].map(longName);
    for (const { needs = [], excludes = [], help } of optionsOf(at)) {
      for (const each of needs) expect(help).toContain(each);
      for (const each of [...needs, ...excludes]) expect(known).toContain(each.split(' ')[0]);
    }
    for (const each of [...(at.spec.conflicts ?? []).flat(), ...Object.keys(at.spec.refuses ?? {})])
      expect(known).toContain(each.split(' ')[0]);
  });
});

/** What a command needs beside the flag that is tried. */
const args: Readonly<Record<string, readonly string[]>> = {
  order: ['https://example.com/a.mp3', '--sku', 'TRANS14'],
  file: ['5'],
  wait: ['5'],
  transcript: ['5'],
  'attempts settle': ['1'],
  'events replay': ['1'],
  api: ['GET', '/x'],
  completion: ['bash'],
};

const values: Readonly<Record<string, string>> = {
  '--min-words': '4',
  '--interval': '1s',
  '--exec-timeout': '1s',
  '--latest': '1',
  '--since': '1d',
  '--jobs': '2',
  '--format': 'txt',
  '--to': 'http://127.0.0.1:9/',
  '--public-url': 'https://example.com/',
  '--by': 'sku',
};

/** A flag as it is typed: with a value, where it takes one. */
function typed(flag: string, at: Path): string[] {
  const [name = '', value] = flag.split(' ');
  if (value !== undefined) return [name, value];
  const option = [...optionsOf(at), ...globals].find((each) => longName(each) === name);
  return option?.takesValue ? [name, values[name] ?? 'x'] : [name];
}

const line = (at: Path, ...flags: string[]): string[] => [
  ...at.path.split(' '),
  ...(args[at.path] ?? []),
  ...flags.flatMap((flag) => typed(flag, at)),
];

const lonely = all.flatMap((at) =>
  optionsOf(at).flatMap((option) => {
    const { needs = [] } = option;
    return needs.length ? [{ line: line(at, longName(option)), name: longName(option), needs }] : [];
  }),
);

const pairs = all.flatMap((at) => {
  const excluded = optionsOf(at).flatMap((option) =>
    (option.excludes ?? []).map((other) => [longName(option), other] as const),
  );
  return [...excluded, ...(at.spec.conflicts ?? [])].map(([one, other]) => {
    const [name = ''] = one.split(' ');
    const needed = optionsOf(at).find((option) => longName(option) === name)?.needs ?? [];
    const more = needed.filter((each) => !other.startsWith(each)).slice(0, 1);
    return { line: line(at, ...more, one, other), one, other };
  });
});

const useless = all.flatMap((at) =>
  Object.keys(at.spec.refuses ?? {}).map((flag) => ({ line: line(at, flag), flag })),
);

async function refused(given: readonly string[]): Promise<string> {
  const { service, user } = await account();
  const { code, stdout, stderr } = await user.run(given);
  expect([code, stdout, service.got], stderr).toEqual([2, '', []]);
  expect(stderr).toMatch(/^(steno: [^\n]+\nhint: [^\n]+|\{"error":.*"hint":.*\})\n$/);
  return stderr;
}

describe('a flag that would be ignored', () => {
  it.each(lonely)('is refused with what to add: $line', async ({ line, name, needs }) => {
    const stderr = await refused(line);
    expect(stderr).toContain(`steno: ${name} requires ${needs.join(' or ')}\n`);
    expect(stderr).toMatch(new RegExp(`hint: .*add ${needs[0]}\\b.*, or leave out ${name}\\n`));
  });

  it.each(pairs)('is refused beside what contradicts it: $line', async ({ line, one, other }) => {
    expect(await refused(line)).toContain(`${one} and ${other} can't be used together`);
  });

  it.each(useless)('is refused where it has no effect: $line', async ({ line, flag }) => {
    expect(await refused(line)).toContain(`${flag} has no effect here`);
  });

  it.each([
    [['--sandbox', '--base-url', 'https://h/API4', 'balance'], /--sandbox and --base-url/],
    [['--sandbox', '--profile', 'work', 'balance'], /--sandbox and --profile/],
    [['balance', '--sandbox', '--api-key', 'k'], /--sandbox and --api-key/],
    [['balance', '--profile', 'sandbox', '--api-key', 'k'], /the profile sandbox and --api-key/],
    [['order', 'https://e.org/a.mp3', '--sku', 'TRANS14', '--unpriced'], /--unpriced requires a budget/],
    [['--json', 'balance', '--csv'], /--csv and --json/],
    [['files', '--csv', '--quiet'], /--quiet and --csv/],
    [['wait', '5', '--format=txt'], /--format requires --download/],
    [['--no-ledger', 'order', 'https://e.org/a.mp3', '--sku', 'TRANS14', '--skip-ordered'], /--no-ledger/],
  ])('is refused: %j', async (given, message) => {
    expect(await refused(given)).toMatch(message);
  });
});

it('is taken with what it needs, on whichever side of the command that stands', async () => {
  const { service, user } = await account();
  service.on('GET /audiofile/5', fileAnswer(5));
  service.on('POST /audiofile/5/transcript.txt', { body: 'words' });
  const waited = await user.run(['wait', '5', '--format', 'txt', '--download', '.', '--name-as', '{id}']);
  expect([waited.code, waited.stderr]).toEqual([0, '']);
});
