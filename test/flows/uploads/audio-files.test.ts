/** Which files on disk are audio, whether they are complete, and what tells one from another. */
import { spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CountedRows, findAudio, readContent, settle } from '../../../src/flows/uploads/audio-files.ts';
import { freshFolder } from '../../support/files.ts';

const { signal } = new AbortController();
const AUDIO = Buffer.from('ID3\u0004\u0000\u0000\u0000\u0000\u0000\u0000\u00ff\u00fb', 'latin1');

/** A folder with these files, each with something of audio in it or what is given. */
function folderOf(files: Readonly<Record<string, string | Buffer>>): string {
  const folder = freshFolder();
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** What is found below a folder, without its path. */
async function found(folder: string, ...paths: string[]): Promise<string[]> {
  const { files } = await findAudio(
    paths.length ? paths.map((path) => join(folder, path)) : [folder],
    signal,
  );
  return files.map((path) => relative(folder, path));
}

/** What was left out for each reason. */
const countsOf = (folder: string, counted: readonly CountedRows[]): string[][] =>
  counted
    .filter(({ rows }) => rows.length)
    .map(({ because, rows }) => [because, ...rows.map(({ path }) => relative(folder, path))]);

describe('a folder', () => {
  it('gives what ends like audio, in it and below it, by name', async () => {
    const names = [
      'b.mp3',
      'a/z.MP3',
      'a/b/c.flac',
      'a.wav',
      'B.m4a',
      'notes.txt',
      'cover.jpg',
      'mp3',
      'x.mp3.part',
      'ä.opus',
    ];
    const folder = folderOf(Object.fromEntries(names.map((name) => [name, AUDIO])));
    expect(await found(folder)).toEqual(['B.m4a', 'a/b/c.flac', 'a/z.MP3', 'a.wav', 'b.mp3', 'ä.opus']);
  });

  it('counts what it leaves out, and names it', async () => {
    const folder = folderOf({
      'a.mp3': AUDIO,
      'a.txt': 'its transcript',
      'dictation.dss': AUDIO,
      '.b.mp3': AUDIO,
      '.old/deep/c.mp3': AUDIO,
      '.old/notes.md': 'x',
      '.git/config': 'x',
      '.DS_Store': AUDIO,
      '._a.mp3': AUDIO,
    });
    const { files, counted } = await findAudio([folder], signal);
    expect(files).toEqual([join(folder, 'a.mp3')]);
    expect(countsOf(folder, counted)).toEqual([
      ['it is hidden', '.b.mp3', '.old/deep/c.mp3'],
      ['it has no audio extension', 'dictation.dss'],
    ]);
    expect(counted.flatMap(({ rows }) => rows.map(({ why }) => why))).toEqual([
      'hidden',
      'hidden',
      undefined,
    ]);
  });

  it('gives hidden ones too where they are asked for, but not what macOS keeps beside a file', async () => {
    const folder = folderOf({ 'a.mp3': AUDIO, '.b.mp3': AUDIO, '.old/c.mp3': AUDIO, '._a.mp3': AUDIO });
    const { files, counted } = await findAudio([folder], signal, true);
    expect(files.map((path) => relative(folder, path))).toEqual(['.b.mp3', '.old/c.mp3', 'a.mp3']);
    expect(countsOf(folder, counted)).toEqual([]);
  });

  it('with hidden audio alone is an error that names --hidden', async () => {
    await expect(findAudio([folderOf({ '.a.mp3': AUDIO })], signal)).rejects.toMatchObject({
      kind: 'usage',
      message: expect.stringMatching(/^no audio found: .*\/\.a\.mp3: it is hidden$/),
      hint: '--hidden includes hidden files and follows links to folders',
    });
  });

  it.runIf(process.platform === 'linux')('names what is not UTF-8, and takes the others', async () => {
    const folder = folderOf({ 'a.mp3': AUDIO, 'replaced \ufffd.mp3': AUDIO });
    const named = (name: string): Buffer =>
      Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name, 'latin1')]);
    writeFileSync(named('caf\u00e9.mp3'), AUDIO);
    mkdirSync(named('\u00fcber'));
    writeFileSync(named('caf\u00e9.md'), 'x');
    const { files, counted } = await findAudio([folder], signal);
    expect(files.map((path) => relative(folder, path))).toEqual(['a.mp3', 'replaced \ufffd.mp3']);
    expect(countsOf(folder, counted)).toEqual([
      ['its name is not UTF-8', '\\xfcber', 'caf\\xe9.mp3'],
      ['it has no audio extension', 'caf\\xe9.md'],
    ]);
  });

  it('follows links to folders where hidden ones are asked for, each folder once', async () => {
    const folder = folderOf({ 'a/one.mp3': AUDIO });
    const other = folderOf({ 'far.mp3': AUDIO });
    symlinkSync(folder, join(folder, 'a', 'circle'));
    symlinkSync('.', join(folder, 'self'));
    symlinkSync(other, join(folder, 'elsewhere'));
    symlinkSync(other, join(folder, 'once more'));
    symlinkSync('loop', join(folder, 'loop'));
    const { files, counted } = await findAudio([folder], signal, true);
    expect(files.map((path) => relative(folder, path))).toEqual(['a/one.mp3', 'elsewhere/far.mp3']);
    expect(countsOf(folder, counted)).toEqual([['it has no audio extension', 'loop']]);
  });

  it('follows no link to a folder, in a circle or elsewhere, but takes links to files', async () => {
    const folder = folderOf({ 'a/one.mp3': AUDIO });
    const other = folderOf({ 'far.mp3': AUDIO, 'two.mp3': AUDIO });
    symlinkSync(folder, join(folder, 'a', 'circle'));
    symlinkSync(folder, join(folder, 'a', 'circle.mp3'));
    symlinkSync(other, join(folder, 'elsewhere'));
    symlinkSync(join(other, 'two.mp3'), join(folder, 'link.mp3'));
    symlinkSync('loop.mp3', join(folder, 'loop.mp3'));
    symlinkSync('nowhere', join(folder, 'gone.mp3'));
    const { files, leftOut, counted } = await findAudio([folder], signal);
    expect(files).toEqual([join(folder, 'a/one.mp3'), join(folder, 'link.mp3')]);
    expect(countsOf(folder, counted)).toEqual([
      ['it is a link to a folder', 'elsewhere', 'a/circle', 'a/circle.mp3'],
    ]);
    expect(
      leftOut.map(({ path, reason }) => [relative(folder, path), reason.replaceAll(folder, '')]),
    ).toEqual([
      ['gone.mp3', "there is no file or folder '/gone.mp3'"],
      ['loop.mp3', "can't read /loop.mp3: its symlinks form a loop"],
    ]);
  });

  it('may itself be a link', async () => {
    const folder = folderOf({ 'in/a.mp3': AUDIO });
    symlinkSync(join(folder, 'in'), join(folder, 'link'));
    expect(await found(folder, 'link')).toEqual(['link/a.mp3']);
  });

  it('gives a file once, whatever names it has', async () => {
    const folder = folderOf({ 'a.mp3': AUDIO });
    linkSync(join(folder, 'a.mp3'), join(folder, 'b.mp3'));
    symlinkSync('a.mp3', join(folder, 'c.mp3'));
    expect(await found(folder, 'b.mp3', '.', 'a.mp3')).toEqual(['b.mp3']);
  });

  it('says what in it is no audio after all', async () => {
    const folder = folderOf({ 'a.mp3': AUDIO, 'empty.mp3': '', 'page.mp3': '<html>Not found</html>' });
    spawnSync('mkfifo', [join(folder, 'pipe.mp3')]);
    const { files, leftOut } = await findAudio([folder], signal);
    expect(files).toHaveLength(1);
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      'it is empty',
      'it is a text file',
      'it is not a regular file',
    ]);
  });

  it.skipIf(process.getuid?.() === 0)('says what may not be read', async () => {
    const folder = folderOf({ 'a.mp3': AUDIO, 'closed/b.mp3': AUDIO });
    chmodSync(join(folder, 'closed'), 0);
    const { leftOut } = await findAudio([folder], signal);
    chmodSync(join(folder, 'closed'), 0o700);
    expect(leftOut.map(({ reason }) => reason)).toEqual(['permission denied']);
  });

  it('with nothing that can be used is an error that says why', async () => {
    await expect(findAudio([folderOf({ 'a.mp3': '' })], signal)).rejects.toThrow(
      /no audio found: .*a\.mp3: it is empty/,
    );
  });

  it('is left at Ctrl-C', async () => {
    await expect(findAudio([folderOf({ 'a.mp3': AUDIO })], AbortSignal.abort())).rejects.toMatchObject({
      kind: 'interrupted',
    });
  });
});

