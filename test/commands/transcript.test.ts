/** Downloads: whole or not there, never over another file, never out of their folder. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account, jsonError } from '../support/account.ts';
import { parseCsv } from '../support/csv.ts';
import type { Answer } from '../support/server.ts';
import { finished } from '../support/steno.ts';

const bytes = Array.from({ length: 3000 }, (_, at) => (at * 7919) % 256);
const binary = Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.from(bytes)]);
const route = 'POST /audiofile/5/transcript.txt';

/** What lies below a folder, hidden names included; the settings' own folders aside. */
const files = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[])
    .filter((name) => !/^(config|state)\b/.test(name))
    .sort();

describe('the format of a transcript', () => {
  const words: Readonly<Record<string, string>> = { txt: 'words', srt: '1\n00:00 a', vtt: 'WEBVTT' };

  it.each([
    ['-o x.srt', 'srt', 'x.srt'],
    ['-o X.VTT', 'vtt', 'X.VTT'],
    ['-o sub/x.srt', 'srt', 'sub/x.srt'],
    ['-o x.vtt --from -', 'vtt', 'x.vtt'],
    ['-o d/ --name-as talk-{id}.srt', 'srt', 'd/talk-5.srt'],
    ['--name-as talk-{id}.{ext}', 'txt', 'talk-5.txt'],
    ['-o x.srt --format txt', 'txt', 'x.srt'],
    ['-o x.notes', 'txt', 'x.notes'],
    ['-o talk.srt/', 'txt', 'talk.srt/5.txt'],
    ['-o folder.srt', 'txt', 'folder.srt/5.txt'],
  ])('is that of the name, unless --format says another: %s', async (flags, ext, path) => {
    const { service, user } = await account();
    mkdirSync(join(user.home, 'folder.srt'));
    service.on(`POST /audiofile/5/transcript.${ext}`, { body: words[ext] ?? '' });
    const ids = flags.includes('--from') ? [] : ['5'];
    const line = ['transcript', ...ids, ...flags.split(' '), '--quiet'];
    const { code, stdout } = await user.run(line, { stdin: '5\n' });
    expect([code, stdout]).toEqual([0, `${path}\n`]);
    expect(readFileSync(join(user.home, path), 'utf8')).toBe(words[ext]);
  });
});

