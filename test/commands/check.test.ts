/** `check`: what a person must look at in transcripts and captions, and with which exit code. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { schemaOf } from '../../src/commands/schema.ts';
import { outputs } from '../support/commands.ts';
import { parseCsv } from '../support/csv.ts';
import { listing, modeOf } from '../support/files.ts';
import { audio, orderingAccount } from '../support/ledger.ts';
import { finished, User } from '../support/steno.ts';
import { zipOf } from '../support/zip.ts';

const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(
  schemaOf('check', outputs) ?? {},
);

interface Found {
  readonly path: string;
  readonly line: number;
  readonly start: number | null;
  readonly rule: string;
  readonly severity: string;
  readonly text: string;
  readonly error?: { readonly message: string };
}

function withFiles(files: Readonly<Record<string, string | Buffer>>): User {
  const user = new User();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(user.home, name), content);
  return user;
}

async function check(user: User, ...args: string[]) {
  const { code, stdout, stderr } = await user.run(['check', '--json', ...args]);
  const found = JSON.parse(stdout) as Found[];
  expect([validate(found), validate.errors]).toEqual([true, null]);
  return {
    code,
    found,
    stderr,
    lines: found.map(({ rule, line, start }) => `${line} ${start ?? '-'} ${rule}`),
  };
}

const vtt = (...cues: string[]): string => `WEBVTT\n\n${cues.join('\n\n')}\n`;
const cue = (start: string, end: string, ...lines: string[]): string =>
  [`00:${start} --> 00:${end}`, ...lines].join('\n');

describe('facts are errors and exit 1:', () => {
  const said = (text: string): string => vtt(cue('01.000', '05.000', text));

  it.each([
    ...[
      'we met [xx] then',
      '[inaudible 00:12:03]',
      '(unintelligible)',
      '[CROSSTALK]',
      '[cross talk]',
      'and ____ said',
      '[...]',
    ],
    ...[
      '[Inaudible at 00:01]',
      '[XXXX]',
      '[indiscernible 00:00:02 - 00:00:04]',
      '[overlapping speech]',
      '[audio cuts out]',
    ],
  ])('a gap: %s', async (text) => {
    const { code, found } = await check(withFiles({ 'a.vtt': said(text) }), 'a.vtt');
    expect([code, found.map(({ rule }) => rule)]).toEqual([1, ['gap']]);
  });

  it.each(['is it [?]', '[Colman?]', 'Kraków [ph]', '(?)', '(sp?)', '[??]', '[phonetic]'])(
    'a doubt: %s',
    async (text) => {
      const { code, found } = await check(withFiles({ 'a.vtt': said(text) }), 'a.vtt');
      expect([code, found.map(({ rule }) => rule)]).toEqual([1, ['doubt']]);
    },
  );

  it.each([
    '[laughs]',
    '(really?)',
    'a [blankets] b',
    'xx',
    'x_y',
    '[applause]',
    '(xxl)',
    'list[0]',
    '[sic]',
  ])('but not: %s', async (text) =>
    expect(await check(withFiles({ 'a.vtt': said(text) }), 'a.vtt')).toMatchObject({ code: 0, found: [] }),
  );

  /** The rules found in each of the texts, which are paragraphs of one file. */
  async function rulesIn(texts: readonly string[]): Promise<string[]> {
    const { found } = await check(withFiles({ 'a.txt': texts.join('\n\n') }), 'a.txt');
    return texts.map((_, at) =>
      found.flatMap(({ line, rule }) => (line === 2 * at + 1 ? [rule] : [])).join(' '),
    );
  }
  const each = (texts: readonly string[], rule: string): string[] => texts.map(() => rule);

  it('gaps in the words of other transcribers', async () => {
    const texts = [
      ...['[word inaudible]', '[2 words inaudible]', '[partially inaudible]', '[12:03 inaudible]'],
      ...[
        '[00:12:03 - inaudible]',
        '<inaudible>',
        '{inaudible}',
        '［inaudible］',
        '【inaudible】',
        '[inaud.]',
      ],
      ...['[talking over each other]', '[everyone talking at once]', '[simultaneous talking]', '[inaudable]'],
      ...['[foreign language]', '[speaking in a foreign language]', '[speaking Spanish]', '[break in audio]'],
      ...[
        '[recording cuts out]',
        '[lost audio]',
        '[gap in recording]',
        '[name unclear]',
        '[two words unclear]',
      ],
      ...['(inaudible word)', '[inaudible due to wind]', '[inaudible?]', '[xx 00:12:03]', 'he said____.'],
    ];
    const said = texts.map((text) => `so ${text} it is`);
    expect(await rulesIn(said)).toEqual(each(texts, 'gap'));
  });

  it('doubts, with the words in doubt', async () => {
    const texts = [
      ...[
        '[Jerry Coleman?]',
        '[Will Smith?]',
        '[thirty-five?]',
        '[?Coleman]',
        '[? 00:12:03]',
        '[ph.]',
        '(ph)',
      ],
      ...[
        '[PH?]',
        '[phonetic spelling]',
        '[Coleman ph]',
        '[sounds like Coleman]',
        '[s/l Coleman]',
        '(spelling?)',
      ],
    ];
    expect(await rulesIn(texts.map((text) => `so ${text} it is`))).toEqual(each(texts, 'doubt'));
  });

  it('but not remarks, sounds, links and questions', async () => {
    const texts = [
      ...['The (pH) of water', '[PH]', '[pH 7]', '[SP]', 'see https://x.org/a____b', 'my_file___name.txt'],
      ...['[blank stare]', '[unclear why he left]', '[overlapping music]', '[What is your name?]', '[How?]'],
      ...[
        '[Will you come?]',
        '[Would you like some tea?]',
        '[indistinct chatter]',
        '[muffled scream]',
        '[mic drop]',
      ],
      ...[
        '[voice breaking]',
        '[foreign policy]',
        '[simultaneous translation]',
        '[gap year]',
        '[break]',
        '[12:03]',
      ],
      ...[
        '(XX)',
        '(I guess)',
        '(the inaudible part of music)',
        'a < b and c > d',
        '________________________',
      ],
    ];
    expect(await rulesIn(texts)).toEqual(each(texts, ''));
  });

  it('a mark that is broken over two lines, at the line where it begins', async () => {
    const files = { 'a.txt': 'Ada: so it was\nthen [inaudible\n00:12:03] and [two\nwords unclear]' };
    expect((await check(withFiles(files), 'a.txt')).lines).toEqual(['2 723 gap', '3 - gap']);
  });

  it('speakers who are only counted or described', async () => {
    const names = [
      ...['Unidentified Male', 'Unidentified Male Speaker', 'Speaker Two', 'Man One', 'First Man', '2nd Man'],
      ...['Interviewee 1', 'Respondent 3', 'Student 1', 'Third Student', 'Panelist 2', 'Child', 'Boy', 'S2'],
      ...[
        'SPK1',
        '[Man 2]',
        'Unnamed',
        'Man #2',
        'Male Voice',
        "Woman's Voice",
        'Female Student',
        'Reporter 2',
      ],
      ...['Audience Member 3', 'Speaker 1 (male)', 'Another Speaker', 'Young Man', 'Student A', 'Spkr 1'],
    ];
    expect(await rulesIn(names.map((name) => `${name}: So it is.`))).toEqual(each(names, 'unnamed-speaker'));
    const others = [
      'Interviewer',
      'Guy',
      'First Lady',
      'Julia Child',
      'Host',
      'Student',
      'Mr. Speaker',
      'R. J.',
    ];
    expect(await rulesIn(others.map((name) => `${name}: So it is.`))).toEqual(each(others, ''));
  });

  it('has the time of the mark where it has one, else that of the cue, and the line of the mark', async () => {
    const text = vtt(cue('01.000', '05.000', 'one', 'two [xx] and [inaudible 00:12:03.5]'));
    expect((await check(withFiles({ 'a.vtt': text }), 'a.vtt')).lines).toEqual(['5 1 gap', '5 723.5 gap']);
  });

  it('speakers without a name, once each, and a warning for a name that changes', async () => {
    const text =
      'Jerry Coleman: Hello.\n\nMan 2: Yes.\n\nJerry: So.\n\nMan 2: No.\n\nSPEAKER_01: Well.\n\nJERRY: Oh.\n\nInterviewer: And?';
    const { code, found } = await check(withFiles({ 'a.txt': text }), 'a.txt');
    expect(code).toBe(1);
    expect(found.map(({ severity, rule, text: what }) => [severity, rule, what])).toEqual([
      ['error', 'unnamed-speaker', 'Man 2: Yes.'],
      ['warning', 'name-change', 'Jerry, elsewhere Jerry Coleman'],
      ['error', 'unnamed-speaker', 'SPEAKER_01: Well.'],
      ['warning', 'name-change', 'JERRY, elsewhere Jerry Coleman'],
    ]);
    const other = await check(withFiles({ 'b.txt': 'Jerry Coleman: A\n\nJerry: B' }), 'b.txt');
    expect([other.code, other.found.length]).toEqual([0, 1]);
    const two = 'Mr. Smith: A\n\nMrs. Smith: B\n\nDr. Jones: C\n\nProf. Jones: D\n\nMs. Smith: E';
    expect((await check(withFiles({ 'c.txt': two }), 'c.txt')).found).toEqual([]);
    // As convert writes a name that would not be taken for one.
    const marked =
      '1\n00:00:01,000 --> 00:00:02,000\nAda Lovelace: Yes.\n\n' +
      '2\n00:00:03,000 --> 00:00:04,000\n\u2060ada\u2060: So.\n';
    expect((await check(withFiles({ 'd.srt': marked }), 'd.srt')).found).toMatchObject([
      { rule: 'name-change', text: 'ada, elsewhere Ada Lovelace' },
    ]);
  });

  it('times that go backwards, overlap or end too early, empty cues and broken ones', async () => {
    const text = vtt(
      ...[
        cue('01.000', '05.000', 'one'),
        cue('04.000', '06.000', 'overlaps'),
        cue('02.000', '03.000', 'goes back'),
      ],
      ...[cue('07.000', '06.500', 'ends early'), cue('08.000', '09.000'), cue('10.0x0', '11.000', 'broken')],
      ...[cue('12.000', '13.000', '<v Ada>two', '<v Bob>speak at once'), 'left over'],
    );
    expect((await check(withFiles({ 'a.vtt': text }), 'a.vtt')).lines).toEqual([
      ...[
        '7 4 overlap',
        '10 2 time-order',
        '13 7 time-order',
        '16 8 empty-cue',
        '17 - broken-cue',
        '24 - broken-cue',
      ],
    ]);
    const still = vtt(cue('05.000', '06.000', 'one'), cue('06.000', '06.000', '<v Ada>two', '<v Bob>three'));
    const flash = await check(withFiles({ 'a.vtt': still }), 'a.vtt', '--rules', 'netflix');
    expect(flash.lines.filter((line) => !line.endsWith('cue-gap'))).toEqual(['7 6 time-order']);
    expect(JSON.stringify(flash.found)).not.toContain('Infinity');
    const again = vtt(
      cue('01.000', '09.000', 'one'),
      cue('01.000', '09.000', 'two'),
      cue('10.000', '11.000', 'x'),
    );
    expect((await check(withFiles({ 'a.vtt': again }), 'a.vtt')).lines).toEqual(['7 1 overlap']);
    const long = vtt(
      cue('01.000', '09.000', 'one'),
      cue('02.000', '03.000', 'two'),
      cue('04.000', '05.000', 'x'),
    );
    expect((await check(withFiles({ 'a.vtt': long }), 'a.vtt')).lines).toEqual([
      '7 2 overlap',
      '10 4 overlap',
    ]);
    const nameAlone =
      '1\n00:00:01,000 --> 00:00:02,000\nAda:\n\n2\n00:00:03,000 --> 00:00:04,000\nBob: Yes.\n';
    const { found } = await check(withFiles({ 'a.srt': nameAlone }), 'a.srt', '--rules', 'netflix');
    expect(found.map(({ rule, text: words }) => [rule, words])).toEqual([['empty-cue', 'no words: Ada:']]);
    const stamped = '[00:00:05] Ada: one\n[00:00:04] Ada: two\n[00:00:06] Ada: three';
    expect((await check(withFiles({ 'a.tstxt': stamped }), 'a.tstxt')).lines).toEqual(['2 4 time-order']);
    const noTime = '[00:00:05] Ada: one\n\n[00:00:75] Ada: two';
    expect((await check(withFiles({ 'a.tstxt': noTime }), 'a.tstxt')).lines).toEqual(['3 - broken-cue']);
  });
});