describe('a file that is named', () => {
  it('is taken whatever its name ends in, and though it is hidden', async () => {
    expect(await found(folderOf({ talk: AUDIO, '.hidden.rec': AUDIO }), 'talk', '.hidden.rec')).toEqual([
      'talk',
      '.hidden.rec',
    ]);
  });

  it.each([
    ['urls.txt', 'https://example.com/a.mp3\n'],
    ['urls.csv', 'url,sku\nhttps://example.com/ä.mp3,TRANS14\n'.repeat(200)],
    ['talk.mp3', 'version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 5\n'],
  ])('is no text, which may be a manifest: %s', async (name, text) => {
    const path = join(folderOf({ [name]: text }), name);
    await expect(findAudio([path], signal)).rejects.toMatchObject({
      kind: 'usage',
      message: `${path} is a text file, not audio`,
      hint: `if it lists URLs: steno order --from ${path}`,
    });
  });

  it('must be there, and hold something', async () => {
    const folder = folderOf({ 'a.mp3': '' });
    await expect(found(folder, 'b.mp3')).rejects.toThrow(/there is no file or folder '.*b\.mp3'/);
    await expect(found(folder, 'a.mp3')).rejects.toThrow(/can't use .*a\.mp3: it is empty/);
    await expect(found(folder, 'a.mp3/b.mp3')).rejects.toMatchObject({ kind: 'usage' });
  });
});

describe('the content of a file', () => {
  it('has the SHA-256 of its bytes', async () => {
    const path = join(freshFolder(), 'a.mp3');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 5000 }), async (bytes) => {
        writeFileSync(path, bytes);
        const hash = createHash('sha256').update(bytes).digest('hex');
        const mark = { size: bytes.length, changedMs: statSync(path).mtimeMs };
        expect(await readContent(path, signal)).toMatchObject({ hash, mark });
      }),
    );
  });

  it('is not known where it changes meanwhile', async () => {
    const path = join(folderOf({ 'a.mp3': randomBytes(20_000_000) }), 'a.mp3');
    const reading = readContent(path, signal);
    await sleep(2);
    appendFileSync(path, 'more');
    expect(await reading).toBeUndefined();
  });

  it('is not read on after Ctrl-C, and an error names the file', async () => {
    const path = join(folderOf({ 'a.mp3': AUDIO }), 'a.mp3');
    await expect(readContent(path, AbortSignal.abort())).rejects.toMatchObject({ kind: 'interrupted' });
    await expect(readContent(`${path}x`, signal)).rejects.toThrow(
      /can't read .*a\.mp3x: there is no such file/,
    );
  });
});

