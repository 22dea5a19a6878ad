/** `sync --missing` and `sync --exec`: whatever fails, each transcript gets to where it is wanted. */
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { partialPath } from '../../../src/flows/transcripts/partial-files.ts';
import { jsonError } from '../../support/account.ts';
import { listing } from '../../support/files.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { finished, KEY, type Result, User } from '../../support/steno.ts';
import { isShared, ledgerSetting } from '../../support/store.ts';
import { until } from '../../support/until.ts';

interface Syncing extends OrderingAccount {
  sync(...more: string[]): Promise<Result>;
  exec(command: string, ...more: string[]): Promise<Result>;
  /** The lines that commands wrote to the file `ran`, sorted. */
  ran(): string[];
}

/** So many files on order, all delivered; commands write to the file `ran`. */
async function withOrders(count: number): Promise<Syncing> {
  const account = await orderingAccount();
  await account.order(...Array.from({ length: count }, (_, n) => audio(`n${n + 1}`)));
  const { user } = account;
  const file = join(user.home, 'ran');
  const sync = (...more: string[]): Promise<Result> => user.run(['sync', '--download', 'd', ...more]);
  return {
    ...account,
    sync,
    exec: (command, ...more) => sync('--exec', command, ...more),
    ran: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').sort() : []),
  };
}

const RAN = 'echo "$STENO_EVENT_AUDIOFILE $STENO_EVENT_TRY" >> ran';

describe.concurrent('sync without --download', () => {
  it.each([['--format', 'docx'], ['--name-as', '{title}.{ext}'], ['--exec', 'true'], ['--missing']])(
    'refuses %s, which would do nothing',
    async (...flags) => {
      const { user, service } = await withOrders(1);
      service.got.length = 0;
      const { code, stderr } = await user.run(['sync', ...flags]);
      expect([code, service.got.length]).toEqual([2, 0]);
      expect(stderr).toContain('--download');
    },
  );

  it('tells what changed and writes no transcript', async () => {
    const { user, fetched } = await withOrders(2);
    const before = listing(user.home);
    const { code, stdout, stderr } = await user.run(['sync']);
    expect([code, stderr]).toEqual([0, '2 open, 2 changed, 0 downloaded\n']);
    expect(stdout).toBe('1\tstate\t\tDelivered\t\t\t\t\n2\tstate\t\tDelivered\t\t\t\t\n');
    expect([fetched(), listing(user.home)]).toEqual([[], before]);
  });
});

describe.concurrent('a transcript that is there and was not noted', () => {
  it('is told by its text where a run that was killed may have left it', async () => {
    const { sync, user, fetched } = await withOrders(3);
    mkdirSync(join(user.home, 'd'));
    for (const [name, content] of [
      ['1', 'transcript 1.txt\n'],
      ['2', 'mine'],
      ['3', 'transcript 3.txt\n'],
    ] as const) {
      const path = join(user.home, `d/${name}.txt`);
      writeFileSync(path, content);
      // Of a process that runs no more.
      if (name !== '3') linkSync(path, partialPath(path).replace(`-${process.pid}-`, '-999999999-'));
    }
    const { code, stderr } = await sync();
    expect([code, stderr]).toEqual([0, expect.stringContaining('3 open, 3 changed, 1 downloaded\n')]);
    expect(stderr).toMatch(/already exists, not written: d\/2\.txt, d\/3\.txt\n/);
    expect(fetched().sort()).toEqual(['1.txt', '2.txt']);
    expect(readFileSync(join(user.home, 'd/2.txt'), 'utf8')).toBe('mine');
  });
});

