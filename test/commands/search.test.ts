/** `search`: what it finds, how it shows it, and an index that follows the files whatever happens to either. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { schemaOf } from '../../src/commands/schema.ts';
import { Downloads } from '../../src/ledger/downloads.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { outputs } from '../support/commands.ts';
import { modeOf } from '../support/files.ts';
import { ledgerOf } from '../support/ledger.ts';
import { canMount, SmallDisk } from '../support/small-disk.ts';
import { finished, type Result, User } from '../support/steno.ts';

const validate = new Ajv2020({ allowUnionTypes: true }).compile(schemaOf('search', outputs) ?? {});

interface Found {
  readonly audiofile: string;
  readonly path: string;
  readonly line: number;
  readonly start: number | null;
  readonly text: string;
}

const vtt = (...cues: string[]): string =>
  `WEBVTT\n\n${cues.map((text, at) => `00:0${at}:00.000 --> 00:0${at}:01.500\n${text}\n`).join('\n')}`;

class Reader extends User {
  constructor() {
    super({ STENO_LEDGER: undefined });
  }

  get index(): string {
    return join(this.env.STENO_STATE_DIR ?? '', 'search.db');
  }

  /** Writes transcripts as if they had been downloaded: `t/1.vtt` is one of file 1. */
  async has(transcripts: Readonly<Record<string, string | Buffer>>): Promise<this> {
    const ledger = await openLedger(ledgerOf(this), 'default', String);
    for (const [name, content] of Object.entries(transcripts)) {
      const [, id = '', ext = ''] = /([^/]+)\.(\w+)$/.exec(name) ?? [];
      this.write(name, content);
      const written = { bytes: content.length, sha256: '', isDraft: false };
      await new Downloads(ledger).add(id, ext, join(this.home, name), written);
    }
    await ledger.close();
    return this;
  }

  write(name: string, content: string | Buffer): void {
    mkdirSync(dirname(join(this.home, name)), { recursive: true });
    writeFileSync(join(this.home, name), content);
  }

  async search(...args: string[]): Promise<Found[]> {
    const { code, stdout, stderr } = await this.run(['search', '--json', ...args]);
    expect([code, stderr]).toEqual([0, '']);
    const found = JSON.parse(stdout);
    expect([validate(found), validate.errors]).toEqual([true, null]);
    return found;
  }

  async texts(...args: string[]): Promise<string[]> {
    return (await this.search(...args)).map(({ text }) => text);
  }
}

const talk = vtt('<v Ada>The annual', '<v Ada>report is out.', '<v Bob Ross>Café? No plum jam.');

