/** Hundreds of transcripts in one command; whole or not there, whatever happens. */
import { once } from 'node:events';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { listing } from '../../support/files.ts';
import { audio, folderIn, orderingAccount, queryLedger } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { finished } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

const ids = Array.from({ length: 300 }, (_, n) => String(1000 + n));

/** A transcript of which the second half never comes. */
const stuck: Answer = (_, response) => {
  response.writeHead(200, { 'content-length': '400000' });
  response.write('half '.repeat(30_000));
};

describe.concurrent('transcript in bulk', () => {
  it('fetches hundreds in two formats, lists the one that failed, and goes on where it stopped', async () => {
    const { user, service, fetched } = await orderingAccount();
    service.on('POST /audiofile/1100/transcript.srt', { status: 404, body: { message: 'no captions' } });
    const line = ['transcript', '--from', '-', '--format', 'txt,srt', '-o', 'd', '--jobs', '16'];
    const { code, stdout, stderr } = await user.run([...line, '--quiet'], { stdin: ids.join('\n') });
    expect(code).toBe(10);
    expect(stderr).toMatch(/^steno: 1100\.srt: [^\n]*no captions[^\n]*\nsteno: 1 of 600 failed\n$/);
    const wanted = ids
      .flatMap((id) => [`d/${id}.txt`, `d/${id}.srt`])
      .filter((name) => name !== 'd/1100.srt');
    expect(stdout.trim().split('\n')).toEqual(wanted);
    expect(listing(join(user.home, 'd'))).toHaveLength(599);
    for (const id of ['1000', '1150', '1299'])
      expect(readFileSync(join(user.home, `d/${id}.srt`), 'utf8')).toBe(`transcript ${id}.srt\n`);
    service.on('POST /audiofile/1100/transcript.srt', { body: 'captions at last' });
    const before = fetched().length;
    const again = await user.run([...line, '--skip-existing', '--json'], { stdin: ids.join('\n') });
    expect(again.code).toBe(0);
    const saved = JSON.parse(again.stdout) as Array<{ skipped?: boolean }>;
    expect([saved.length, saved.filter((each) => each.skipped).length]).toEqual([600, 599]);
    expect(fetched()).toHaveLength(before + 1);
  });

  it('keeps to the number of jobs', async () => {
    const { user, service } = await orderingAccount();
    let [now, most] = [0, 0];
    service.on('*', (_, response) => {
      now += 1;
      most = Math.max(most, now);
      setTimeout(() => {
        now -= 1;
        response.end('text');
      }, 30);
    });
    await user.run(['transcript', ...ids.slice(0, 20), '--jobs', '3']);
    expect(most).toBe(3);
  });

  it('takes its ids from `files --quiet`, and from a table of ours', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'), audio('b'));
    for (const list of [await user.run(['files', '--refresh', '--quiet']), await user.run(['files'])]) {
      const { code, stdout } = await user.run(
        ['transcript', '--from', '-', '-o', 'd/', '--force', '--quiet'],
        { stdin: list.stdout },
      );
      expect([code, stdout]).toEqual([0, 'd/2.txt\nd/1.txt\n']);
    }
    expect(queryLedger(user, 'SELECT file, ext, folder, bytes FROM downloads ORDER BY file')).toEqual(
      ['1', '2'].map((file) => ({ file, ext: 'txt', folder: join(user.home, 'd'), bytes: 17 })),
    );
    const empty = await user.run(['transcript', '--from', '-'], { stdin: '\n# none\n' });
    expect(empty.code).toBe(0);
  });

  it('is not recorded for fakes', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('a'));
    await user.run(['transcript', '1', '--test']);
    expect(queryLedger(user, 'SELECT * FROM downloads')).toEqual([]);
  });

  it('stops all at once when the key is not accepted', async () => {
    const { user, service } = await orderingAccount();
    service.on('*', { status: 401 });
    const { code, stderr } = await user.run(['transcript', ...ids, '--jobs', '4', '--json']);
    expect([code, jsonError(stderr).code]).toEqual([3, 'auth']);
    expect(service.got.length).toBeLessThanOrEqual(8);
  });

  it('leaves no half file at kill -9, and the next run clears away what was left', async () => {
    const { user, service } = await orderingAccount();
    service.on('POST /audiofile/2/transcript.txt', stuck);
    const child = user.start(['transcript', '1', '2', '-o', 'd', '--jobs', '1']);
    const exit = once(child, 'exit');
    const folder = join(user.home, 'd');
    const isAtSecond = (names: readonly string[]): boolean =>
      names.includes('1.txt') && names.some((name) => name.endsWith('.steno-part'));
    await until(() => isAtSecond(listing(folder)), 'the part of the second');
    child.kill('SIGKILL');
    await exit;
    const left = listing(folder);
    expect(left.filter((name) => !name.startsWith('.'))).toEqual(['1.txt']);
    expect(left).toHaveLength(2);
    service.on('POST /audiofile/2/transcript.txt', { body: 'whole' });
    const { code } = await user.run(['transcript', '1', '2', '-o', 'd', '--skip-existing']);
    expect([code, listing(folder)]).toEqual([0, ['1.txt', '2.txt']]);
    expect(readFileSync(join(folder, '2.txt'), 'utf8')).toBe('whole');
  });

  it('between download and rename leaves the whole part or nothing: the next run does it anew', async () => {
    const { user } = await orderingAccount();
    const folder = folderIn(user, 'd');
    // What a process that is gone had written to the end, and had no time to rename.
    const gone = user.start(['--version']);
    await finished(gone);
    const made = await partName(user.home, '7.txt', gone.pid ?? 0);
    writeFileSync(join(folder, made), 'whole, but nobody knows');
    const { code } = await user.run(['sync', '--download', 'd']);
    expect([code, listing(folder)]).toEqual([0, []]);
  });

  it('clears away nothing that another process is writing, nor files of the user', async () => {
    const { user } = await orderingAccount();
    const folder = folderIn(user, 'd');
    const mine = await partName(user.home, '8.txt', process.pid);
    const foreign = mine.replace(/\.[0-9a-f]{8}-/, '.00000000-');
    const old = foreign.replace('8.txt', '9.txt');
    const names = [mine, foreign, '.hidden', 'notes.steno-part', '.x.steno-part', '5.txt'];
    for (const name of [...names, old]) writeFileSync(join(folder, name), 'x');
    const yesterday = new Date(Date.now() - 86_400_000);
    utimesSync(join(folder, old), yesterday, yesterday);
    await user.run(['transcript', '1', '-o', 'd/', '--quiet']);
    expect(listing(folder)).toEqual(['1.txt', ...names].sort());
  });

  it('leaves nothing at Ctrl-C but what was whole', async () => {
    const { user, service } = await orderingAccount();
    for (const id of ['3', '4', '5']) service.on(`POST /audiofile/${id}/transcript.txt`, stuck);
    const child = user.start([
      'transcript',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '-o',
      'd',
      '--jobs',
      '3',
      '--json',
    ]);
    const end = finished(child);
    const folder = join(user.home, 'd');
    // The first two are parts too until they are synced.
    await until(() => {
      const names = listing(folder);
      const parts = names.filter((name) => name.endsWith('.steno-part'));
      return parts.length === 3 && names.includes('1.txt') && names.includes('2.txt');
    }, 'two transcripts and three parts');
    child.kill('SIGINT');
    const { code } = await end;
    expect(code).toBe(130);
    expect(listing(folder)).toEqual(['1.txt', '2.txt']);
  });

  it('takes an answer that is shorter than announced for none', async () => {
    const { user, service } = await orderingAccount();
    service.on('POST /audiofile/2/transcript.txt', (_, response, socket) => {
      response.writeHead(200, { 'content-length': '400000' });
      response.write('half '.repeat(30_000), () => socket.destroy());
    });
    const { code, stderr } = await user.run(['transcript', '1', '2', '-o', 'd']);
    expect(code, stderr).toBe(10);
    expect(listing(join(user.home, 'd'))).toEqual(['1.txt']);
  });

  it('given the same file twice by two processes keeps one of them, whole', async () => {
    const { user, service } = await orderingAccount();
    const body = 'line\n'.repeat(40_000);
    service.on('*', (_, response) => {
      response.write(body.slice(0, 1000));
      setTimeout(() => response.end(body.slice(1000)), 400);
    });
    const ends = await Promise.all(
      ['--skip-existing', '--skip-existing', '--force'].map((how) => user.run(['transcript', '1', how])),
    );
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(readFileSync(join(user.home, '1.txt'), 'utf8')).toBe(body);
    expect(listing(user.home).filter((name) => name.includes('1.txt'))).toEqual(['1.txt']);
  });
});

/** The name that a process of this machine gives to a part. */
async function partName(folder: string, name: string, pid: number): Promise<string> {
  const { partialPath } = await import('../../../src/flows/transcripts/partial-files.ts');
  const path = partialPath(join(folder, name));
  return path.slice(folder.length + 1).replace(`-${process.pid}-`, `-${pid}-`);
}
