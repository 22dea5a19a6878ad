/** `diff`: what differs between two transcripts, word by word, and nothing else. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { schemaOf } from '../../src/commands/schema.ts';
import { CHANGED, EQUAL, INSERTED, stepsBetween } from '../../src/flows/diff/sequence.ts';
import { renderTranscript } from '../../src/sandbox/transcripts/formats.ts';
import { readableFormats } from '../../src/transcripts/model.ts';
import { outputs } from '../support/commands.ts';
import { processorTimeOf } from '../support/processor-time.ts';
import { runs } from '../support/runs.ts';
import { BIN, User } from '../support/steno.ts';

const validate = new Ajv2020({ allowUnionTypes: true }).compile(schemaOf('diff', outputs) ?? {});

/** The plain definition: fewest insertions, deletions and substitutions. */
function levenshtein(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, word] of a.entries()) {
    const next = [i + 1];
    for (const [j, other] of b.entries())
      next.push(Math.min((row[j] ?? 0) + Number(word !== other), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    row = next;
  }
  return row.at(-1) ?? 0;
}

/** What the steps make of the first list; it must be the second. */
function applied(steps: readonly number[], a: readonly string[], b: readonly string[]): string[] {
  let [i, j] = [0, 0];
  const made: string[] = [];
  for (const step of steps) {
    if (step === EQUAL) made.push(a[i] as string);
    if (step === CHANGED || step === INSERTED) made.push(b[j] as string);
    if (step !== INSERTED) i += 1;
    if (step !== 2) j += 1;
  }
  expect([i, j]).toEqual([a.length, b.length]);
  return made;
}

const cost = (steps: readonly number[]): number => steps.filter((step) => step !== EQUAL).length;

describe('the steps from one list of words to another', () => {
  const words = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 30 });

  it('lead there, and are as few as can be', () => {
    fc.assert(
      fc.property(words, words, (a, b) => {
        const steps = stepsBetween(a, b);
        expect(applied(steps, a, b)).toEqual(b);
        expect(cost(steps)).toBe(levenshtein(a, b));
      }),
      { numRuns: runs() },
    );
  });

  const numbered = (count: number, factor: number): string[] =>
    Array.from({ length: count }, (_, at) => `w${(at * factor) % 5003}`);

  it('are as few in long texts with some changes', () => {
    const a = numbered(3000, 7);
    const b = a.flatMap((word, at) => [[], ['x'], [word, 'new']][at % 10] ?? [word]);
    const steps = stepsBetween(a, b);
    expect(applied(steps, a, b)).toEqual(b);
    expect(cost(steps)).toBe(levenshtein(a, b));
  });

  it.each([
    ['a third changed', (word: string, at: number) => (at % 3 ? word : `x${at}`)],
    ['nothing alike', (_: string, at: number) => `x${at % 300}`],
    ['other words of the same language', (_: string, at: number) => `w${(at * at) % 5003}`],
  ])('take a second or two for 100,000 words: %s', (_, change) => {
    const a = numbered(100_000, 31);
    const b = a.map(change);
    const found: number[][] = [];
    expect(processorTimeOf(() => void found.push(stepsBetween(a, b)))).toBeLessThan(6000);
    expect(applied(found[0] ?? [], a, b)).toEqual(b);
  });

  it('need not have texts of the same length', () => {
    const [long, short] = [numbered(50_000, 3), numbered(20, 3)];
    expect(cost(stepsBetween(long, short))).toBe(49_980);
    expect(cost(stepsBetween(short, long))).toBe(49_980);
    expect(cost(stepsBetween([], long))).toBe(50_000);
  });
});

const vtt = (...texts: string[]): string =>
  `WEBVTT\n\n${texts.map((text, at) => `00:0${at}:00.000 --> 00:0${at}:01.500\n${text}\n`).join('\n')}`;

function withFiles(files: Readonly<Record<string, string | Buffer>>): User {
  const user = new User();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(user.home, name), content);
  return user;
}

async function diff(user: User, ...args: string[]) {
  const { code, stdout } = await user.run(['diff', '--json', ...args]);
  const found = JSON.parse(stdout);
  expect([validate(found), validate.errors]).toEqual([true, null]);
  return { code, found };
}