describe('style is a warning and exits 0:', () => {
  const fast = 'This is said much faster than anyone reads.';
  const files = {
    'a.vtt': vtt(
      ...[
        cue('01.000', '01.500', 'No.'),
        cue('01.520', '02.600', fast),
        cue('03.000', '11.000', 'one', 'two', 'three'),
      ],
    ),
    'b.srt': `1\n00:00:01,000 --> 00:00:06,000\nAda: ${'x'.repeat(30)}\n`,
    'c.srt': `1\n00:00:01,000 --> 00:00:06,000\nAda: ${'x'.repeat(37)}\u2060\u2060\ny\n`,
  };

  it.each([
    [
      'netflix',
      'a.vtt',
      ['3 too-short', '7 cue-gap', '7 line-length', '7 reading-speed', '10 line-count', '10 too-long'],
    ],
    ['bbc', 'a.vtt', ['7 reading-speed', '10 line-count']],
    ['podcast', 'a.vtt', []],
    ['podcast', 'b.srt', ['3 line-length']],
    ['netflix', 'b.srt', []],
    ['netflix', 'c.srt', []],
  ])('--rules %s, %s', async (rules, file, expected) => {
    const { code, found } = await check(withFiles(files), file, '--rules', rules);
    expect(code).toBe(0);
    expect(found.every(({ severity }) => severity === 'warning')).toBe(true);
    const seen = found
      .map(({ line, rule }) => `${line === 4 ? 3 : line} ${rule}`)
      .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10) || (a < b ? -1 : 1));
    expect(seen).toEqual(expected);
  });

  it('is not looked at without --rules, and other rules are refused', async () => {
    const user = withFiles(files);
    expect(await check(user, 'a.vtt')).toMatchObject({ code: 0, found: [] });
    const wrong = await user.run(['check', 'a.vtt', '--rules', 'netflx']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('did you mean netflix?')]);
  });
});

