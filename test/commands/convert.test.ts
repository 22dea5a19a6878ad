/** `convert`: captions, show notes and feed entries from what was downloaded. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { schemaOf } from '../../src/commands/schema.ts';
import { outputs } from '../support/commands.ts';
import { item, rss } from '../support/feed.ts';
import { listing } from '../support/files.ts';
import { orderingAccount } from '../support/ledger.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';
import { finished, User } from '../support/steno.ts';
import { until } from '../support/until.ts';

const TSTXT = `A talk
Source: https://example.com/a.mp3
Length: 00:00:20

[00:00:01] Ada: Good morning, and thank you for making the time to talk about the garden with us today.

[00:00:09] Man: A pleasure.

[00:00:12] Ada: Shall we begin?
`;

const SRT =
  '1\n00:00:00,000 --> 00:00:02,000\nAda: Hi.\n\n2\n00:00:02,000 --> 00:00:04,000\nBo: Hello & <bye>.\n';
const VTT =
  'WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n<v Ada>Hi.\n\n00:00:02.000 --> 00:00:04.000\n<v Bo>Hello &amp; &lt;bye&gt;.\n';

/** A user with these files in the current folder. */
function userWith(files: Readonly<Record<string, string | Buffer>>) {
  const user = new User();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(user.home, name, '..'), { recursive: true });
    writeFileSync(join(user.home, name), content);
  }
  const read = (name: string): string => readFileSync(join(user.home, name), 'utf8');
  return { user, read, convert: (...args: string[]) => user.run(['convert', ...args]) };
}

const files = ({ home }: User): string[] => listing(home).filter((name) => !/^(?:config|state)$/.test(name));

const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(
  schemaOf('convert', outputs) ?? {},
);