describe('search', () => {
  it('finds a sentence with its file, line, time and speaker', async () => {
    const reader = await new Reader().has({ 't/1.vtt': talk.replace('00:01:00.000', '00:00:02.000') });
    expect(await reader.search('annual', 'REPORT')).toEqual([
      {
        ...{ audiofile: '1', title: null, path: join(reader.home, 't/1.vtt'), line: 4 },
        ...{ start: 0, end: 61.5, speaker: 'Ada', text: 'The annual report is out.' },
      },
    ]);
    expect(await reader.texts('cafe')).toEqual(['Café?']);
    expect(await reader.texts('"plum jam"')).toEqual(['No plum jam.']);
    expect(await reader.texts('jam plum')).toEqual([]);
    expect(await reader.texts('plu*', '-jam')).toEqual([]);
    expect(await reader.texts('plum', '-hello', '-version', '--limit', '1')).toEqual(['No plum jam.']);
    expect(await reader.texts('plum', '--speaker', 'ross')).toEqual(['No plum jam.']);
    expect(await reader.texts('plum', '--speaker', 'Ada')).toEqual([]);
    expect(await reader.search('plum', '--context', '1')).toMatchObject([{ before: ['Café?'], after: [] }]);
  });

  it('prints rows in a pipe, paths with --quiet, and nothing without a hit', async () => {
    const reader = await new Reader().has({ '1.txt': 'Ada: One jam.\n\nBob: Two jam.', '2.vtt': talk });
    const run = (...args: string[]): Promise<Result> => reader.run(['search', ...args]);
    expect((await run('one')).stdout).toBe(`1\t\t${reader.home}/1.txt\t1\t\t\tAda\tOne jam.\n`);
    expect((await run('jam', '--quiet')).stdout).toBe(`${reader.home}/2.vtt\n${reader.home}/1.txt\n`);
    expect((await run('jam', '--csv', '--limit', '1', '--columns', 'start,text')).stdout).toBe(
      'start,text\r\n120,No plum jam.\r\n',
    );
    expect(await run('nowhere')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  });

  it('shows a person what grep would, with the hit marked', async () => {
    const reader = await new Reader().has({ '1.vtt': talk.replace('Café', 'Caf\u001b[2Jé') });
    const { stdout } = await reader.onTerminal('steno search jam --context 1 --no-pager', {
      env: { FORCE_COLOR: '1' },
    });
    expect(stdout).toContain('0:02:00  ');
    expect(stdout).toContain('Bob Ross: No plum \u001b[31mjam\u001b[39m.');
    expect(stdout).not.toContain('\u001b[2J');
    expect((await reader.onTerminal('steno search zebra')).stdout).toContain(
      'No matches in your downloaded transcripts.',
    );
    const empty = await new Reader().has({ '1.rtf': 'zebra' });
    expect((await empty.onTerminal('steno search zebra')).stdout).toContain(
      'there is no transcript to search',
    );
    const chosen = await empty.onTerminal('steno search zebra --file 7');
    expect(chosen.stdout).toContain('No matches in your downloaded transcripts.');
  });

  it('chooses by file, time, order, tag and feed', async () => {
    const reader = await new Reader().has({ '1.txt': 'jam', '2.txt': 'jam' });
    const ids = async (...args: string[]) =>
      (await reader.search('jam', ...args)).map(({ audiofile }) => audiofile);
    expect(await ids()).toEqual(['2', '1']);
    expect(await ids('--file', '1')).toEqual(['1']);
    expect(await ids('--since', '1h')).toEqual(['2', '1']);
    expect(await ids('--since', '2999-01-01')).toEqual([]);
    expect(await ids('--order', 'o1')).toEqual([]);
    expect(await ids('--tag', 'x')).toEqual([]);
    expect(await ids('--feed', 'https://e.org/feed')).toEqual([]);
  });

  it('finds a phrase over captions without full stops, wherever they are cut', async () => {
    const said = Array.from({ length: 300 }, (_, at) => `and then we went on to number${at} and so on`);
    const at = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(11, 23);
    const cues = said.map((text, cue) => `${at(cue)} --> ${at(cue + 1)}\n${text}\n`);
    const reader = await new Reader().has({ '1.vtt': `WEBVTT\n\n${cues.join('\n')}` });
    for (let number = 0; number < 299; number += 7)
      expect(
        await reader.search(`"number${number} and so on and then we went on to number${number + 1}"`),
      ).toHaveLength(1);
  });

  it('finds a phrase that begins in one sentence and ends in the next, and words of one sentence alone', async () => {
    const reader = await new Reader().has({
      '1.txt': 'Ada: We had plum jam. Yes. And tea, all day long, for years.\n\nBob: 東京。京都へ。',
    });
    expect(await reader.texts('"plum jam yes and tea all day long for"')).toEqual(['We had plum jam.']);
    expect(await reader.texts('"jam yes a*"')).toEqual(['We had plum jam.']);
    expect(await reader.texts('jam', 'tea')).toEqual([]);
    expect(await reader.texts('jam', '-tea')).toEqual(['We had plum jam.']);
    expect(await reader.texts('京京')).toEqual(['東京。']);
    expect(await reader.texts('"jam and tea"')).toEqual([]);
  });

  it('takes a part of a name for a speaker, and letters with strokes for plain ones', async () => {
    const reader = await new Reader().has({
      '1.vtt': vtt('<v Ada Lovelace>From Łódź to Århus.', '<v Bob>Yes, Łódź.'),
    });
    expect((await reader.search('lodz')).length).toBe(2);
    expect((await reader.search('arhus'))[0]?.text).toContain('Århus');
    for (const name of ['love', 'ada love', 'LOVELACE', 'Bo'])
      expect((await reader.search('lodz', '--speaker', name)).length).toBe(1);
    expect((await reader.search('lodz', '--speaker', 'Eve')).length).toBe(0);
    expect((await reader.search('"from lo*"')).length).toBe(1);
  });

  it('finds what was ordered with a tag, and in an order', async () => {
    const reader = new Reader();
    const run = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await reader.run(['--sandbox', ...args]);
      expect([code, code && stderr]).toEqual([0, 0]);
      return stdout;
    };
    const order = async (url: string, ...args: string[]): Promise<string> => {
      const line = [
        '--sku',
        'TRANS14',
        '--wait',
        '--interval',
        '200ms',
        '--download',
        't',
        '--format',
        'vtt',
        '--json',
      ];
      return JSON.parse(await run('order', url, ...line, ...args))[0].order;
    };
    const tagged = await order('https://e.example/a.mp3?minutes=2', '--tag', 'spring');
    await order('https://e.example/b.mp3?minutes=2');
    const files = async (...args: string[]): Promise<string[]> => {
      const found: Found[] = JSON.parse(await run('search', 'the*', '--json', ...args));
      return [...new Set(found.map(({ audiofile }) => audiofile))];
    };
    const all = await files();
    expect(all).toHaveLength(2);
    const [ofTag = ''] = await files('--tag', 'spring');
    expect(await files('--tag', 'spring')).toEqual([ofTag]);
    expect(await files('--order', tagged)).toEqual([ofTag]);
    expect(await files('--tag', 'autumn')).toEqual([]);
    expect(all).toContain(ofTag);
  });

  it.each([
    [['search'], /no word to search for\nhint: give at least one word to find/],
    [['search', '-jam'], /the search only excludes words/],
    [['search', 'jam', '--limt', '1'], /unknown option '--limt'/],
    [['search', 'jam', '--no-ledger'], /reads the ledger/],
    [['search', 'jam', '--forget'], /can't be used with words/],
    [['search', 'jam', '--context', '0'], /--context must be/],
    [['search', 'jam', '--speaker', ' ?'], /there is no name in --speaker/],
  ])('refuses %j', async (args, message) => {
    const result = await new Reader().run(args);
    expect(result).toMatchObject({ code: 2, stdout: '' });
    expect(result.stderr).toMatch(message);
  });
});

describe('the index', () => {
  it('is closed to others, has the texts, and can be forgotten with them', async () => {
    const reader = await new Reader().has({ '1.txt': 'A secret sentence of some length.' });
    // In processes of their own: on Node 20 a connection stays open until its process ends.
    const run = (...args: string[]): Promise<Result> => reader.runAlone(['search', ...args]);
    expect((await run('secret', '--quiet')).stdout).toContain('1.txt');
    expect(modeOf(reader.index)).toBe('600');
    expect(readFileSync(reader.index).includes('sentence of some')).toBe(true);
    expect((await run('--forget')).stderr).toContain('the index is deleted');
    for (const end of ['', '-wal', '-shm']) expect(existsSync(reader.index + end)).toBe(false);
    expect(await run('--forget')).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('no index to delete'),
    });
    expect((await run('secret', '--quiet')).stdout).toContain('1.txt');
  });

  it('notices what is new, changed, moved, deleted and back again', async () => {
    const reader = await new Reader().has({ 't/1.txt': 'apple' });
    const found = async (word: string) =>
      (await reader.search(word)).map(({ path }) => path.slice(reader.home.length + 1));
    expect(await found('apple')).toEqual(['t/1.txt']);
    await reader.has({ 't/2.srt': '1\n00:00:01,000 --> 00:00:02,000\napple\n' });
    expect(await found('apple')).toEqual(['t/2.srt', 't/1.txt']);
    reader.write('t/1.txt', 'cherry');
    expect([await found('apple'), await found('cherry')]).toEqual([['t/2.srt'], ['t/1.txt']]);
    // What was downloaded last stays first.
    reader.write('t/1.txt', 'apple and cherry');
    expect(await found('apple')).toEqual(['t/2.srt', 't/1.txt']);
    reader.write('t/1.txt', 'cherry');
    // The same size: only its time tells.
    reader.write('t/1.txt', 'banana');
    expect(await found('banana')).toEqual(['t/1.txt']);
    utimesSync(join(reader.home, 't/1.txt'), 1, 1);
    expect(await found('banana')).toEqual(['t/1.txt']);
    renameSync(join(reader.home, 't'), join(reader.home, 'gone'));
    expect(await found('banana')).toEqual([]);
    renameSync(join(reader.home, 'gone'), join(reader.home, 't'));
    expect(await found('banana')).toEqual(['t/1.txt']);
    await reader.has({ 'u/1.txt': 'banana' });
    rmSync(join(reader.home, 't/1.txt'));
    expect(await found('banana')).toEqual(['u/1.txt']);
  });

  it('has the format with the most precise times, as long as that is there', async () => {
    const reader = await new Reader().has({ '1.txt': 'plum jam', '1.vtt': talk });
    expect(await reader.search('jam')).toMatchObject([{ start: 120 }]);
    rmSync(join(reader.home, '1.vtt'));
    expect(await reader.search('jam')).toMatchObject([{ start: null, path: join(reader.home, '1.txt') }]);
    reader.write('1.vtt', talk);
    expect(await reader.search('jam')).toMatchObject([{ start: 120 }]);
  });

  it('keeps profiles apart', async () => {
    const reader = await new Reader().has({ '1.txt': 'apple' });
    expect(await reader.texts('apple')).toHaveLength(1);
    expect(await reader.texts('apple', '--sandbox')).toEqual([]);
    expect(await reader.texts('apple')).toHaveLength(1);
  });

  it.each([
    ['empty', () => ''],
    ['no database', () => 'x'.repeat(5000)],
    ['cut off', (bytes: Buffer) => bytes.subarray(0, 9000)],
    [
      'damaged',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, 8192), Buffer.alloc(bytes.length - 8192, 7)]),
    ],
  ])('is made anew where it is %s', async (_, broken) => {
    const reader = await new Reader().has({ '1.txt': 'apple' });
    expect(await reader.texts('apple')).toHaveLength(1);
    writeFileSync(reader.index, broken(readFileSync(reader.index)));
    expect(await reader.texts('apple')).toHaveLength(1);
    expect(await reader.texts('apple')).toHaveLength(1);
  });

  it('of another version is made anew', async () => {
    const reader = await new Reader().has({ '1.txt': 'apple' });
    expect(await reader.texts('apple')).toHaveLength(1);
    const index = new DatabaseSync(reader.index);
    index.exec("UPDATE migrations SET name = 'search 99'; DELETE FROM files");
    index.close();
    expect(await reader.texts('apple')).toHaveLength(1);
  });

  it('is made once by two searches at a time', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [`t/${at}.txt`, `apple ${at} `.repeat(2000)]),
    );
    const reader = await new Reader().has(many);
    const all = await Promise.all([1, 2, 3].map(() => reader.runAlone(['search', 'apple', '--quiet'])));
    for (const { code, stdout, stderr } of all)
      expect([code, stdout.split('\n').length, stderr]).toEqual([0, 61, '']);
  });

  it('stays usable after Ctrl-C', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 40 }, (_, at) => [
        `t/${at}.txt`,
        `${`apple ${at} pie. `.repeat(60_000)} A needle.`,
      ]),
    );
    const reader = await new Reader().has(many);
    const child = reader.start(['search', 'needle', '--quiet']);
    const ended = finished(child);
    while (!existsSync(`${reader.index}-wal`) && child.exitCode === null)
      await new Promise((done) => setTimeout(done, 5));
    child.kill('SIGINT');
    expect(await ended).toMatchObject({ code: 130, stdout: '' });
    expect((await reader.runAlone(['search', 'needle', '--quiet'])).stdout.split('\n')).toHaveLength(41);
  });
});