describe('diff', () => {
  const source = {
    id: '7',
    title: 'A talk',
    names: ['Ada', 'Bob Smith'],
    link: 'https://x.example/a.mp3',
    minutes: 3,
  };

  it('finds no difference between formats, nor after convert', async () => {
    const user = withFiles(
      Object.fromEntries(
        readableFormats.map((format) => [`a.${format}`, renderTranscript(format, { ...source, fake: true })]),
      ),
    );
    await user.run(['convert', 'a.vtt', '--to', 'vtt,srt,json,md,txt', '-o', 'out/']);
    const others = ['vtt', 'srt', 'json', 'md', 'txt'].map((format) => `out/a.${format}`);
    for (const other of [...readableFormats.map((format) => `a.${format}`), ...others])
      expect([other, (await user.run(['diff', 'a.vtt', other])).code]).toEqual([other, 0]);
  });

  it('says which words, when, and who', async () => {
    const user = withFiles({
      'a.vtt': vtt('<v Ada>We met them in the', '<v Bob>old market, on Monday.', '<v Ada>Yes we did'),
      'b.txt': 'Ada: We met him in the\n\nBob: market, on\nMonday.\n\nAda: Yes we really did\n',
    });
    const { code, found } = await diff(user, 'a.vtt', 'b.txt');
    expect(code).toBe(1);
    expect(found).toMatchObject({ words: 12, new_words: 12, insertions: 1, deletions: 1, substitutions: 1 });
    expect(found.error_rate).toBeCloseTo(3 / 12);
    expect(found.changes).toMatchObject([
      { old: 'them', new: 'him', start: 0, speaker: 'Ada', line: 4, new_line: 1 },
      { old: 'old', new: '', start: 60, speaker: 'Bob' },
      { old: '', new: 'really', start: 120, speaker: 'Ada' },
    ]);
    const plain = await user.run(['diff', 'a.vtt', 'b.txt']);
    expect(plain.stdout.split('\n')[0]).toContain('00:00:00\tAda');
    expect(plain.stdout).toContain('We met [-them-]{+him+} in the old market,');
    expect(plain.stderr).toBe('steno: words inserted: 1, deleted: 1, changed: 1, of 12; error rate 25.0%\n');
    expect((await user.run(['diff', 'a.vtt', 'b.txt', '--markdown'])).stdout).toContain('| ');
    const stat = await diff(user, 'a.vtt', 'b.txt', '--stat');
    expect([stat.code, stat.found.changes, stat.found.words]).toEqual([1, undefined, 12]);
  });

  it('compares scripts without blanks by characters, and captions that end within a word', async () => {
    const said = '今天我们去公园散步。'.repeat(20);
    const user = withFiles({
      'a.txt': `Ada: ${said}\n`,
      'b.srt': `1\n00:00:01,000 --> 00:00:59,000\nAda: ${said}\n`,
    });
    await user.run(['convert', 'b.srt', '--to', 'vtt']);
    for (const name of ['b.srt', 'b.vtt']) expect((await user.run(['diff', 'a.txt', name])).code).toBe(0);
    writeFileSync(join(user.home, 'a.txt'), `Ada: ${said.replace('公', '花')}\n`);
    expect((await diff(user, 'a.txt', 'b.vtt')).found.changes).toMatchObject([{ old: '花', new: '公' }]);
  });

  it('has git show words in place of captions, with the settings that its help names', async () => {
    const user = withFiles({ 'a.vtt': vtt('We met in the market.') });
    const help = (await user.run(['diff', '--help'])).stdout;
    const [, attributes = ''] = /^ *\.gitattributes +(.+)$/m.exec(help) ?? [];
    const [, name = '', value = ''] = /^ *git config +(\S+) '(.+)'$/m.exec(help) ?? [];
    expect([attributes, name]).toEqual(['*.vtt diff=captions', 'diff.captions.textconv']);
    mkdirSync(join(user.home, 'bin'));
    symlinkSync(BIN, join(user.home, 'bin', 'steno'));
    const PATH = [join(user.home, 'bin'), process.env.PATH].join(delimiter);
    const env = { ...user.env, HOME: user.home, PATH, GIT_CONFIG_NOSYSTEM: '1' };
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: user.home, env, encoding: 'utf8' });
    git('init', '--quiet');
    git('config', name, value);
    writeFileSync(join(user.home, '.gitattributes'), `${attributes}\n`);
    git('add', 'a.vtt');
    writeFileSync(join(user.home, 'a.vtt'), vtt('We met at the market.'));
    const changed = git('diff', '--no-color', '--word-diff').trim().split('\n').slice(4).join('\n');
    expect(changed).toContain('[-in-]{+at+} the market.');
    expect(changed).not.toContain('-->');
  });

  it('exits with 2 where one can not be read or is not there', async () => {
    const user = withFiles({ 'a.vtt': vtt('one'), 'page.vtt': '<!doctype html><p>No</p>', 'a.pdf': '%PDF' });
    for (const other of ['none.vtt', 'page.vtt', 'a.pdf', '77', '.'])
      expect([other, (await user.run(['diff', 'a.vtt', other])).code]).toEqual([other, 2]);
    expect((await user.run(['diff', 'a.vtt'])).code).toBe(2);
  });
});