describe.concurrent('sync --missing', () => {
  it.each([
    [['--since', '7d'], '--missing'],
    [['--missing', '--since', 'soon'], "'soon' is not a time"],
  ])('refuses %j', async (flags, said) => {
    const { sync, service } = await withOrders(1);
    service.got.length = 0;
    const { code, stderr } = await sync(...flags);
    expect([code, service.got.length]).toEqual([2, 0]);
    expect(stderr).toContain(said);
  });

  it('asks the service for nothing that is there, and leaves a changed file as it is', async () => {
    const { sync, service, user } = await withOrders(3);
    await sync();
    writeFileSync(join(user.home, 'd/2.txt'), 'edited');
    service.got.length = 0;
    const { code, stderr } = await sync('--missing');
    expect([code, stderr, service.got.length]).toEqual([0, '0 open, 0 changed, 0 downloaded\n', 0]);
    expect(readFileSync(join(user.home, 'd/2.txt'), 'utf8')).toBe('edited');
  });

  it('downloads what is gone, under its name, in every format, as often as it is gone', async () => {
    const { sync, user } = await withOrders(2);
    const flags = ['--format', 'txt,srt', '--name-as', 'all/{title}.{ext}', '--quiet'];
    await sync(...flags);
    for (const gone of ['d/all/Talk 2.txt', 'd']) {
      rmSync(join(user.home, gone), { recursive: true });
      expect((await sync(...flags)).stdout).toBe('');
      const { code, stdout } = await sync(...flags, '--missing');
      expect([code, stdout.split('\n').length - 1]).toEqual([0, gone === 'd' ? 4 : 1]);
    }
    expect(listing(join(user.home, 'd/all'))).toEqual([
      'Talk 1.srt',
      'Talk 1.txt',
      'Talk 2.srt',
      'Talk 2.txt',
    ]);
  });

  it('with --since leaves out files that were neither ordered nor changed since then', async () => {
    const { sync, user } = await withOrders(3);
    await sync();
    rmSync(join(user.home, 'd'), { recursive: true });
    const long = '2026-01-01T00:00:00.000Z';
    queryLedger(user, `UPDATE files SET ordered_at = '${long}', changed_at = '${long}' WHERE id = '1'`);
    queryLedger(user, `UPDATE files SET ordered_at = '${long}' WHERE id = '2'`);
    expect((await sync('--missing', '--since', '7d', '--quiet')).stdout).toBe('d/2.txt\nd/3.txt\n');
    expect((await sync('--missing', '--quiet')).stdout).toBe('d/1.txt\n');
  });

  it('tries again the next time what could not be downloaded', async () => {
    const { sync, user, service } = await withOrders(2);
    await sync();
    rmSync(join(user.home, 'd'), { recursive: true });
    service.on('POST /audiofile/2/transcript.txt', { status: 404 });
    const first = await sync('--missing', '--quiet');
    expect([first.code, first.stdout]).toEqual([10, 'd/1.txt\n']);
    service.on('POST /audiofile/2/transcript.txt', { body: 'at last' });
    expect((await sync('--missing', '--quiet')).stdout).toBe('d/2.txt\n');
  });
});