describe('a transcript', () => {
  it.each([
    ['one blank', ' '],
    ['blank lines', '\r\n \t\n'.repeat(50)],
    ['a mark and a line', '\ufeff\n'],
    ['blanks that take no room', `${'\u200b\u00a0\u3000'.repeat(40)}\n`],
    ['UTF-16', Buffer.from(`\ufeff${' \n'.repeat(60)}`, 'utf16le')],
    ['more blanks than are held back', ' \n'.repeat(100_000)],
  ])('of blanks alone is refused as an empty one is: %s', async (_, body) => {
    const { service, user } = await account();
    service.on(route, { body });
    const { code, stdout, stderr } = await user.run(['transcript', '5']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('the service sent an empty transcript');
    expect(files(user.home)).toEqual([]);
  });

  it('that begins with many blanks is one', async () => {
    const { service, user } = await account();
    const body = `${' \n'.repeat(100_000)}words${' '.repeat(100_000)}`;
    service.on(route, { body });
    expect((await user.run(['transcript', '5'])).code).toBe(0);
    expect(readFileSync(join(user.home, '5.txt'), 'utf8')).toBe(body);
  });

  it('goes to stdout byte by byte, text and binary', async () => {
    const { service, user } = await account();
    for (const [ext, body] of [
      ['docx', binary],
      ['txt', Buffer.from('\ufeffZeile 1\r\nZeile 2 – ü\n\u0000')],
    ] as const) {
      service.on(`POST /audiofile/5/transcript.${ext}`, { body });
      const { code, bytes, stderr } = await user.run(['transcript', '5', '--format', ext, '-o', '-']);
      expect([code, stderr]).toEqual([0, '']);
      expect(bytes.equals(body)).toBe(true);
    }
    expect(files(user.home)).toEqual([]);
  });

  it('of many megabytes goes to stdout and to a file whole', async () => {
    const { service, user } = await account();
    const body = Buffer.alloc(12 << 20, 'all work and no play. ');
    service.on(route, { body });
    const out = await user.run(['transcript', '5', '-o', '-']);
    expect(out.bytes.equals(body)).toBe(true);
    await user.run(['transcript', '5']);
    expect(readFileSync(join(user.home, '5.txt')).equals(body)).toBe(true);
  });

  it('is kept as {id}.{ext} here, and its name is what --quiet prints', async () => {
    const { service, user } = await account();
    service.on('POST /audiofile/5/transcript.docx', { body: binary });
    const { code, stdout, stderr } = await user.run(['transcript', '5', '--format', 'docx', '--quiet']);
    expect([code, stdout, stderr]).toEqual([0, '5.docx\n', '']);
    expect(readFileSync(join(user.home, '5.docx')).equals(binary)).toBe(true);
    expect(files(user.home)).toEqual(['5.docx']);
  });

  it('goes to the file, the folder or the name that was asked for', async () => {
    const { service, user } = await account();
    service.on(route, { body: 'Hello.' });
    service.on('GET /audiofile/5', {
      body: { audiofile: { id: 5, title: 'A/B: "talk"', orders: ['0a0', 7] } },
    });
    mkdirSync(join(user.home, 'there'));
    const wanted: ReadonlyArray<readonly [string[], string]> = [
      [['-o', 'x.md'], 'x.md'],
      [['-o', 'there'], 'there/5.txt'],
      [['-o', 'new/deep/'], 'new/deep/5.txt'],
      [['-o', 'not/there/yet.txt'], 'not/there/yet.txt'],
      [['--name-as', '{order}/{title}-{id}.{ext}'], '0a0/A_B_ _talk_-5.txt'],
      [['--name-as', '{title}', '-o', 'named'], 'named/A_B_ _talk_'],
    ];
    for (const [args, path] of wanted) {
      const { code, stdout, stderr } = await user.run(['transcript', '5', '--quiet', ...args]);
      expect([code, stdout], stderr).toEqual([0, `${path}\n`]);
      expect(readFileSync(join(user.home, path), 'utf8')).toBe('Hello.');
    }
  });

  it('does not take the place of a file that is there, unless it is told to', async () => {
    const { service, user } = await account();
    service.on(route, { body: 'new' });
    const path = join(user.home, '5.txt');
    writeFileSync(path, 'old');
    const refused = await user.run(['transcript', '5']);
    expect([refused.code, refused.stdout]).toEqual([1, '']);
    expect(refused.stderr).toBe(
      'steno: 5.txt already exists\nhint: replace it with --force, or keep it with --skip-existing\n',
    );
    const skipped = await user.run(['transcript', '5', '--skip-existing', '--json']);
    expect(skipped.code).toBe(0);
    expect(JSON.parse(skipped.stdout)).toMatchObject([{ path: '5.txt', bytes: 3, skipped: true }]);
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(service.got).toHaveLength(0);
    const forced = await user.run(['transcript', '5', '--force']);
    expect([forced.code, readFileSync(path, 'utf8')]).toEqual([0, 'new']);
    expect(files(user.home)).toEqual(['5.txt']);
  });

  it('does not take the place of a file that came up during the download', async () => {
    const { service, user } = await account();
    const path = join(user.home, '5.txt');
    service.on(route, (_, response) => {
      writeFileSync(path, 'mine');
      response.end('theirs');
    });
    const { code } = await user.run(['transcript', '5']);
    expect([code, readFileSync(path, 'utf8')]).toEqual([1, 'mine']);
    expect(files(user.home)).toEqual(['5.txt']);
  });

  it.each<[string, string, Answer]>([
    ['a JSON message', 'txt', { body: { message: 'not ready yet' } }],
    [
      'a JSON message under another type',
      'docx',
      { body: '{"error":"not ready yet"}', headers: { 'content-type': 'text/plain' } },
    ],
    [
      'a page',
      'txt',
      { body: '<!DOCTYPE html><title>not ready yet</title>', headers: { 'content-type': 'text/html' } },
    ],
    ['a page without a type', 'srt', { body: '\n<html><body><h1>not ready yet</h1></body></html>' }],
    ['a page for a Word file', 'docx', { body: '<!doctype html><h1>not ready yet</h1>' }],
    ['a status without a body', 'txt', { status: 204 }],
    ['nothing', 'txt', { body: '' }],
  ])('is not made of %s with a status of success', async (what, ext, answer) => {
    const { service, user } = await account();
    service.on('*', answer);
    const saved = await user.run(['transcript', '5', '--format', ext, '-o', 'folder/']);
    expect([saved.code, saved.stdout]).toEqual([1, '']);
    if (!/nothing|without/.test(what)) expect(saved.stderr).toContain('not ready yet');
    const printed = await user.run(['transcript', '5', '--format', ext, '-o', '-']);
    expect([printed.code, printed.stdout]).toEqual([1, '']);
    expect(files(user.home)).toEqual([]);
  });

  it('may be a page where one was asked for, and text that looks like JSON', async () => {
    const { service, user } = await account();
    service.on('POST /audiofile/5/transcript.html', {
      body: '<!doctype html><p>Hello.',
      headers: { 'content-type': 'text/html' },
    });
    service.on(route, { body: '{inaudible} "message": no', headers: { 'content-type': 'text/plain' } });
    const { code, stderr } = await user.run(['transcript', '5', '--format', 'html,txt']);
    expect([code, stderr]).toEqual([0, '']);
    expect(files(user.home)).toEqual(['5.html', '5.txt']);
  });

  it.each([
    [404, 4],
    [401, 3],
    [400, 1],
  ])('that is refused with %i leaves nothing behind and ends with %i', async (status, exit) => {
    const { service, user } = await account();
    service.on('*', { status, body: { message: 'no' } });
    const { code, stdout } = await user.run(['transcript', '5', '-o', 'folder/']);
    expect([code, stdout]).toEqual([exit, '']);
    expect(files(user.home)).toEqual([]);
  });

  it('that breaks off is asked for again, and half of one is never kept', async () => {
    const { service, user } = await account();
    const broken: Answer = (_, response, socket) => {
      response.writeHead(200, { 'content-length': '100' }).write('Hel');
      setTimeout(() => socket.destroy(), 30);
    };
    service.on(route, broken, { body: 'Hello.' });
    const whole = await user.run(['transcript', '5']);
    expect([whole.code, readFileSync(join(user.home, '5.txt'), 'utf8')]).toEqual([0, 'Hello.']);
    service.on('POST /audiofile/6/transcript.txt', broken);
    const never = await user.run(['transcript', '6']);
    expect(never.code).toBe(7);
    expect(files(user.home)).toEqual(['5.txt']);
  });

  it('that was packed on the way is unpacked', async () => {
    const { gzipSync, brotliCompressSync } = await import('node:zlib');
    const { service, user } = await account();
    service.on('POST /audiofile/5/transcript.txt', {
      body: gzipSync('Hello.'),
      headers: { 'content-encoding': 'gzip' },
    });
    service.on('POST /audiofile/6/transcript.txt', {
      body: brotliCompressSync('Bye.'),
      headers: { 'content-encoding': 'br' },
    });
    await user.run(['transcript', '5', '6']);
    expect(readFileSync(join(user.home, '5.txt'), 'utf8')).toBe('Hello.');
    expect(readFileSync(join(user.home, '6.txt'), 'utf8')).toBe('Bye.');
  });

  it('leaves nothing half-written after Ctrl-C, even if it arrives twice', async () => {
    const { service, user } = await account();
    const begun = new Promise<void>((done) => {
      service.on(route, (_, response) => {
        response.writeHead(200).write(Buffer.alloc(200_000, 'x'));
        const look = setInterval(() => {
          if (!existsSync(join(user.home, 'out')) || files(join(user.home, 'out')).length === 0) return;
          clearInterval(look);
          done();
        }, 20);
      });
    });
    const child = user.start(['transcript', '5', '-o', 'out/']);
    const end = finished(child);
    await begun;
    child.kill('SIGINT');
    child.kill('SIGINT');
    const { code, stdout, stderr } = await end;
    expect([code, stdout, stderr]).toEqual([130, '', 'steno: interrupted\n']);
    expect(files(join(user.home, 'out'))).toEqual([]);
  });

  it('that can not be written is an error of the disk, and is not asked for in vain', async () => {
    const { service, user } = await account();
    service.never('*', { body: 'Hello.' });
    writeFileSync(join(user.home, 'file'), '');
    mkdirSync(join(user.home, 'dir', '5.txt'), { recursive: true });
    for (const output of ['file/x/5.txt', `${'x'.repeat(300)}.txt`, 'dir/']) {
      const { code, stderr } = await user.run(['transcript', '5', '-o', output]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^steno: can't write /);
      expect(service.got).toEqual([]);
    }
  });
});

describe('several transcripts', () => {
  it('go to a folder in every format asked for, and are listed in that order', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'Hello.' });
    const { code, stdout } = await user.run([
      'transcript',
      '6',
      '5',
      '--format',
      'txt',
      '--format',
      'srt,vtt',
      '-o',
      'out',
      '--csv',
    ]);
    expect(code).toBe(0);
    const [header, ...rows] = parseCsv(stdout);
    expect(header).toEqual(['audiofile', 'format', 'bytes', 'path', 'downloaded_at', 'skipped']);
    expect(rows.map((row) => row.slice(0, 4))).toEqual(
      ['6', '5'].flatMap((id) =>
        ['txt', 'srt', 'vtt'].map((ext) => [id, ext, '6', join('out', `${id}.${ext}`)]),
      ),
    );
    for (const [, , , , at, skipped] of rows)
      expect([at, skipped]).toEqual([expect.stringMatching(/Z$/), '']);
    expect(files(join(user.home, 'out'))).toHaveLength(6);
  });

  it('need a folder: one that is named like a transcript is a slip, and nothing is fetched', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'Hello.' });
    for (const args of [
      ['5', '6', '-o', 'one.txt'],
      ['5', '--format', 'txt,srt', '-o', 'sub/one.SRT'],
      ['5', '-o', 'one.txt', '--name-as', '{id}.{ext}'],
    ]) {
      const { code, stdout, stderr } = await user.run(['transcript', ...args]);
      expect([code, stdout], stderr).toEqual([2, '']);
      expect(stderr).toMatch(/^steno: '\S+' is a file name, but several transcripts need a folder\nhint: /);
    }
    expect([service.got, files(user.home)]).toEqual([[], []]);
    mkdirSync(join(user.home, 'there.txt'));
    for (const output of ['one.txt/', 'there.txt', 'v1.2', 'out'])
      expect((await user.run(['transcript', '5', '6', '-o', output])).code, output).toBe(0);
    expect(files(user.home).filter((name) => name.endsWith('/6.txt'))).toHaveLength(4);
  });

  it('end with 10 where one is missing; the others are kept', async () => {
    const { service, user } = await account();
    service.on(route, { body: 'Hello.' });
    const { code, stdout, stderr } = await user.run(['transcript', '4', '5', '--json']);
    expect(code).toBe(10);
    expect(JSON.parse(stdout)).toMatchObject([
      { audiofile: '4', error: { code: 'missing', status: 404 } },
      { audiofile: '5', path: '5.txt', bytes: 6 },
    ]);
    expect(jsonError(stderr)).toMatchObject({ code: 'partial', failures: [{ what: '4', code: 'missing' }] });
    expect(files(user.home)).toEqual(['5.txt']);
  });

  it('with the same title get names of their own, on any file system', async () => {
    const { service, user } = await account();
    service.on('*', { body: 'Hello.' });
    for (const [id, title] of [
      ['5', 'Talk'],
      ['6', 'TALK'],
      ['7', '../../Talk'],
      ['8', 'Talk'],
    ] as const) {
      service.on(`GET /audiofile/${id}`, { body: { audiofile: { id, title } } });
    }
    const { stdout } = await user.run([
      'transcript',
      '5',
      '6',
      '7',
      '8',
      '--name-as',
      '{title}.{ext}',
      '--quiet',
    ]);
    expect(stdout).toBe('Talk.txt\nTALK-6.txt\n__.._Talk.txt\nTalk-8.txt\n');
    expect(files(user.home)).toHaveLength(4);
  });

  it('are fetched so many at a time as --jobs says', async () => {
    const { service, user } = await account();
    let [now, most] = [0, 0];
    service.on('*', (_, response) => {
      most = Math.max(most, ++now);
      setTimeout(() => {
        now -= 1;
        response.end('Hello.');
      }, 40);
    });
    const ids = Array.from({ length: 12 }, (_, at) => `${at + 1}`);
    await user.run(['transcript', ...ids, '--jobs', '3']);
    expect([most, files(user.home).length]).toEqual([3, 12]);
  });

  it('that can not all be found out about fail alone where the title is needed', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/5', { body: { audiofile: { id: 5, title: 'Talk' } } });
    service.on(route, { body: 'Hello.' });
    const { code, stdout } = await user.run([
      'transcript',
      '5',
      '6',
      '--name-as',
      '{title}.{ext}',
      '--quiet',
    ]);
    expect([code, stdout]).toEqual([10, 'Talk.txt\n']);
  });
});

describe('a transcript that is not ready', () => {
  it.each([
    [['-o', '-'], 'On Hold', /hint: it is on hold: work starts once the hold is released/],
    [[], 'On Hold', /hint: it is on hold: work starts once the hold is released/],
    [[], 'Transcribing', /hint: it may not be ready yet; wait for it: steno wait 5/],
  ])('is waited for unless it is on hold: %j, %s', async (flags, statename, hint) => {
    const { service, user } = await account();
    service.allow(route, { status: 409, body: { message: 'No transcript yet.' } });
    service.allow('GET /audiofile/5', { body: { audiofile: { id: '5', statename } } });
    const { code, stderr } = await user.run(['transcript', '5', ...flags]);
    expect([code, stderr]).toEqual([1, expect.stringMatching(hint)]);
  });
});
