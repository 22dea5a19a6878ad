/** One name, one transcript: no command hands out or replaces the transcript of another file. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listing } from '../../support/files.ts';
import { audio, folderIn, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { complete, Listener } from '../../support/listener.ts';

/** Two delivered files of the same title, on order here. */
async function twoOfOneTitle(): Promise<OrderingAccount> {
  const it = await orderingAccount();
  for (const id of ['1', '2'])
    it.service.allow(`GET /audiofile/${id}`, {
      body: { audiofile: { id, statename: 'Delivered', title: 'Talk' } },
    });
  await it.order(audio('a'), audio('b'));
  return it;
}

const byTitle = ['--name-as', '{title}.{ext}', '--quiet'];
const text = (it: OrderingAccount, name: string): string => readFileSync(join(it.user.home, name), 'utf8');

/** Which file each name is noted for. */
const noted = (it: OrderingAccount): Array<[string, string]> =>
  queryLedger<{ file: string; path: string }>(
    it.user,
    'SELECT file, path FROM downloads ORDER BY file, path',
  ).map(({ file, path }) => [file, path.slice(it.user.home.length + 1)]);

describe('a name that is noted for one file', () => {
  it('is not given to another of the same title, with --skip-existing', async () => {
    const it = await twoOfOneTitle();
    await it.user.run(['transcript', '1', ...byTitle]);
    const other = await it.user.run(['transcript', '2', ...byTitle, '--skip-existing']);
    expect([other.code, other.stdout, other.stderr]).toEqual([0, 'Talk-2.txt\n', '']);
    expect([text(it, 'Talk.txt'), text(it, 'Talk-2.txt')]).toEqual([
      'transcript 1.txt\n',
      'transcript 2.txt\n',
    ]);
    expect(noted(it)).toEqual([
      ['1', 'Talk.txt'],
      ['2', 'Talk-2.txt'],
    ]);
    const again = await it.user.run(['transcript', '2', '1', ...byTitle, '--skip-existing']);
    expect([again.code, again.stdout, it.fetched()]).toEqual([0, '', ['1.txt', '2.txt']]);
    expect(noted(it)).toHaveLength(2);
  });

  it('is not given to another that is asked for beside it', async () => {
    const it = await twoOfOneTitle();
    await it.user.run(['transcript', '1', ...byTitle]);
    const both = ['transcript', '1', '2', '--name-as', '{title}.{ext}', '--skip-existing', '--json'];
    const { code, stdout } = await it.user.run(both);
    expect([code, JSON.parse(stdout)]).toMatchObject([
      0,
      [
        { audiofile: '1', path: 'Talk.txt', skipped: true },
        { audiofile: '2', path: 'Talk-2.txt', skipped: false },
      ],
    ]);
    expect([text(it, 'Talk.txt'), text(it, 'Talk-2.txt')]).toEqual([
      'transcript 1.txt\n',
      'transcript 2.txt\n',
    ]);
  });

  it('is not given to another with --force, and its transcript stays', async () => {
    const it = await twoOfOneTitle();
    await it.user.run(['transcript', '1', ...byTitle]);
    const other = await it.user.run(['transcript', '2', ...byTitle, '--force']);
    expect([other.code, other.stdout, text(it, 'Talk.txt')]).toEqual([
      0,
      'Talk-2.txt\n',
      'transcript 1.txt\n',
    ]);
  });

  it('is not given to another format of the same file', async () => {
    const it = await twoOfOneTitle();
    await it.user.run(['transcript', '1', '--name-as', '{title}']);
    const srt = await it.user.run([
      'transcript',
      '1',
      '--name-as',
      '{title}',
      '--format',
      'srt',
      '--skip-existing',
      '--quiet',
    ]);
    expect([srt.stdout, text(it, 'Talk-1')]).toEqual(['Talk-1\n', 'transcript 1.srt\n']);
  });

  it('is not given to a file of another profile', async () => {
    const it = await twoOfOneTitle();
    await it.user.run(['transcript', '1', '-o', 'd/']);
    queryLedger(it.user, "UPDATE downloads SET profile = 'other'");
    const sync = await it.user.run(['sync', '--download', 'd', '--quiet']);
    expect([sync.code, sync.stdout]).toEqual([0, 'd/1-1.txt\nd/2.txt\n']);
  });

  it('goes to another where the user says so, and is then noted for that one alone', async () => {
    const it = await twoOfOneTitle();
    await it.user.run(['transcript', '1', ...byTitle]);
    const left = await it.user.run(['transcript', '2', '-o', 'Talk.txt', '--skip-existing', '--json']);
    expect(JSON.parse(left.stdout)).toMatchObject([{ path: 'Talk.txt', skipped: true }]);
    expect(noted(it)).toEqual([['1', 'Talk.txt']]);
    await it.user.run(['transcript', '2', '-o', 'Talk.txt', '--force']);
    expect([noted(it), text(it, 'Talk.txt')]).toEqual([[['2', 'Talk.txt']], 'transcript 2.txt\n']);
  });
});