describe.concurrent('sync --exec', { timeout: 60_000 }, () => {
  it('exits 1 where every command failed, lists each with its exit code, and runs them until they succeed', async () => {
    const { exec, ran, fetched, user } = await withOrders(2);
    const failing = `${RAN}; exit $((2 + STENO_EVENT_AUDIOFILE))`;
    const first = await exec(failing);
    expect([first.code, first.stderr]).toEqual([
      1,
      `transcripts go to a new folder: ${join(user.home, 'd')}\n` +
        '2 open, 2 changed, 2 downloaded, 0 handed over\n' +
        'steno: 1.txt: the command for file 1 failed: exit 3\n' +
        'steno: 2.txt: the command for file 2 failed: exit 4\nsteno: 2 of 2 failed\n',
    ]);
    const json = await exec(failing, '--json');
    expect(json.code).toBe(1);
    const error = { code: 'failed', message: 'the command for file 1 failed: exit 3' };
    expect(JSON.parse(json.stdout)).toMatchObject([
      { audiofile: '1', format: 'txt', error },
      { audiofile: '2', format: 'txt', error: { code: 'failed' } },
    ]);
    expect(jsonError(json.stderr)).toMatchObject({
      failures: [{ what: '1.txt', message: 'the command for file 1 failed: exit 3' }, { what: '2.txt' }],
    });
    const mended = await exec(RAN);
    expect([mended.code, mended.stderr]).toEqual([0, '0 open, 0 changed, 0 downloaded, 2 handed over\n']);
    expect((await exec(RAN)).stderr).toBe('0 open, 0 changed, 0 downloaded, 0 handed over\n');
    expect(ran()).toEqual(['1 1', '1 2', '1 3', '2 1', '2 2', '2 3']);
    expect(fetched()).toHaveLength(2);
  });

  it('exits 10 where some failed; those alone are run again', async () => {
    const { exec, ran } = await withOrders(3);
    const { code, stderr } = await exec(`${RAN}; test "$STENO_EVENT_AUDIOFILE" != 2`);
    expect(code).toBe(10);
    expect(stderr).toMatch(/^steno: 2\.txt: the command for file 2 failed: exit 1\nsteno: 1 of 6 failed\n$/m);
    expect((await exec(RAN)).code).toBe(0);
    expect(ran()).toEqual(['1 1', '2 1', '2 2', '3 1']);
  });

  it('downloads again what is gone before its command exited 0, and nothing else', async () => {
    const { exec, ran, user, sync } = await withOrders(2);
    await exec(`${RAN}; test "$STENO_EVENT_AUDIOFILE" = 1`);
    rmSync(join(user.home, 'd'), { recursive: true });
    expect((await sync('--quiet')).stdout).toBe('');
    const { code, stdout } = await exec(`${RAN} && test -s "$STENO_EVENT_PATH"`, '--quiet');
    expect([code, stdout]).toEqual([0, 'd/2.txt\n']);
    expect(ran()).toEqual(['1 1', '2 1', '2 2']);
  });

  it('hands over what failed in a format that is not asked for now, and downloads it again where it is gone', async () => {
    const { user, exec, sync, ran } = await withOrders(2);
    await exec('false', '--format', 'srt');
    rmSync(join(user.home, 'd/1.srt'));
    const format = 'echo "$STENO_EVENT_AUDIOFILE $(basename "$STENO_EVENT_PATH")" >> ran';
    const { code, stderr } = await exec(format, '--format', 'txt');
    expect(code, stderr).toBe(0);
    expect(ran()).toEqual(['1 1.srt', '1 1.txt', '2 2.srt', '2 2.txt']);
    // Nothing new of that format is downloaded.
    expect((await sync('--format', 'txt')).stdout).toBe('');
    expect(ran()).toHaveLength(4);
  });

  it('on a fresh disk, with --missing, hands over only what was not handed over', async () => {
    const { exec, ran, user, sync, fetched } = await withOrders(2);
    await sync();
    rmSync(join(user.home, 'd'), { recursive: true });
    const failing = `${RAN}; test "$STENO_EVENT_AUDIOFILE" = 1`;
    expect((await exec(failing, '--missing')).code).toBe(10);
    rmSync(join(user.home, 'd'), { recursive: true });
    expect((await exec(RAN, '--missing')).code).toBe(0);
    expect(ran()).toEqual(['1 1', '2 1', '2 2']);
    expect(fetched()).toHaveLength(6);
  });

  it('leaves alone what was downloaded without it and is there', async () => {
    const { exec, ran, sync } = await withOrders(2);
    await sync();
    expect((await exec(RAN)).code).toBe(0);
    expect((await exec(RAN, '--missing')).code).toBe(0);
    expect(ran()).toEqual([]);
  });

  it('runs each command once, though several run at once', async () => {
    const { exec, ran } = await withOrders(8);
    const ends = await Promise.all(Array.from({ length: 4 }, () => exec(`${RAN}; sleep 0.3`, '--jobs', '3')));
    expect(
      ends.map(({ code }) => code),
      ends.map(({ stderr }) => stderr).join(''),
    ).toEqual([0, 0, 0, 0]);
    await exec(RAN);
    expect(ran()).toEqual(Array.from({ length: 8 }, (_, n) => `${n + 1} 1`));
  });

  it('says how many another sync has', async () => {
    const { exec, ran, user } = await withOrders(1);
    const first = exec(`${RAN}; until test -e go; do sleep 0.1; done`);
    await until(() => ran().length === 1, 'the command');
    expect((await exec(RAN)).stderr).toMatch(/0 handed over, 1 left for another sync\n$/);
    writeFileSync(join(user.home, 'go'), '');
    expect([(await first).code, ran()]).toEqual([0, ['1 1']]);
  });

  it('that was killed loses nothing: the next one runs every command that did not exit 0', async () => {
    const { user, exec, ran } = await withOrders(3);
    const command = `${RAN}; test "$STENO_EVENT_AUDIOFILE" = 1 || sleep 30`;
    const child = user.start(['sync', '--download', 'd', '--jobs', '1', '--exec', command]);
    const end = finished(child);
    await until(() => ran().length === 2, 'two commands');
    child.kill('SIGKILL');
    await end;
    if (isShared) {
      // Only its silence tells there that it is gone.
      expect((await exec('false')).stderr).toMatch(/1 left for another sync/);
      queryLedger(user, "UPDATE runs SET seen_at = '2026-01-01T00:00:00.000Z'");
    }
    const { code } = await exec(RAN);
    expect([code, ran()]).toEqual([0, ['1 1', '2 1', '2 2', isShared ? '3 2' : '3 1']]);
  });

  it('that is interrupted ends its command, and the next one runs it', async () => {
    const { user, exec, ran } = await withOrders(2);
    const child = user.start(['sync', '--download', 'd', '--jobs', '1', '--exec', `${RAN}; sleep 30`]);
    const end = finished(child);
    await until(() => ran().length === 1, 'the command');
    child.kill('SIGINT');
    const { code, stderr } = await end;
    expect(code).toBe(130);
    expect(stderr).toMatch(/^steno: interrupted: 2 checked, 2 changed, 2 downloaded, 0 handed over$/m);
    expect((await exec(RAN)).code).toBe(0);
    expect(ran()).toEqual(['1 1', '1 2', '2 1']);
  });

  it('ends a command at --exec-timeout, which counts as failed', async () => {
    const { exec, ran } = await withOrders(1);
    const { code, stderr } = await exec(`${RAN}; sleep 30`, '--exec-timeout', '1s');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/file 1 failed: stopped after 1s\n$/)]);
    await exec(RAN);
    expect(ran()).toEqual(['1 1', '1 2']);
  });

  it('gives the event and the path as listen does, nothing of it in a command line, and the key only if asked', async () => {
    const { exec, user, service } = await withOrders(1);
    const title = 'A "talk"; $(touch hacked) `touch hacked`';
    service.on('GET /audiofile/1', { body: { audiofile: { id: 1, statename: 'Delivered', title } } });
    const command = 'cat > event.json; env > env; ps -o args= > args; true';
    expect((await exec(command, '--format', 'srt')).code).toBe(0);
    const read = (name: string): string => readFileSync(join(user.home, name), 'utf8');
    const path = join(user.home, 'd/1.srt');
    expect(JSON.parse(read('event.json'))).toMatchObject({
      ...{ n: null, source: 'found', event: 'TRANSCRIPT_COMPLETE', audiofile: '1', order: 'o1', title },
      ...{ format: 'srt', path, fields: { audiofile: '1', originallink: audio('n1') } },
    });
    const env = read('env').split('\n');
    for (const line of [
      'AUDIOFILE=1',
      'FORMAT=srt',
      `PATH=${path}`,
      `TITLE=${title}`,
      'TRY=1',
      'SOURCE=found',
    ])
      expect(env).toContain(`STENO_EVENT_${line}`);
    expect(env.join('\n')).not.toContain(KEY);
    expect(read('args')).not.toMatch(/talk|1\.srt/);
    expect(existsSync(join(user.home, 'hacked'))).toBe(false);
    expect((await exec('test -n "$STENO_API_KEY"', '--exec-with-key', '--format', 'docx')).code).toBe(0);
  });

  it('keeps stdout for what it prints itself', async () => {
    const { exec } = await withOrders(1);
    const { stdout, stderr } = await exec('echo said', '--quiet');
    expect([stdout, stderr]).toEqual(['d/1.txt\n', 'said\n']);
  });

  it('runs again for a transcript that was delivered anew after an upgrade', async () => {
    const { exec, ran, user, service, states } = await withOrders(1);
    const each = 'echo "$STENO_EVENT_TRY $(cat "$STENO_EVENT_PATH")" >> ran';
    await exec(each);
    service.on('POST /audiofile/1/upgrade', { body: { message: 'done' } });
    expect((await user.run(['upgrade', '1', '--sku', 'TSTMP1'])).code).toBe(0);
    states.set('1', ['In Review']);
    await exec(each);
    states.set('1', ['Delivered']);
    service.on('POST /audiofile/1/transcript.txt', { body: 'with timestamps' });
    await exec(each);
    await exec(each);
    expect(ran()).toEqual(['1 transcript 1.txt', '1 with timestamps']);
  });

  it('is remembered by an export: another ledger hands over the rest alone', async () => {
    const { exec, ran, user } = await withOrders(2);
    await exec(`${RAN}; test "$STENO_EVENT_AUDIOFILE" = 1`);
    expect((await user.run(['ledger', 'export', '-o', 'ledger.jsonl'])).code).toBe(0);
    const env = { ...ledgerSetting(), STENO_STATE_DIR: join(user.home, 'other') };
    expect((await user.run(['ledger', 'import', 'ledger.jsonl'], { env })).code).toBe(0);
    expect((await user.run(['sync', '--download', 'd', '--exec', RAN], { env })).code).toBe(0);
    expect(ran()).toEqual(['1 1', '2 1', '2 2']);
  });
});

describe.concurrent('listen --exec', () => {
  it('leaves STENO_EVENT_PATH empty, whatever an event says', async () => {
    const { Listener, form } = await import('../../support/listener.ts');
    const user = new User();
    const listener = await Listener.start(user, [
      '--exec',
      'echo "[$STENO_EVENT_PATH]" > path',
      '--count',
      '1',
    ]);
    await listener.post(form({ event: 'TRANSCRIPT_COMPLETE', audiofile: '1', path: '/etc/passwd' }));
    expect((await listener.ended).code).toBe(0);
    expect(readFileSync(join(user.home, 'path'), 'utf8')).toBe('[]\n');
  });
});