describe('a file that is being written', () => {
  const now = Date.now();
  const at = (path: string, ms: number): void => utimesSync(path, ms / 1000, ms / 1000);

  it('is told from those that are complete', async () => {
    const folder = folderOf({
      'old.mp3': AUDIO,
      'new.mp3': AUDIO,
      'growing.mp3': AUDIO,
      'touched.mp3': AUDIO,
      'future.mp3': AUDIO,
    });
    const paths = ['old', 'new', 'growing', 'touched', 'future'].map((name) => join(folder, `${name}.mp3`));
    const [old = '', , growing = '', touched = '', future = ''] = paths;
    at(old, now - 3_600_000);
    at(future, now + 3_600_000);
    const looking = settle(paths, { now, signal, watchMs: 300 });
    await sleep(100);
    appendFileSync(growing, 'more');
    at(touched, now + 1);
    const { complete, growing: found } = await looking;
    expect(found).toEqual([growing, touched]);
    expect(complete).toEqual(paths.filter((path) => !found.includes(path)));
  });

  it('is not waited for where all were left alone for a while', async () => {
    const path = join(folderOf({ 'a.mp3': AUDIO }), 'a.mp3');
    at(path, now - 61_000);
    // It would wait for an hour.
    expect(await settle([path], { now, signal, watchMs: 3_600_000 })).toEqual({
      complete: [path],
      growing: [],
    });
    expect(await settle([], { now, signal, watchMs: 3_600_000 })).toEqual({ complete: [], growing: [] });
  });

  it('is not waited for after Ctrl-C', async () => {
    const path = join(folderOf({ 'a.mp3': AUDIO }), 'a.mp3');
    await expect(
      settle([path], { now, signal: AbortSignal.timeout(100), watchMs: 3_600_000 }),
    ).rejects.toMatchObject({
      kind: 'interrupted',
    });
  });
});