describe('what can not be read', () => {
  it('is named, and the others are searched: exit 10', async () => {
    const reader = await new Reader().has({
      '1.txt': 'apple',
      '2.vtt': '<html><body>apple</body></html>',
      '3.docx': 'PK\u0003\u0004x',
    });
    for (let round = 0; round < 2; round += 1) {
      const { code, stdout, stderr } = await reader.run(['search', 'apple', '--quiet']);
      expect([code, stdout]).toEqual([10, `${reader.home}/1.txt\n`]);
      expect(stderr).toMatch(/2\.vtt is a web page[\s\S]*2 of 3 failed/);
    }
    reader.write('2.vtt', talk);
    rmSync(join(reader.home, '3.docx'));
    expect(await reader.texts('jam')).toHaveLength(1);
  });

  it('is read the next time, if the disk was to blame', async () => {
    const reader = await new Reader().has({ '1.txt': 'apple', '2.txt': 'apple' });
    const patch = join(reader.home, 'patch.cjs');
    writeFileSync(
      patch,
      `const fs = require('node:fs');
      const { readFileSync } = fs;
      fs.readFileSync = (path, ...rest) => {
        if (String(path).endsWith('1.txt')) throw Object.assign(new Error('EIO'), { code: 'EIO', syscall: 'read' });
        return readFileSync(path, ...rest);
      };
      require('node:module').syncBuiltinESMExports();`,
    );
    const failed = await reader.runAlone(['search', 'apple', '--quiet'], {
      env: { NODE_OPTIONS: `--require ${patch}` },
    });
    expect(failed).toMatchObject({ code: 10, stdout: `${reader.home}/2.txt\n` });
    expect(failed.stderr).toContain("1.txt can't be read: the disk failed");
    expect(await reader.texts('apple')).toHaveLength(2);
  });

  it('is an index on a full disk: the files are read', async () => {
    const reader = await new Reader().has({ '1.txt': 'apple pie', '2.vtt': talk });
    const disk = canMount ? SmallDisk.mount(reader, 2) : undefined;
    if (!disk) return;
    disk.fill();
    const { code, stdout, stderr } = await reader.runAlone(['search', 'pie', '--quiet']);
    expect([code, stdout]).toEqual([0, `${reader.home}/1.txt\n`]);
    expect(stderr).toMatch(/^warning: searching without an index.*the disk is full\n$/);
    disk.free();
    expect(await reader.texts('pie')).toHaveLength(1);
  });

  it('is an index that is a folder: the files are read', async () => {
    const reader = await new Reader().has({ '1.txt': 'apple' });
    mkdirSync(reader.index);
    const { code, stdout, stderr } = await reader.run(['search', 'apple', '--quiet']);
    expect([code, stdout]).toEqual([0, `${reader.home}/1.txt\n`]);
    expect(stderr).toMatch(/^warning: searching without an index.* can't be deleted: it is a folder\n$/);
    expect((await reader.run(['search', '--forget'])).stderr).toMatch(/^steno: .*: it is a folder\n$/);
  });

  it('is SQLite without FTS5: the files are read, and the same is found', async () => {
    const reader = await new Reader().has({ '1.txt': 'apple pie. 東京都', '2.vtt': talk, '3.vtt': '<html>' });
    const patch = join(reader.home, 'patch.cjs');
    writeFileSync(
      patch,
      `const refuse = (sql) => {
        if (/fts5|texts/.test(sql)) throw new Error('no such module: fts5');
        return sql;
      };
      const without = (sqlite) => {
        sqlite.DatabaseSync = class extends sqlite.DatabaseSync {
          exec(sql) { return super.exec(refuse(sql)); }
          prepare(sql) { return super.prepare(refuse(sql)); }
        };
      };
      const { dlopen } = process;
      process.dlopen = (module, ...rest) => {
        dlopen(module, ...rest);
        if (module.exports.DatabaseSync) without(module.exports);
      };
      const own = process.getBuiltinModule('node:sqlite');
      if (own) without(own);`,
    );
    const env = { NODE_OPTIONS: `--require ${patch}` };
    for (const word of ['pie', '東京', 'jam', 'annual report', 'ap*', 'nowhere']) {
      const plain = await reader.run(['search', word]);
      const { stdout, stderr } = await reader.runAlone(['search', word], { env });
      expect([word, stdout]).toEqual([word, plain.stdout]);
      expect(stderr).toContain('searching without an index, which takes longer: this SQLite has no FTS5');
    }
  });
});