describe('forms', () => {
  const files = { 'a.vtt': vtt(cue('01.000', '02.000', '<v Man 2>it | was [xx] <script>')) };

  it('are rows, CSV, Markdown tasks, and paths with --quiet', async () => {
    const user = withFiles(files);
    const rows = await user.run(['check', 'a.vtt']);
    expect(rows.stdout.split('\n')[0]?.split('\t')).toEqual([
      ...['a.vtt', '4', '00:00:01.000', 'gap', 'error', 'it | was [xx] <script>'],
    ]);
    expect(rows.stderr).toBe('steno: 2 errors and 0 warnings in 1 transcript\n');
    const csv = parseCsv((await user.run(['check', 'a.vtt', '--csv'])).stdout);
    expect(csv).toHaveLength(3);
    const [first] = JSON.parse((await user.run(['check', 'a.vtt', '--json'])).stdout);
    const cellOf = (name: string): string | undefined => csv[1]?.[csv[0]?.indexOf(name) ?? -1];
    expect([first.time, String(first.start)]).toEqual([cellOf('time'), cellOf('start')]);
    expect((await user.run(['check', 'a.vtt', '--markdown'])).stdout).toBe(
      '- [ ] a.vtt line 4 00:00:01.000 error gap: it \\| was \\[xx\\] \\<script\\>\n' +
        '- [ ] a.vtt line 4 00:00:01.000 error unnamed-speaker: Man 2: it \\| was \\[xx\\] \\<script\\>\n',
    );
    expect((await user.run(['check', 'a.vtt', '--markdown', '--columns', 'rule'])).stdout).toContain(
      '| rule |',
    );
    expect((await user.run(['check', 'a.vtt', '--quiet'])).stdout).toBe('a.vtt\n');
  });

  it('say in Markdown where it is, without the folders of this machine', async () => {
    const it = await orderingAccount();
    const body = { audiofile: { id: 1, statename: 'Delivered', title: 'Talk' } };
    it.service.allow('GET /audiofile/1', { body });
    await it.order(audio('a'));
    await it.user.run(['files', '--refresh']);
    await it.user.run(['transcript', '1', '-o', 'out/one.txt']);
    writeFileSync(join(it.user.home, 'out/one.txt'), 'Ada: Well.\n\nAda: one [xx]');
    const tasks = async (cwd: string, arg = '1') =>
      (await it.user.run(['check', arg, '--markdown'], { cwd: join(it.user.home, cwd) })).stdout;
    expect(await tasks('')).toBe('- [ ] out/one.txt line 3 error gap: one \\[xx\\]\n');
    expect(await tasks('out')).toContain(' one.txt line 3 ');
    expect(await tasks('state')).toContain('- [ ] 1 Talk line 3 error gap');
    const elsewhere = await tasks('state', join(it.user.home, 'out/one.txt'));
    expect(elsewhere).not.toContain(it.user.home);
  });

  it('fit a terminal of 80 columns: which file, which line, and the mark itself', async () => {
    const words = 'a good deal has happened since October and nobody knows why ';
    const said = `${words}[inaudible] ${words}`;
    const names = ['season-1/episode-01-transcript.vtt', 'season-1/episode-02-transcript.txt'];
    const user = withFiles({});
    mkdirSync(join(user.home, 'season-1'));
    writeFileSync(join(user.home, names[0] ?? ''), vtt(cue('01.000', '09.000', `<v Man 2>${said}`)));
    writeFileSync(join(user.home, names[1] ?? ''), said);
    const shown = async (line: string, columns: number) =>
      (await user.onTerminal(`steno check ${line} --no-color`, { columns })).stdout;
    const two = await shown(names.join(' '), 80);
    expect(two).toMatch(/^FILE +LINE +TIME +RULE +TEXT\r?$/m);
    expect(two).toMatch(/^\S*episode-01\S* +4 +00:00:01 +gap +\S.*\[inaudible\]/m);
    expect(two).toMatch(/^\S*episode-02\S* +1 +gap +\S.*\[inaudible\]/m);
    const one = await shown(names[0] ?? '', 80);
    expect(one).toMatch(/^LINE +TIME +SEVERITY +RULE +TEXT\r?\n +4 .*\[inaudible\]/m);
    expect(await shown(names.join(' '), 200)).toMatch(/^FILE +LINE +TIME +SEVERITY +RULE +TEXT/m);
  });

  it('count a transcript once, however often it is given', async () => {
    const user = withFiles(files);
    const path = join(user.home, 'a.vtt');
    expect((await check(user, 'a.vtt', './a.vtt', path, 'a.vtt')).found).toHaveLength(2);
    const wrong = await user.run(['check', '77', '77']);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.not.stringContaining('of 2')]);
  });
});