describe('what is refused', () => {
  it.each([
    [['talk.vtt'], 'say what to convert to'],
    [['talk.vtt', '--to', 'vt'], "unknown format 'vt'\nhint: did you mean vtt?"],
    [['--to', 'vtt'], 'name a transcript'],
    [['--to', 'vtt', '--from', 'gone.txt'], "can't read gone.txt"],
    [['--to', 'vtt', '--from', 'x', '--feed', 'feed.xml', '--base', 'https://x.example/'], '--from'],
    [['talk.vtt', '--to', 'srt', '-o', ''], 'the name after --output is empty'],
    [['talk.vtt', '--to', 'srt,md', '-o', '-'], 'only one file can go to stdout'],
    [['talk.vtt', '--to', 'srt', '--link', 'https://x.example/{seconds}'], '--link is for Markdown'],
    [['talk.vtt', '--to', 'md', '--link', 'https://x.example/'], 'has no {seconds}'],
    [['talk.vtt', '--to', 'md', '--link', 'javascript:{seconds}'], 'is not an http or https URL'],
    [['talk.vtt', '--to', 'srt', '--speaker', 'Man='], 'write it like Man=Ada'],
    [
      ['talk.vtt', '--to', 'srt', '--speaker', 'Man=Bo,Ada=Al'],
      'for several names: --speaker Man=Ada --speaker',
    ],
    [
      ['talk.vtt', '--to', 'srt', '--speaker', 'Ada=A', '--speaker', 'ada=B'],
      'has already been renamed to A',
    ],
    [['talk.vtt', '--to', 'md', '--link', 'https://x.example/a b?{seconds}'], '--link contains a space'],
    [['talk.vtt', '--to', 'md', '--link', 'https://u:p@x.example/{seconds}'], 'user name or password'],
    [['talk.vtt', '--to', 'srt', '-o', 'new.vtt'], "'new.vtt' ends in .vtt, but its content would be srt"],
    [['talk.vtt', '--to', 'txt', '-o', 'new.TSTXT'], "'new.TSTXT' ends in .tstxt"],
    [['talk.vtt', '--to', 'srt,md', '-o', 'new.md'], 'need a folder'],
    [['talk.vtt', '--to', 'srt', '--speaker', 'nowhere.txt'], '--speaker nowhere.txt: there is no such file'],
    [['talk.vtt', '--to', 'srt', '--speaker', 'talk.vtt'], 'talk.vtt, line 1: write it like Man=Ada'],
    [['talk.vtt', '--to', 'srt', '--line-length', '0'], '--line-length must be a whole number'],
    [['talk.vtt', '--to', 'srt', '--base', 'https://x.example/'], '--base'],
  ])('is a wrong line: %j', async (args, message) => {
    const { user, convert } = userWith({ 'talk.vtt': VTT });
    const { code, stdout, stderr } = await convert(...args);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(files(user)).toEqual(['talk.vtt']);
  });

  it.each([
    ['a.txt', 'Ada: Hello.\n', "a.txt has no times, so it can't become captions"],
    ['a.html', '<p>Ada: Hello.</p>', 'a.html has no times'],
    ['a.vtt', '<!doctype html><html><body>Not found</body></html>', 'a.vtt is a web page'],
    ['a.srt', 'nothing at all', 'a.srt has no captions'],
    ['a.srt', Buffer.from([0xff, 0xfe, 0, 0, 1, 2]), 'a.srt is not UTF-8'],
    [
      'a.vtt',
      'WEBVTT\n\n00:00:99.000 --> 00:01:00.000\nLost\n\n00:02:00.000 --> 00:02:01.000\nx\n',
      'this caption has no time',
    ],
    [
      'a.vtt',
      'WEBVTT\n\n00:09.000 --> 00:10.000\nLate\n\n00:01.000 --> 00:02.000\nEarly\n',
      'line 7: this caption starts before the one above it',
    ],
    ['a.srt', '1\n00:00:09,000 --> 00:00:08,000\nBack\n', 'this caption ends before it starts'],
    ['a.docx', 'PK\u0003\u0004 no zip', 'a.docx'],
    ['a.vtt', '', 'a.vtt is empty'],
    ['a.vtt', 'WEBVTT\n', 'a.vtt has no text'],
    ['a.vtt', 'WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Ada></v>\n', 'a.vtt has no text'],
    [
      'a.srt',
      `1\n00:00:01,000 --> 00:00:09,000\n${'word '.repeat(250_000)}`,
      'more than a million characters',
    ],
    ['a.tstxt', Buffer.alloc(20_000_001, 'a'), 'a.tstxt is too large'],
  ])('is told in one line, and leaves nothing: %s %#', async (name, content, message) => {
    const { user, convert } = userWith({ [name]: content });
    const { code, stdout, stderr } = await convert(name, '--to', 'json');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(message);
    expect(stderr.trimEnd().split('\n').length).toBeLessThanOrEqual(3);
    expect(files(user)).toEqual([name]);
  });

  it('is a folder', async () => {
    const { convert } = userWith({ 'd/a.vtt': VTT });
    for (const path of ['d/', './d']) {
      const { code, stderr } = await convert(path, '--to', 'srt');
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${path} is a folder`)]);
    }
  });

  it('holds up no other: exit 10', async () => {
    const { user, convert } = userWith({ 'a.txt': 'Ada: Hi.', 'b.srt': SRT });
    const { code, stdout, stderr } = await convert(
      'a.txt',
      'gone.vtt',
      'b.srt',
      '777',
      '--to',
      'vtt',
      '--json',
    );
    expect(code).toBe(10);
    const rows = JSON.parse(stdout);
    expect([validate(rows), validate.errors]).toEqual([true, null]);
    expect(rows).toMatchObject([
      { source: 'a.txt', format: 'vtt', error: { code: 'failed' } },
      { source: 'gone.vtt', error: { message: expect.stringContaining('gone.vtt') } },
      { source: 'b.srt', path: 'b.vtt', format: 'vtt', audiofile: null, unchanged: false },
      { source: '777', error: { message: expect.stringContaining('777') } },
    ]);
    expect(stderr).toContain('3 of 4 failed');
    expect(files(user)).toEqual(['a.txt', 'b.srt', 'b.vtt']);
  });
});

describe('a list', () => {
  const names = { 'my talk, part 1.srt': SRT, 'a.txt': 'Ada: Hi.', 'ö {b}.srt': SRT, 'c.srt': SRT };

  it('is read from a file or from stdin, with the same results as several arguments', async () => {
    const lines = '# to publish\r\nmy talk, part 1.srt\r\n\n  ö {b}.srt\tsrt\t2 kB\na.txt\n777\nc.srt\n';
    const { user, convert } = userWith({ ...names, 'list.txt': lines });
    const args = ['--to', 'vtt', '--json', '--force'];
    const listed = ['my talk, part 1.srt', 'ö {b}.srt', 'a.txt', '777'];
    const wanted = await convert('c.srt', ...listed, ...args);
    expect(wanted).toMatchObject({ code: 10, stderr: expect.stringContaining('2 of 5 failed') });
    const bare = ({ code, stderr, stdout }: typeof wanted) => ({
      ...{ code, stderr },
      rows: JSON.parse(stdout).map((row: object) => ({ ...row, unchanged: undefined })),
    });
    expect(bare(await convert('c.srt', '--from', 'list.txt', ...args))).toEqual(bare(wanted));
    const piped = await user.run(['convert', 'c.srt', '--from', '-', ...args], { stdin: lines });
    expect(bare(piped)).toEqual(bare(wanted));
    expect(files(user)).toContain('my talk, part 1.vtt');
  });

  it('of one failed transcript ends as that one does; an empty list is no error', async () => {
    const { user, convert } = userWith({ ...names, 'one.txt': 'a.txt\n', 'none.txt': '# nothing\n' });
    expect((await convert('--from', 'one.txt', '--to', 'vtt')).code).toBe(1);
    for (const output of ['out/', 'new.vtt', '-']) {
      const json = output === '-' ? [] : ['--json'];
      const { code, stdout } = await convert('--from', 'none.txt', '--to', 'vtt', '-o', output, ...json);
      expect([code, stdout]).toEqual([0, output === '-' ? '' : '[]\n']);
    }
    expect(files(user)).not.toContain('new.vtt');
  });
});

it('is stopped by Ctrl-C within one large file, and says what was written', async () => {
  const said = 'We walked to the lighthouse on Sunday in the rain, and the wind was the point. '.repeat(2);
  const cues = Array.from({ length: 20_000 }, (_, at) => {
    const clock = (s: number) => new Date(s * 1000).toISOString().slice(11, 23);
    return `\n${clock(at * 4)} --> ${clock(at * 4 + 4)}\n<v Ada>${said}\n`;
  });
  const { user } = userWith({ 'a.vtt': VTT, 'b.vtt': `WEBVTT\n${cues.join('')}` });
  const child = user.start(['convert', 'a.vtt', 'b.vtt', '--to', 'srt', '-o', 'out/']);
  const ended = finished(child);
  await until(() => existsSync(join(user.home, 'out/a.srt')), 'the first file');
  child.kill('SIGINT');
  const { code, stdout, stderr } = await ended;
  expect([code, stderr]).toEqual([130, expect.stringContaining('interrupted: 1 of 2 files written')]);
  expect(stdout).toContain('out/a.srt');
  expect(listing(join(user.home, 'out'))).toEqual(['a.srt']);
}, 60_000);

it('leaves nothing on a full disk, and holds up no other', async () => {
  const { user, convert } = userWith({ 'a.vtt': VTT, 'b.srt': SRT });
  const folder = user.env.STENO_STATE_DIR ?? '';
  mkdirSync(folder);
  const disk = canMount ? SmallDisk.mount(user, 1) : undefined;
  if (!disk) return;
  disk.fill();
  const before = readdirSync(folder);
  const { code, stderr } = await convert('a.vtt', 'b.srt', '--to', 'txt', '-o', `${folder}/`);
  expect([code, stderr]).toEqual([1, expect.stringContaining('the disk is full')]);
  expect(readdirSync(folder)).toEqual(before);
  disk.free();
  expect((await convert('a.vtt', 'b.srt', '--to', 'txt', '-o', `${folder}/`)).code).toBe(0);
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['a.txt', 'b.txt']));
});

describe('a file', () => {
  it('never replaces its source, by whatever name', async () => {
    const { user, read, convert } = userWith({ 'a.vtt': VTT });
    linkSync(join(user.home, 'a.vtt'), join(user.home, 'b.vtt'));
    symlinkSync('a.vtt', join(user.home, 'c.vtt'));
    for (const to of ['a.vtt', 'b.vtt', 'c.vtt', './a.vtt']) {
      const { code, stderr } = await convert('a.vtt', '--to', 'vtt', '-o', to, '--force');
      expect([code, stderr]).toEqual([
        2,
        expect.stringContaining('is the file being converted; steno does not overwrite it'),
      ]);
    }
    expect((await convert('a.vtt', '--to', 'vtt')).code).toBe(2);
    expect(read('a.vtt')).toBe(VTT);
  });

  it('never replaces another source of the same command', async () => {
    const { read, convert } = userWith({ 'a.vtt': VTT, 'a.srt': SRT.replace('Hi', 'Ho') });
    const { code } = await convert('a.vtt', 'a.srt', '--to', 'srt', '--force');
    expect(code).toBe(2);
    expect(read('a.srt')).toContain('Ho');
  });

  it('replaces one that differs only with --force', async () => {
    const { read, convert } = userWith({ 'a.vtt': VTT, 'a.srt': 'mine' });
    const refused = await convert('a.vtt', '--to', 'srt');
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('a.srt already exists and differs'),
    ]);
    expect(read('a.srt')).toBe('mine');
    expect((await convert('a.vtt', '--to', 'srt', '--force', '--quiet')).stdout).toBe('a.srt\n');
    expect(read('a.srt')).toBe(SRT.replace('<bye', '<\u2060bye'));
    const again = await convert('a.vtt', '--to', 'srt', '--json');
    expect([again.code, JSON.parse(again.stdout)]).toEqual([
      0,
      [expect.objectContaining({ unchanged: true })],
    ]);
  });

  it('is not mixed up with another of the same name', async () => {
    const { read, convert } = userWith({ 'x/a.vtt': VTT, 'y/a.vtt': VTT.replace('Hi', 'Ho') });
    const { code, stderr } = await convert('x/a.vtt', 'y/a.vtt', '--to', 'srt', '-o', 'out', '--force');
    expect([code, stderr]).toEqual([10, expect.stringContaining('has the same name')]);
    expect(read('out/a.srt')).toContain('Hi');
  });

  it('is written once, however often its source is given', async () => {
    const { user, convert } = userWith({ 'b.srt': SRT, 'c.srt': SRT });
    const path = join(user.home, 'b.srt');
    const { code, stdout } = await convert('b.srt', './b.srt', 'c.srt', path, '--to', 'vtt', '--quiet');
    expect([code, stdout]).toEqual([0, 'b.vtt\nc.vtt\n']);
  });

  it('goes where -o says: a folder, a name that tells its format, or stdout', async () => {
    const { user, read, convert } = userWith({ 'a.vtt': VTT });
    expect((await convert('a.vtt', '--to', 'srt,md', '-o', 'public')).code).toBe(0);
    expect(listing(join(user.home, 'public'))).toEqual(['a.md', 'a.srt']);
    expect((await convert('a.vtt', '-o', 'b.srt')).code).toBe(0);
    const printed = await convert('a.vtt', '--to', 'srt', '-o', '-');
    expect([printed.code, printed.stdout, printed.stderr]).toEqual([0, read('b.srt'), '']);
  });

  it('is not written at all where its folder is none', async () => {
    const { user, convert } = userWith({ 'a.vtt': VTT, public: 'a file' });
    const { code } = await convert('a.vtt', '--to', 'srt,md', '-o', 'public/');
    expect(code).toBe(1);
    expect(files(user)).toEqual(['a.vtt', 'public']);
  });
});

describe('the content', () => {
  it('of a tstxt becomes captions that fit, with new names', async () => {
    const { read, convert } = userWith({
      'a.tstxt': TSTXT,
      'names.txt': '\ufeff# who\n\nMan=Bo Ek\r\nada=Ada L.\n',
    });
    const { code, stderr } = await convert(
      'a.tstxt',
      '--to',
      'vtt',
      '--speaker',
      'names.txt',
      '--speaker',
      'X=Y',
    );
    expect([code, stderr]).toEqual([0, expect.stringContaining("no speaker is called 'X'")]);
    expect(read('a.vtt')).toBe(`WEBVTT

00:00:01.000 --> 00:00:02.209
<v Ada L.>Good morning,

00:00:02.209 --> 00:00:09.000
<v Ada L.>and thank you for making the time
to talk about the garden with us today.

00:00:09.000 --> 00:00:12.000
<v Bo Ek>A pleasure.

00:00:12.000 --> 00:00:13.000
<v Ada L.>Shall we begin?
`);
  });

  it('of captions is the same after vtt, srt and vtt again', async () => {
    const { read, convert } = userWith({ 'a.vtt': VTT });
    expect((await convert('a.vtt', '--to', 'srt')).code).toBe(0);
    expect((await convert('a.srt', '-o', 'again.vtt')).code).toBe(0);
    expect(read('again.vtt')).toBe(VTT);
  });

  it('is read with mixed line ends, a mark, and control characters', async () => {
    const { read, convert } = userWith({
      'a.srt': `\ufeff${SRT.replaceAll('\n', '\r\n').replace('Hi.', 'Hi\u0007\u001b[31m.\r')}`,
    });
    expect((await convert('a.srt', '--to', 'vtt')).code).toBe(0);
    expect(read('a.vtt')).toContain('<v Ada>Hi [31m.\n');
  });

  it('of a text without times can be read', async () => {
    const { read, convert } = userWith({ 'a.txt': 'Ada: Hello *there*.\n\nBo: Hi.\n' });
    expect((await convert('a.txt', '--to', 'md')).code).toBe(0);
    expect(read('a.md')).toBe('# a\n\n## Ada\n\nHello \\*there\\*.\n\n## Bo\n\nHi.\n');
  });

  it('is linked by time in Markdown, and is text without its head', async () => {
    const { read, convert } = userWith({ 'a.tstxt': TSTXT });
    const link = 'https://example.com/a?t={seconds}';
    expect((await convert('a.tstxt', '--to', 'md,txt,json', '--link', link)).code).toBe(0);
    expect(read('a.md')).toContain('\n\n## Man\n\n[00:00:09](https://example.com/a?t=9) A pleasure.\n\n');
    expect(read('a.txt')).toMatch(/^Ada: Good morning,.*\n\nMan: A pleasure\.\n\nAda: Shall we begin\?\n$/);
    expect(JSON.parse(read('a.json')).segments[2]).toEqual({
      ...{ speaker: 'Man', startTime: 9, endTime: 12, body: 'A pleasure.' },
    });
  });

  it.each([
    ['txt', 'A talk\nSource: https://x.example/a\nLength: 00:12\n\nAda: Hi.\n'],
    ['html', '<h1>A talk</h1><p>Source: x<br>Length: 00:12</p><p>Ada: Hi.</p>'],
  ])('of %s is text without its head', async (format, content) => {
    const { read, convert } = userWith({ [`a.${format}`]: content });
    expect((await convert(`a.${format}`, '--to', 'md,txt', '-o', 'out')).code).toBe(0);
    expect([read('out/a.md'), read('out/a.txt')]).toEqual(['# a\n\n## Ada\n\nHi.\n', 'Ada: Hi.\n']);
  });

  it('of a tstxt keeps what is said before the first time, which captions can not have', async () => {
    const { user, read, convert } = userWith({ 'a.tstxt': 'Ada: Early.\n\n[00:00:09] Bo: Late.\n' });
    expect((await convert('a.tstxt', '--to', 'txt')).code).toBe(0);
    expect(read('a.txt')).toBe('Ada: Early.\n\nBo: Late.\n');
    const { code, stderr } = await convert('a.tstxt', '--to', 'vtt');
    expect([code, stderr]).toEqual([1, expect.stringContaining('a.tstxt, line 1: this caption has no time')]);
    expect(files(user)).toEqual(['a.tstxt', 'a.txt']);
  });

  it('keeps words outside of cues, and says so', async () => {
    const { read, convert } = userWith({ 'a.srt': `${SRT}\n\nleft over\n` });
    const { code, stderr } = await convert('a.srt', '--to', 'vtt');
    expect([code, stderr]).toEqual([0, expect.stringContaining('a.srt, line 10: text outside of a cue')]);
    expect(read('a.vtt')).toContain('left over');
  });
});

describe('a feed', () => {
  const episodes = [1, 2, 3].map((n) => ({
    ...{ guid: `ep-${n}`, title: `Episode ${n}`, date: `Tue, 0${n} Nov 2026 09:30:00 GMT` },
    url: `https://media.example/${n}.mp3`,
  }));

  /** Two of three episodes are ordered, and downloaded to `t`. */
  async function published(feed: string) {
    const { service, user, order } = await orderingAccount();
    for (const id of [1, 2]) service.on(`POST /audiofile/${id}/transcript.vtt`, { body: VTT });
    writeFileSync(join(user.home, 'feed.xml'), feed);
    expect((await order('--feed', 'feed.xml', '--latest', '2')).code).toBe(0);
    expect((await user.run(['transcript', '1', '2', '--format', 'vtt', '-o', 't/'])).code).toBe(0);
    const add = (...args: string[]) =>
      user.run(['convert', '--feed', 'feed.xml', '--base', 'https://example.com/t', ...args]);
    return { user, add };
  }

  const link = (n: number, ext = 'vtt', type = 'text/vtt" rel="captions'): string =>
    `<podcast:transcript url="https://example.com/t/${n}.${ext}" type="${type}"/>`;

  /** In the order of the feed, whose newest is ordered first. */
  const plain = rss(episodes.map(item).join(''));

  it('gets an element for each transcript, and nothing else changes', async () => {
    const { add } = await published(plain);
    const { code, stdout, stderr } = await add();
    expect([code, stderr]).toEqual([0, '2 of 3 episodes with transcripts, 2 links added\n']);
    const links = stdout.match(/<podcast:transcript [^>]*>/g) ?? [];
    expect([...links].sort()).toEqual([link(1), link(2)]);
    expect(links.reduce((text, each) => text.replace(each, ''), stdout)).toBe(plain);
    expect(stdout.split('</item>').map((each) => each.includes('podcast:transcript'))).toEqual([
      ...[false, true, true, false],
    ]);
  });

  it('keeps its indents, line ends, mark, comments and marked sections; what is there is not added again', async () => {
    const head = '\ufeff<?xml version="1.0"?>\r\n<!-- </item> -->\r\n<rss version="2.0"';
    const inner = '<![CDATA[</item> é 𝄞]]>';
    const body = (n: number, more = ''): string =>
      `  <item>\r\n\t<!-- </item> -->\r\n\t<title>${inner}</title>\r\n\t<guid>ep-${n}</guid>\r\n` +
      `\t<pubDate>Tue, 0${n} Nov 2026 09:30:00 GMT</pubDate>\r\n` +
      `\t<enclosure url="https://media.example/${n}.mp3?a=1&amp;b=2" type="audio/mpeg"/>${more}\r\n  </item >\r\n`;
    const feed = (space: string, ...more: string[]): string =>
      `${head}${space}>\r\n<channel><title>A &amp; B</title>\r\n${[3, 2, 1].map((n, at) => body(n, more[at])).join('')}</channel></rss>\r\n\r\n`;
    const { user, add } = await published(feed(''));
    const wanted = (n: number) => `\r\n\t${link(n)}\r\n\t${link(n, 'json', 'application/json')}`;
    for (const n of [1, 2]) expect((await user.run(['convert', `${n}`, '--to', 'json'])).code).toBe(0);
    expect((await add('-o', 'new.xml', '--quiet')).stdout).toBe('new.xml\n');
    const written = readFileSync(join(user.home, 'new.xml'), 'utf8');
    // ` xmlns:podcast` stands right after the name of the root.
    const root = '<rss xmlns:podcast="https://podcastindex.org/namespace/1.0" version="2.0"';
    expect(written).toBe(feed('', wanted(1), wanted(2)).replace('<rss version="2.0"', root));
    const again = await user.run([
      'convert',
      '--feed',
      'new.xml',
      '--base',
      'https://example.com/t/',
      '-o',
      '-',
    ]);
    expect([again.code, again.stdout]).toEqual([0, written]);
    const other = await user.run([
      'convert',
      '--feed',
      'new.xml',
      '--base',
      'https://example.com/t/',
      '-o',
      'new.xml',
      '--force',
    ]);
    expect([other.code, other.stderr]).toEqual([2, expect.stringContaining('does not overwrite it')]);
  });

  it('has the links of an earlier run replaced if the base has changed, where they stand', async () => {
    const { user, add } = await published(plain);
    // These are not what steno wrote: another name, other attributes, and one in a comment.
    const own =
      '<podcast:transcript url="https://old.example/t/other.vtt" type="text/vtt" rel="captions"/>' +
      '<podcast:transcript url="https://old.example/t/2.vtt" type="text/vtt" language="de"/>';
    const rest = (feed: string): string => feed.replace('<title>Episode 2', `${own}$&`);
    const base = (url: string) => ['--feed', 'old.xml', '--base', url];
    await add('-o', 'old.xml');
    const before = rest(readFileSync(join(user.home, 'old.xml'), 'utf8'));
    const commented = link(1).replace('t/1', 't/0');
    const full = before.replace(link(1), `$&<!-- ${commented} --><a/>`);
    writeFileSync(join(user.home, 'old.xml'), full);
    const { code, stdout, stderr } = await user.run(['convert', ...base('https://cdn.example/a&b/')]);
    expect([code, stderr]).toEqual([0, '2 of 3 episodes with transcripts, 0 links added, 2 replaced\n']);
    const moved = (text: string): string =>
      [1, 2].reduce(
        (all, n) => all.replace(link(n), link(n).replace('example.com/t', 'cdn.example/a&amp;b')),
        text,
      );
    expect(stdout).toBe(moved(full));
    writeFileSync(join(user.home, 'old.xml'), stdout);
    expect((await user.run(['convert', ...base('https://cdn.example/a&b')])).stdout).toBe(stdout);
    expect((await user.run(['convert', ...base('https://example.com/t')])).stdout).toBe(full);
    // A format that is new is added beside it.
    expect((await user.run(['convert', '1', '--to', 'srt'])).code).toBe(0);
    const both = await user.run(['convert', ...base('https://third.example/')]);
    expect(both.stderr).toContain('1 link added, 2 replaced');
    expect(both.stdout.match(/third\.example/g)).toHaveLength(3);
    expect(both.stdout).not.toContain('cdn.example');
  });

  it('leaves a link that stands twice, as in a comment', async () => {
    const { user, add } = await published(plain);
    await add('-o', 'old.xml');
    const path = join(user.home, 'old.xml');
    const twice = readFileSync(path, 'utf8').replace(link(1), `<!-- ${link(1)} -->${link(1)}`);
    writeFileSync(path, twice);
    const { stdout, stderr } = await user.run([
      ...['convert', '--feed', 'old.xml', '--base', 'https://cdn.example/'],
    ]);
    expect(stderr).toContain('1 link added, 1 replaced');
    expect(stdout).toContain(`<!-- ${link(1)} -->${link(1)}`);
  });

  it('links what is in the folders that are named, in the formats that are named', async () => {
    const { user, add } = await published(plain);
    mkdirSync(join(user.home, 'public'));
    for (const name of ['1.srt', '1.txt', '2.md']) writeFileSync(join(user.home, 'public', name), 'x');
    const { stdout } = await add('public', '--to', 'srt');
    expect(stdout.match(/<podcast:transcript [^>]*>/g)).toEqual([
      link(1, 'srt', 'application/x-subrip" rel="captions'),
    ]);
  });

  it('never gives two episodes one transcript', async () => {
    const { service, user, order } = await orderingAccount();
    for (const id of [1, 2]) service.on(`POST /audiofile/${id}/transcript.vtt`, { body: VTT });
    writeFileSync(join(user.home, 'feed.xml'), plain);
    expect((await order('--feed', 'feed.xml', '--latest', '2')).code).toBe(0);
    for (const id of ['1', '2'])
      expect((await user.run(['transcript', id, '--format', 'vtt', '-o', `ep${id}/talk.vtt`])).code).toBe(0);
    const add = (...args: string[]) =>
      user.run(['convert', '--feed', 'feed.xml', '--base', 'https://example.com/t', ...args]);
    const urls = (text: string): string[] =>
      [...text.matchAll(/transcript url="([^"]*)"/g)].map(([, url = '']) => url);
    for (const folders of [[], ['ep1', 'ep2']]) {
      const { code, stdout, stderr } = await add(...folders);
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        expect.stringContaining('two episodes would have the same link'),
      ]);
    }
    // Below one folder, each has a URL of its own.
    expect(urls((await add('.')).stdout).sort()).toEqual(
      [1, 2].map((n) => `https://example.com/t/ep${n}/talk.vtt`),
    );
    // A file that the ledger has is that of its own episode, and so are those beside it.
    expect((await user.run(['convert', 'ep1/talk.vtt', '--to', 'srt', '-o', 'ep1/'])).code).toBe(0);
    expect(urls((await add('ep1')).stdout)).toEqual(
      ['vtt', 'srt'].map((ext) => `https://example.com/t/talk.${ext}`),
    );
    mkdirSync(join(user.home, 'public'));
    writeFileSync(join(user.home, 'public/talk.srt'), SRT);
    const unclear = await add('public');
    expect([unclear.code, unclear.stderr]).toEqual([2, expect.stringContaining('may be the transcript of')]);
  });

  it('says so if none of its episodes has a transcript', async () => {
    const { user, add } = await published(plain);
    mkdirSync(join(user.home, 'empty'));
    const { code, stdout, stderr } = await add('empty');
    expect([code, stdout, stderr]).toEqual([
      0,
      plain,
      expect.stringContaining('no transcript of these episodes is in'),
    ]);
    for (const wrong of ['nowhere/', '1', 'feed.xml']) {
      const { code: exit, stderr: said } = await add(wrong);
      expect([exit, said]).toEqual([2, expect.stringContaining(`'${wrong}' is not a folder`)]);
    }
  });

  it('of an id is read from another format if the best one is broken', async () => {
    const { service, user, order } = await orderingAccount();
    expect((await order('https://media.example/1.mp3')).code).toBe(0);
    service.on('POST /audiofile/1/transcript.vtt', { body: VTT });
    service.on('POST /audiofile/1/transcript.srt', { body: SRT });
    expect((await user.run(['transcript', '1', '--format', 'vtt,srt'])).code).toBe(0);
    writeFileSync(join(user.home, '1.vtt'), '<!doctype html><html><body>Not found</body></html>');
    const { code, stderr } = await user.run(['convert', '1', '--to', 'json,md', '-o', 'out/']);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/1\.vtt is a web page.*1\.srt was converted instead/),
    ]);
    expect(listing(join(user.home, 'out'))).toEqual(['1.json', '1.md']);
    writeFileSync(join(user.home, '1.srt'), 'nothing');
    const refused = await user.run(['convert', '1', '--to', 'json', '-o', 'other/']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('1.vtt is a web page')]);
  });

  it.each([
    [
      'Atom',
      '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id><link rel="enclosure" href="https://m.example/1.mp3"/></entry></feed>',
      'is Atom',
    ],
    ['UTF-16', Buffer.from(`\ufeff${plain.replace('UTF-8', 'UTF-16')}`, 'utf16le'), 'is not in UTF-8'],
    [
      'Latin-1',
      Buffer.from(plain.replace('UTF-8', 'ISO-8859-1').replace('A show', 'é'), 'latin1'),
      'is not in UTF-8',
    ],
    ['a web page', '<!doctype html><html></html>', 'is a web page'],
    ['no XML', 'x', 'is not a feed'],
  ])('is refused if it is %s', async (_, content, message) => {
    const { user } = userWith({ 'feed.xml': content });
    const line = ['convert', '--feed', 'feed.xml', '--base', 'https://x.example/', '-o', 'new.xml'];
    const { code, stdout, stderr } = await user.run(line);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(existsSync(join(user.home, 'new.xml'))).toBe(false);
  });

  it.each([
    [['--feed', 'feed.xml'], '--base'],
    [['--feed', 'feed.xml', '--base', 'x.example'], 'is not an http or https URL'],
    [['--feed', 'feed.xml', '--base', 'https://x.example/d?a=1'], 'has a query or a fragment'],
    [['--feed', 'feed.xml', '--base', 'https://x.example/d#'], 'has a query or a fragment'],
    [['--feed', 'feed.xml', '--base', 'https://u:p@x.example/'], 'has a user name or password'],
    [['--feed', 'https://x.example/feed.xml', '--base', 'https://x.example/'], 'from a file, not from a URL'],
    [['--feed', '-', '--base', 'https://x.example/'], 'from a file, not from stdin'],
    [['--feed', 'gone.xml', '--base', 'https://x.example/'], 'hint: name the RSS file of the podcast'],
    [['--feed', 'feed.xml', '--base', 'https://x.example/', '-o', 'new.vtt'], "'new.vtt' ends in .vtt"],
    [['--feed', 'feed.xml', '--base', 'https://x.example/', '--to', 'md'], "can't link to 'md'"],
    [['--feed', 'feed.xml', '--base', 'https://x.example/', '--json'], 'the feed goes to stdout'],
    [['--feed', 'gone.xml', '--base', 'https://x.example/'], "can't read the feed gone.xml"],
    [['--feed', 'feed.xml', '--base', 'https://x.example/', '--no-ledger'], '--no-ledger'],
    [['--feed', 'feed.xml', '--base', 'https://x.example/', '--speaker', 'A=B'], '--speaker'],
  ])('is refused with %j', async (args, message) => {
    const { user } = userWith({ 'feed.xml': plain });
    const { code, stderr } = await user.run(['convert', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