describe('without a ledger, a name that may be that of another file', () => {
  const unknown = /^warning: already exists, but may be another transcript: /;

  /** Two files of the same title, of which the ledger knows nothing. */
  async function unknownFiles() {
    const it = await orderingAccount({ STENO_LEDGER: undefined });
    for (const id of ['1', '2'])
      it.service.allow(`GET /audiofile/${id}`, {
        body: { audiofile: { id, statename: 'Delivered', title: 'Talk' } },
      });
    return it;
  }

  it.each([
    ['where none was made', []],
    ['with --no-ledger', ['--no-ledger']],
  ])('is not given to another with --skip-existing: %s', async (_, flags) => {
    const it = await unknownFiles();
    const line = (...ids: string[]) =>
      it.user.run(['transcript', ...ids, ...byTitle, ...flags, '--skip-existing']);
    expect(await line('1')).toMatchObject({ code: 0, stdout: 'Talk.txt\n', stderr: '' });
    expect(await line('2')).toMatchObject({ code: 0, stdout: 'Talk-2.txt\n', stderr: '' });
    const texts = () => ['Talk.txt', 'Talk-2.txt'].map((name) => text(it, name));
    expect(texts()).toEqual(['transcript 1.txt\n', 'transcript 2.txt\n']);
    for (const ids of [['1'], ['2'], ['1', '2'], ['2', '1']])
      expect(await line(...ids)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(texts()).toEqual(['transcript 1.txt\n', 'transcript 2.txt\n']);
  });

  it('is told with -o', async () => {
    const it = await unknownFiles();
    const line = (id: string) => ['transcript', id, '-o', 'Talk.txt', '--skip-existing'];
    expect((await it.user.run(line('1'))).code).toBe(0);
    const { code, stderr } = await it.user.run(line('2'));
    expect([code, text(it, 'Talk.txt')]).toEqual([0, 'transcript 1.txt\n']);
    expect(stderr).toMatch(unknown);
    expect(stderr).toMatch(/: Talk\.txt for 2\nhint: [^\n]*--force[^\n]*\{id\}/);
    const json = await it.user.run([...line('2'), '--json']);
    expect(JSON.parse(json.stderr)).toMatchObject({
      warning: { message: expect.stringContaining('Talk.txt for 2') },
    });
  });

  it('is told of a file that the ledger has for another one', async () => {
    const it = await twoOfOneTitle();
    await it.user.run(['transcript', '1', ...byTitle]);
    const other = await it.user.run(['transcript', '2', '-o', 'Talk.txt', '--skip-existing']);
    expect(other.stderr).toMatch(unknown);
    const own = await it.user.run(['transcript', '1', '-o', 'Talk.txt', '--skip-existing']);
    expect(own.stderr).not.toMatch(unknown);
  });

  it('is not told where the id stands in the name', async () => {
    const it = await unknownFiles();
    for (const flags of [[], ['--name-as', '{title}-{id}.{ext}']]) {
      await it.user.run(['transcript', '1', ...flags]);
      const again = await it.user.run(['transcript', '1', ...flags, '--skip-existing']);
      expect([again.code, again.stderr]).toEqual([0, '']);
    }
  });
});

describe('a file that was there before', () => {
  it.each([
    ['sync', ['sync', '--download', 'd']],
    ['wait', ['wait', '1', '--download', 'd']],
    ['transcript --skip-existing', ['transcript', '1', '-o', 'd/', '--skip-existing']],
  ])('is left by %s, and is not noted as the transcript', async (_, line) => {
    const it = await orderingAccount();
    await it.order(audio('a'));
    writeFileSync(join(folderIn(it.user, 'd'), '1.txt'), 'mine');
    const { code } = await it.user.run(line);
    expect([code, text(it, 'd/1.txt'), noted(it)]).toEqual([0, 'mine', []]);
  });
});

describe('listen --download', () => {
  it.each([
    ['make one file name', 'x:1', 'x*1', ['x_1-x_1.txt', 'x_1.txt']],
    ['differ only in case', 'ab', 'AB', ['AB-AB.txt', 'ab.txt']],
  ])('keeps the transcripts of two ids apart that %s', async (_, one, two, names) => {
    const it = await orderingAccount();
    const first = await Listener.start(it.user, ['--download', 'd', '--count', '1']);
    await first.post(complete(one));
    await first.ended;
    const second = await Listener.start(it.user, ['--download', 'd', '--count', '2', '--quiet']);
    await second.post(complete(two));
    await second.post(complete(one));
    const { code } = await second.ended;
    expect(code).toBe(0);
    expect(listing(join(it.user.home, 'd'))).toEqual(names);
    expect(second.lines.sort()).toEqual(names.map((name) => join('d', name)));
    for (const id of [one, two]) {
      const path = noted(it).find(([file]) => file === id)?.[1] ?? '';
      expect(text(it, path)).toBe(`transcript ${encodeURIComponent(id)}.txt\n`);
    }
  });

  it('keeps them apart also when both are complete at the same time', async () => {
    const it = await orderingAccount();
    const listener = await Listener.start(it.user, ['--download', 'd', '--count', '4']);
    await Promise.all(['x:1', 'x*1', 'x|1', 'x:1'].map((id) => listener.post(complete(id))));
    expect((await listener.ended).code).toBe(0);
    expect(listing(join(it.user.home, 'd'))).toEqual(['x_1-x_1-2.txt', 'x_1-x_1.txt', 'x_1.txt']);
    const texts = noted(it).map(([file, path]) => [file, text(it, path)]);
    expect(texts).toEqual(
      ['x*1', 'x:1', 'x|1'].map((id) => [id, `transcript ${encodeURIComponent(id)}.txt\n`]),
    );
  });

  it('does not tell a file of the user as the transcript', async () => {
    const it = await orderingAccount();
    writeFileSync(join(folderIn(it.user, 'd'), '7.txt'), 'mine');
    const listener = await Listener.start(it.user, ['--download', 'd', '--count', '1', '--quiet']);
    await listener.post(complete('7'));
    const { code } = await listener.ended;
    expect([code, listener.lines, noted(it), text(it, 'd/7.txt')]).toEqual([0, [], [], 'mine']);
    expect(existsSync(join(it.user.home, 'd/7-7.txt'))).toBe(false);
  });
});