describe('bad input', () => {
  it('is one clear line each; the others are checked, and it exits 10', async () => {
    const bomb = zipOf({ 'word/document.xml': Buffer.alloc(60_000_000, ' ') });
    const user = withFiles({
      ...{
        'good.vtt': vtt(cue('01.000', '02.000', '[xx]')),
        'page.vtt': '<!doctype html><h1>404</h1>',
        'bomb.docx': bomb,
      },
      ...{
        'big.txt': '',
        'plain.srt': 'Dear Ada',
        'zero.txt': 'text\0',
        'pic.png': 'x',
        'old.txt': Buffer.from('caf\u00e9', 'latin1'),
      },
    });
    truncateSync(join(user.home, 'big.txt'), 100_000_000);
    mkdirSync(join(user.home, 'folder.vtt'));
    const names = ['good', 'page'].map((name) => `${name}.vtt`);
    const others = [
      'bomb.docx',
      'big.txt',
      'plain.srt',
      'zero.txt',
      './pic.png',
      'old.txt',
      'folder.vtt',
      'none.vtt',
      '77',
    ];
    const { code, found, stderr } = await check(user, ...names, ...others);
    expect(code).toBe(2);
    expect(found.filter(({ error }) => !error).map(({ path, rule }) => [path, rule])).toEqual([
      ['good.vtt', 'gap'],
    ]);
    expect(
      Object.fromEntries(found.flatMap(({ path, error }) => (error ? [[path, error.message]] : []))),
    ).toEqual({
      'page.vtt': 'page.vtt is a web page, not a transcript in vtt',
      'bomb.docx': 'bomb.docx unpacks to more than 50 MB, too large for a transcript',
      'big.txt': 'big.txt is too large for a transcript: 100 MB, and at most 20 MB are read',
      'plain.srt': expect.stringContaining('plain.srt has no captions'),
      'zero.txt': expect.stringContaining('zero.txt, line 1: it contains a zero byte'),
      './pic.png': './pic.png is not in a format that steno reads',
      'old.txt': expect.stringContaining('old.txt is not UTF-8 (it looks like Latin-1)'),
      'folder.vtt': 'folder.vtt is a folder',
      'none.vtt': "none.vtt can't be read: there is no such file",
      77: 'no transcript of 77 that can be read is on this disk',
    });
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'usage', message: '10 of 11 failed' });
    const alone = await user.run(['check', 'page.vtt', 'good.vtt']);
    expect(alone.stderr).toBe(
      'steno: page.vtt is a web page, not a transcript in vtt\nsteno: 1 of 2 failed\n',
    );
    expect((await user.run(['check', 'page.vtt'])).code).toBe(2);
  });

  it('of any size within the limit is checked within its time', async () => {
    const million = 1_000_000;
    const user = withFiles({
      'line.txt': 'word '.repeat(3 * million),
      'marks.txt': '[xx] '.repeat(million),
      'lines.srt': `1\n00:00:01,000 --> 00:00:02,000\n${'a\n'.repeat(million)}`,
      'voices.vtt': vtt(cue('01.000', '02.000', '<v Ada>a '.repeat(100_000))),
      'emoji.vtt': vtt(
        cue('01.000', '02.000', '😀'.repeat(21), `${'😀'.repeat(60)} [xx] ${'😀'.repeat(60)}`),
      ),
    });
    const files = ['line.txt', 'marks.txt', 'lines.srt', 'voices.vtt', 'emoji.vtt'];
    const { code, found } = await check(user, ...files, '--rules', 'netflix');
    expect(code).toBe(1);
    expect(found.filter(({ path }) => path === 'marks.txt')).toHaveLength(1001);
    expect(found.filter(({ path }) => path === 'marks.txt').at(-1)?.text).toBe(
      '999000 more marks in this line',
    );
    const { stderr } = await user.run(['check', 'marks.txt']);
    expect(stderr).toBe('steno: 1000000 errors and 0 warnings in 1 transcript\n');
    expect(found.find(({ rule, path }) => rule === 'line-count' && path === 'lines.srt')?.text).toContain(
      '1000000 lines',
    );
    expect(found.every(({ text }) => text.length < 200 && !/\ufffd|\p{Cs}/u.test(text))).toBe(true);
    expect(found.find(({ rule, path }) => rule === 'line-length' && path === 'emoji.vtt')?.text).toContain(
      '126 characters',
    );
  });

  it('is said to be a folder where it is one', async () => {
    const user = withFiles({});
    mkdirSync(join(user.home, 'out'));
    for (const folder of ['.', 'out', 'out/', './out']) {
      const { code, stderr } = await user.run(['check', folder]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining(`steno: ${folder} is a folder\nhint: name the`),
      ]);
    }
  });

  it('of 19 MB can be interrupted', async () => {
    const cues = Array.from({ length: 150_000 }, (_, at) => {
      const [from, to] = [at * 500, at * 500 + 400].map((ms) => new Date(ms).toISOString().slice(11, 23));
      return `${from} --> ${to}\n<v Ada Byron>This is said much faster than anyone can read it, and it goes on, number ${at} [xx]`;
    });
    const child = withFiles({ 'a.vtt': vtt(cues.join('\n\n')) }).start([
      'check',
      'a.vtt',
      '--rules',
      'netflix',
    ]);
    const ended = finished(child);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const from = performance.now();
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    expect([code, stderr]).toEqual([130, 'steno: interrupted\n']);
    expect(performance.now() - from).toBeLessThan(5000);
  });

  it('never reaches the terminal as it is', async () => {
    const user = withFiles({ 'a.vtt': vtt(cue('01.000', '02.000', '\u001b[31m[xx]\u0007\u202e')) });
    const { stdout } = await user.run(['check', 'a.vtt']);
    expect(stdout).not.toMatch(/[\u001b\u0007\u202e]/);
  });
});

