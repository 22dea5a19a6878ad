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

/** Flags that no other flag makes useless or contradicts, and why. */
const free: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  order: {
    '--sku': 'every order has one, or its manifest does',
    '--feed': 'its flags need it; the rule with --from stands there',
    '--hidden': 'requires a folder: checked with the arguments',
    '--per-order': 'a script may pass any number of URLs: the limit holds for one too',
    '--notes-file': 'the rule stands at --notes',
    '--name': 'goes with every order',
    '--tag': 'goes with every order',
    '--key': 'needs exactly one URL: checked with the arguments',
    '--dry-run': 'may be added to every line, to see what it would do',
    '--max-cost': 'goes with every order',
    '--unpriced': 'needs a budget, of the settings or of the ledger: checked when both are read',
    '--up-to-budget': 'the same',
    '--wait': 'the rule stands at --test',
    '--download': 'the rule stands at --test',
    '--fail-on-hold': 'goes with every order',
    '--again': 'the rule stands at --skip-ordered',
    '--any-sku': 'allows something; a line may need it or not',
    '--param': 'goes with every order',
  },
  ignore: { '--remove': 'the rule stands at --list' },
  files: {
    '--state': 'filters add up',
    '--order': 'filters add up',
    '--since': 'filters add up',
    '--key': 'filters add up',
    '--tag': 'filters add up',
    '--feed': 'filters add up',
    '--limit': 'filters add up',
    '--refresh': 'comes before the list',
  },
  file: { '--watch': '--interval needs it' },
  track: { '--from': 'adds to the ids' },
  wait: {
    '--order': 'excludes ids: checked with the arguments',
    '--interval': 'wait always polls',
    '--download': 'its flags need it',
  },
  transcript: {
    '--format': 'there is always a download',
    '--output': 'the rules with - stand at the others',
    '--from': 'adds to the ids',
    '--test': 'goes with every download',
    '--deprecated-path': 'goes with every download',
  },
  sync: {
    '--download': 'without it, the ledger alone is brought up to date',
    '--jobs': 'there are always calls',
  },
  upgrade: {
    '--from': 'adds to the ids',
    '--yes': 'a script that also runs with one id has it',
    '--sku': 'every upgrade has one',
    '--any-sku': 'allows something; a line may need it or not',
    '--test': 'needs a test file: checked with the id',
    '--again': 'allows something; a line may need it or not',
    '--unpriced': 'needs a budget, of the settings or of the ledger: checked when both are read',
  },
  api: {
    '--again': 'allows something; a line may need it or not',
    '--unpriced': 'needs a budget, of the settings or of the ledger: checked when both are read',
  },
  log: {
    '--since': 'filters add up',
    '--file': 'filters add up',
    '--order': 'filters add up',
    '--limit': 'filters add up',
  },
  refund: {
    '--from': 'adds to the ids',
    '--again': 'allows something; a line may need it or not',
    '--yes': 'a script that also runs without a terminal has it',
    '--test': 'needs a test file: checked with the id',
  },
  balance: { '--min': 'the only one' },
  report: {
    '--since': 'goes with every form',
    '--until': 'goes with every form; checked against --since',
    '--by': 'the rule stands at --html',
  },
  listen: {
    '--host': 'there is always a server',
    '--port': 'there is always a server',
    '--path': 'there is always a server',
    '--register': 'needs an address: checked with the plan, since a service on this machine needs none',
    '--tunnel': 'the rule stands at --public-url; it also leads here without --register',
    '--forward-to': 'one of several actions',
    '--exec': 'its flags need it',
    '--download': 'its flags need it',
    '--any-event': 'allows something; a line may need it or not',
    '--only': 'filters what is shown and done',
    '--until': 'an end; the first of several counts',
    '--count': 'an end; the first of several counts',
    '--keep': 'goes with every listener',
  },
  events: {
    '--limit': 'filters add up',
    '--event': 'filters add up',
    '--file': 'filters add up',
    '--order': 'filters add up',
    '--since': 'filters add up',
    '--found': 'filters add up',
    '--follow': 'goes with every filter',
  },
  'events replay': { '--exec': 'the rule stands at --to' },
  'attempts settle': {
    '--reopen': 'the rule stands at the others',
  },
  login: { '--no-verify': 'goes with every key' },
  doctor: { '--test-event': 'the only one' },
  schema: { '--dry-run': 'a command without such a schema is refused' },
  'ledger export': {
    '--output': 'its flags need it',
    '--all-profiles': 'the same as --damaged has',
    '--damaged': 'goes with every output',
  },
  'ledger import': { '--as': 'the only one' },
  'ledger prune': {
    '--before': 'required',
    '--all-profiles': 'goes with every time',
    '--dry-run': 'may be added to every line',
    '--yes': 'a script that also runs without a terminal has it',
  },
  'ledger copy': { '--to': 'required', '--dry-run': 'may be added to every line' },
  'completion install': { '--dry-run': 'may be added to every line' },
  'completion uninstall': { '--dry-run': 'may be added to every line' },
  'sandbox advance': { '--by': 'excludes ids: checked with the arguments' },
  sandbox: {
    '--port': 'there is always a server',
    '--host': 'there is always a server',
    '--speed': '0 with --ephemeral is checked by its value',
    '--ephemeral': '--speed 0 with it is checked by its value',
    '--fault': 'there is always a server',
  },
};

/** A script or an alias may give these to every command, also where they change nothing. */
const freeGlobals = [
  '--profile',
  '--base-url',
  '--api-key',
  '--sandbox',
  '--json',
  '--quiet',
  '--no-color',
  '--no-progress',
  '--no-pager',
  '--debug',
  '--timeout',
  '--no-ledger',
];

const hasRule = ({ needs = [], excludes = [] }: Option): boolean => needs.length + excludes.length > 0;

describe('every flag', () => {
  it.each(all)('of $path has a rule, or a reason for none', (at) => {
    const without = optionsOf(at)
      .filter((option) => !hasRule(option))
      .map(longName);
    expect(Object.keys(free[at.path] ?? {}).sort()).toEqual(without.sort());
  });

  it('of every command has a rule, or may stand anywhere', () => {
    const without = globals.filter((option) => !hasRule(option)).map(longName);
    expect(freeGlobals).toEqual(expect.arrayContaining(without));
  });

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
    expect(stderr).toMatch(new RegExp(`hint: .* add ${needs[0]}\\b.*, or leave out ${name}\\n`));
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