describe('without arguments', () => {
  it('checks what was downloaded since the last check, of this profile', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'), audio('b'));
    const run = (...args: string[]) => it.user.run(args);
    await run('transcript', '1', '-o', 'one.txt');
    const path = join(it.user.home, 'one.txt');
    writeFileSync(path, 'Ada: one [xx]');
    expect(await check(it.user)).toMatchObject({ code: 1, found: [{ path, audiofile: '1', rule: 'gap' }] });
    expect(await check(it.user)).toMatchObject({ code: 0, found: [] });
    expect((await check(it.user, '1')).code).toBe(1);
    const state = it.user.env.STENO_STATE_DIR ?? '';
    expect([listing(state).includes('last-check.json'), modeOf(join(state, 'last-check.json'))]).toEqual([
      true,
      '600',
    ]);
    expect(readFileSync(join(state, 'last-check.json'), 'utf8')).not.toContain('xx');
    await run('transcript', '2', '-o', 'two.txt');
    writeFileSync(join(it.user.home, 'two.txt'), '<html>');
    // What can't be read is tried again.
    for (let time = 0; time < 2; time += 1)
      expect(await check(it.user)).toMatchObject({ code: 2, found: [{ error: {} }] });
    writeFileSync(join(state, 'last-check.json'), '{"default": 5, ');
    expect((await check(it.user)).found).toHaveLength(2);
    expect((await run('check', '--no-ledger')).code).toBe(2);
  });

  it.skipIf(!existsSync('/dev/full'))('checks again what was not shown to the end', async () => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    await it.user.run(['transcript', '1', '-o', 'one.txt']);
    writeFileSync(join(it.user.home, 'one.txt'), 'Ada: one [xx]\n\nAda: two [xx]');
    const shell = async (line: string) => {
      const [program, ...args] = it.user.program;
      const words = [...args, 'check'].map((word) => `'${word}'`).join(' ');
      const child = spawn('sh', ['-c', `'${program}' ${words} ${line}`], {
        cwd: it.user.home,
        env: it.user.env,
      });
      return finished(child);
    };
    expect(await shell('> /dev/full')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('disk is full'),
    });
    for (const line of ['| head -1', '| true', '--json | head -c 5']) await shell(line);
    expect((await shell('| cat')).stdout.trim().split('\n')).toHaveLength(2);
    expect(await shell('| cat')).toMatchObject({ stdout: '', stderr: '' });
  });

  it("says that doc and rtf can't be read", async () => {
    const it = await orderingAccount();
    await it.order(audio('a'), audio('b'));
    await it.user.run(['transcript', '1', '-o', 'one.txt']);
    for (const [id, name] of ['1.rtf', '2.rtf', '2.doc'].entries())
      await it.user.run(['transcript', String(Math.ceil((id + 1) / 1.5)), '-o', name, '--force']);
    const { code, stderr } = await it.user.run(['check']);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("can't read doc or rtf, the only formats downloaded of 2\n"),
    ]);
    expect(await it.user.run(['check'])).toMatchObject({ code: 0, stderr: '' });
    expect((await it.user.onTerminal('steno check')).stdout).toContain('no new transcripts to check');
  });

  it('finds what leaves the audio, and reads the most precise format', async () => {
    const it = await orderingAccount();
    const body = { audiofile: { id: 1, statename: 'Delivered', title: 'Talk', duration: '1.5' } };
    it.service.allow('GET /audiofile/1', { body });
    await it.order(audio('a'));
    await it.user.run(['files', '--refresh']);
    await it.user.run(['transcript', '1', '--format', 'vtt,txt', '-o', 'out/']);
    const file = (ext: string) => join(it.user.home, 'out', `1.${ext}`);
    writeFileSync(file('txt'), 'Ada: [xx]');
    writeFileSync(
      file('vtt'),
      vtt(
        '00:01:20.000 --> 00:01:30.500\nin [inaudible 00:45:00] [xx 00:01:30]',
        '00:01:31.000 --> 00:01:40.000\nout',
      ),
    );
    const { found } = await check(it.user, '1');
    expect(found.map(({ path, rule, start }) => [path, rule, start])).toEqual([
      [file('vtt'), 'gap', 2700],
      [file('vtt'), 'outside-audio', 2700],
      [file('vtt'), 'gap', 90],
      [file('vtt'), 'outside-audio', 91],
    ]);
  });
});

it('finds the marks and faults of the sandbox in every format', async () => {
  const user = new User({ STENO_PROFILE: 'sandbox' });
  const formats = ['vtt', 'srt', 'tstxt', 'txt', 'html', 'docx'];
  const url = 'https://example.com/marks.mp3?minutes=2';
  const line = ['order', url, '--sku', 'TRANS14', '--wait', '--interval', '200ms', '--download', 'out'];
  expect((await user.run([...line, '--format', formats.join(',')])).code).toBe(0);
  const marks = ['doubt', 'gap', 'gap', 'gap', 'name-change', 'name-change', 'unnamed-speaker'];
  for (const name of listing(join(user.home, 'out'))) {
    const { code, found } = await check(user, `out/${name}`);
    const captions = /vtt|srt/.test(name) ? ['empty-cue', 'overlap', 'time-order'] : [];
    expect([name, code, found.map(({ rule }) => rule).sort()]).toEqual([
      name,
      1,
      [...marks, ...captions].sort(),
    ]);
  }
  const styled = await check(user, '--rules', 'netflix');
  expect(styled.found.map(({ rule }) => rule)).toEqual(
    expect.arrayContaining(['reading-speed', 'line-length', 'too-short']),
  );
});
