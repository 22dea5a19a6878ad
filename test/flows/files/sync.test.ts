/** `sync`: brings the ledger up to date and fetches what is new, as often as one likes. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { parseCsv } from '../../support/csv.ts';
import { listing } from '../../support/files.ts';
import { audio, folderIn, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { finished } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

/** So many files on order, in one order. */
async function withOrders(count: number): Promise<OrderingAccount> {
  const it = await orderingAccount();
  await it.order(...Array.from({ length: count }, (_, n) => audio(`n${n + 1}`)));
  it.service.got.length = 0;
  return it;
}

const text = (it: OrderingAccount, name: string): string => readFileSync(join(it.user.home, name), 'utf8');

const withoutTimes = (rows: string): string => rows.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');

describe.concurrent('sync', () => {
  it('does nothing in an empty ledger, in every form', async () => {
    const { user, service } = await orderingAccount();
    const [plain, json, csv, quiet] = await Promise.all(
      [[], ['--json'], ['--csv'], ['--quiet']].map((form) => user.run(['sync', ...form])),
    );
    expect([plain, json, csv, quiet].map((each) => each?.code)).toEqual([0, 0, 0, 0]);
    expect([plain?.stdout, plain?.stderr]).toEqual(['', '0 open, 0 changed, 0 downloaded\n']);
    expect(JSON.parse(json?.stdout ?? '')).toEqual([]);
    expect(parseCsv(csv?.stdout ?? '')).toEqual([
      ['audiofile', 'what', 'was', 'state', 'format', 'bytes', 'path', 'downloaded_at'],
    ]);
    expect([quiet?.stdout, quiet?.stderr]).toEqual(['', '']);
    expect(service.got).toEqual([]);
  });

  it('asks about what is open, fetches what is delivered, and does nothing the second time', async () => {
    const it = await withOrders(4);
    it.states.set('2', ['Order Cancelled']).set('3', ['Transcribing']).set('4', ['On Hold']);
    const first = await it.user.run(['sync', '--download', 'd', '--json']);
    expect([first.code, first.stderr]).toEqual([0, '']);
    expect(JSON.parse(first.stdout)).toEqual([
      {
        audiofile: '1',
        format: 'txt',
        path: 'd/1.txt',
        bytes: 17,
        downloaded_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        skipped: false,
      },
    ]);
    expect(text(it, 'd/1.txt')).toBe('transcript 1.txt\n');
    it.service.got.length = 0;
    const second = await it.user.run(['sync', '--download', 'd']);
    expect([second.code, second.stdout]).toEqual([0, '']);
    expect(second.stderr).toBe('2 open, 0 changed, 0 downloaded\n');
    // The cancelled one is over, the held one and the one under way are not.
    expect(it.askedFiles().sort()).toEqual(['3', '4']);
    expect(it.fetched()).toEqual([]);
    it.states.set('3', ['Delivered']).set('4', ['A State Of Its Own']);
    const third = await it.user.run(['sync', '--download', 'd']);
    expect(withoutTimes(third.stdout)).toBe(
      '3\tstate\tTranscribing\tDelivered\t\t\t\t\n4\tstate\tOn Hold\tA State Of Its Own\t\t\t\t\n' +
        '3\ttranscript\t\t\ttxt\t17\td/3.txt\tTIME\n',
    );
    it.service.got.length = 0;
    await it.user.run(['sync', '--download', 'd']);
    expect([it.askedFiles(), it.fetched()]).toEqual([['4'], []]);
  });

  it('fetches every format that is wanted, each once', async () => {
    const it = await withOrders(2);
    const quiet = await it.user.run(['sync', '--download', 'd', '--quiet']);
    expect(quiet.stdout).toBe('d/1.txt\nd/2.txt\n');
    const more = await it.user.run(['sync', '--download', 'd', '--format', 'txt,docx,srt', '--quiet']);
    expect(more.stdout).toBe('d/1.docx\nd/2.docx\nd/1.srt\nd/2.srt\n');
    expect(it.fetched().sort()).toEqual(['1.docx', '1.srt', '1.txt', '2.docx', '2.srt', '2.txt']);
    const csv = await it.user.run(['sync', '--download', 'e', '--csv']);
    expect(parseCsv(withoutTimes(csv.stdout)).slice(1)).toEqual([
      ['1', 'transcript', '', '', 'txt', '17', 'e/1.txt', 'TIME'],
      ['2', 'transcript', '', '', 'txt', '17', 'e/2.txt', 'TIME'],
    ]);
  });

  it('fetches to each folder once, and not again what was moved away', async () => {
    const it = await withOrders(1);
    await it.user.run(['sync', '--download', 'one']);
    await it.user.run(['sync', '--download', 'two']);
    expect(it.fetched()).toEqual(['1.txt', '1.txt']);
    rmSync(join(it.user.home, 'one/1.txt'));
    await it.user.run(['sync', '--download', './one/']);
    await it.user.run(['sync', '--download', '.'], { cwd: folderIn(it.user, 'two') });
    expect(it.fetched()).toHaveLength(2);
    expect([listing(join(it.user.home, 'one')), listing(join(it.user.home, 'two'))]).toEqual([[], ['1.txt']]);
  });

  it('leaves a file that is there as it is', async () => {
    const it = await withOrders(1);
    writeFileSync(join(folderIn(it.user, 'd'), '1.txt'), 'edited by hand');
    const { code, stdout } = await it.user.run(['sync', '--download', 'd', '--quiet']);
    expect([code, stdout, it.fetched().length]).toEqual([0, '', 0]);
    expect(text(it, 'd/1.txt')).toBe('edited by hand');
  });

  it('ends with 10 where some failed, lists them, and tries them again the next time', async () => {
    const it = await withOrders(4);
    it.service.on('POST /audiofile/2/transcript.srt', { status: 404, body: { message: 'not yet' } });
    it.service.on('POST /audiofile/3/transcript.txt', { body: { message: 'Transcript is not ready' } });
    it.service.on('GET /audiofile/4', { status: 400, body: { message: 'odd' } });
    const { code, stdout, stderr } = await it.user.run([
      'sync',
      '--download',
      'd',
      '--format',
      'txt,srt',
      '--quiet',
    ]);
    expect([code, stdout]).toEqual([10, 'd/1.txt\nd/2.txt\nd/1.srt\nd/3.srt\n']);
    expect(stderr).toMatch(
      /^steno: 4: [^\n]*odd[^\n]*\nsteno: 3\.txt: [^\n]*not ready\nsteno: 2\.srt: [^\n]*not yet[^\n]*\nsteno: 3 of 10 failed\n$/,
    );
    expect(listing(join(it.user.home, 'd'))).toEqual(['1.srt', '1.txt', '2.txt', '3.srt']);
    const json = await it.user.run(['sync', '--download', 'd', '--format', 'txt,srt', '--json']);
    expect(json.code).toBe(1);
    expect(jsonError(json.stderr)).toMatchObject({
      failures: [{ what: '4' }, { what: '3.txt' }, { what: '2.srt', status: 404 }],
    });
    for (const route of ['POST /audiofile/2/transcript.srt', 'POST /audiofile/3/transcript.txt'])
      it.service.on(route, { body: 'at last' });
    it.service.on('GET /audiofile/4', { body: { audiofile: { id: 4, statename: 'Refunded' } } });
    const mended = await it.user.run(['sync', '--download', 'd', '--format', 'txt,srt', '--quiet']);
    expect([mended.code, mended.stdout, mended.stderr]).toEqual([0, 'd/3.txt\nd/2.srt\n', '']);
  });

  it('ends with 3 if the key is not accepted, and asks no more', async () => {
    const it = await withOrders(30);
    it.service.on('*', { status: 401 });
    expect((await it.user.run(['sync', '--jobs', '2'])).code).toBe(3);
    expect(it.service.got.length).toBeLessThan(5);
  });

  it('runs twice and more at once on the same folder without harm', async () => {
    const it = await withOrders(12);
    const slow = it.fetched;
    it.service.on('*', ({ path }, response) => {
      const [, id, ext] = /^\/audiofile\/(\d+)(\/transcript\.\w+)?$/.exec(path) ?? [];
      const body = ext
        ? `transcript ${id}`.repeat(5000)
        : JSON.stringify({ audiofile: { id, statename: 'Delivered' } });
      if (!ext) return void response.end(body);
      response.write(body.slice(0, 20_000));
      setTimeout(() => response.end(body.slice(20_000)), 150);
    });
    const ends = await Promise.all(
      Array.from({ length: 4 }, () => it.user.run(['sync', '--download', 'd', '--quiet'])),
    );
    expect(
      ends.map(({ code }) => code),
      ends.map(({ stderr }) => stderr).join(''),
    ).toEqual([0, 0, 0, 0]);
    const names = Array.from({ length: 12 }, (_, n) => `${n + 1}.txt`).sort();
    expect(listing(join(it.user.home, 'd'))).toEqual(names);
    for (const name of names)
      expect(text(it, `d/${name}`)).toBe(`transcript ${name.slice(0, -4)}`.repeat(5000));
    // Each transcript is told by one of them alone.
    expect(ends.flatMap(({ stdout }) => stdout.trim().split('\n').filter(Boolean)).sort()).toEqual(
      names.map((name) => `d/${name}`),
    );
    expect(queryLedger(it.user, 'SELECT count(*) AS n FROM downloads')).toEqual([{ n: 12 }]);
    const before = slow().length;
    await it.user.run(['sync', '--download', 'd']);
    expect(slow()).toHaveLength(before);
  });

  it('leaves nothing half-written at Ctrl-C, and goes on the next time', async () => {
    const it = await withOrders(3);
    const asked = new Promise<void>((done) =>
      it.service.on('POST /audiofile/2/transcript.txt', (_, response) => {
        response.writeHead(200, { 'content-length': '200000' });
        response.write('half'.repeat(20_000));
        done();
      }),
    );
    const child = it.user.start(['sync', '--download', 'd', '--jobs', '1']);
    const end = finished(child);
    await asked;
    await sleep(200);
    child.kill('SIGINT');
    expect((await end).code).toBe(130);
    expect(listing(join(it.user.home, 'd'))).toEqual(['1.txt']);
    it.service.on('POST /audiofile/2/transcript.txt', { body: 'whole' });
    const { stdout } = await it.user.run(['sync', '--download', 'd', '--quiet']);
    expect(stdout).toBe('d/2.txt\nd/3.txt\n');
    expect(it.fetched().filter((name) => name === '1.txt')).toHaveLength(1);
  });

  it.each([
    ['SIGTERM', 143, ['--quiet'], 'd/1.txt\n'],
    [
      'SIGINT',
      130,
      [],
      '1\tstate\t\tDelivered\t\t\t\t\n2\tstate\t\tDelivered\t\t\t\t\n1\ttranscript\t\t\ttxt\t17\td/1.txt\tTIME\n',
    ],
  ] as const)('tells what is done as it goes, before %s and after it', async (signal, exit, form, told) => {
    const it = await withOrders(2);
    it.service.on('POST /audiofile/2/transcript.txt', (_, response) => {
      response.writeHead(200, { 'content-length': '200' }).write('half');
    });
    const child = it.user.start(['sync', '--download', 'd', '--jobs', '1', ...form]);
    let stdout = '';
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    const end = finished(child);
    await until(
      () => withoutTimes(stdout) === told && it.fetched().includes('2.txt'),
      () => `told so far: ${stdout}`,
    );
    expect(child.exitCode).toBeNull();
    child.kill(signal);
    const { code } = await end;
    expect([code, withoutTimes(stdout)]).toEqual([exit, told]);
  });

  it.each([
    ['--json', (out: string) => JSON.parse(out) as unknown[]],
    ['--csv', (out: string) => parseCsv(out).filter(([, what]) => what === 'transcript')],
  ] as const)(
    'that is interrupted tells with %s what is done, also what came out of turn',
    async (form, downloaded) => {
      const it = await withOrders(3);
      it.service.on('POST /audiofile/1/transcript.txt', (_, response) => {
        response.writeHead(200, { 'content-length': '200' }).write('half');
      });
      const child = it.user.start(['sync', '--download', 'd', form]);
      const end = finished(child);
      await until(
        () => listing(join(it.user.home, 'd')).filter((name) => /^\d/.test(name)).length === 2,
        'two files',
      );
      await sleep(200);
      child.kill('SIGTERM');
      const { code, stdout } = await end;
      expect(code).toBe(143);
      expect(JSON.stringify(downloaded(stdout))).toMatch(/d\/2\.txt.*d\/3\.txt/);
      expect(downloaded(stdout)).toHaveLength(2);
    },
  );

  it.each([[], ['--json'], ['--csv']])(
    'fetches all of it though head reads only the first line',
    async (...form) => {
      const it = await withOrders(40);
      const child = it.user.start(['sync', '--download', 'd', '--jobs', '2', ...form]);
      child.stdout.once('data', () => child.stdout.destroy());
      const { code, stderr } = await finished(child);
      expect([code, stderr.includes('steno:')]).toEqual([0, false]);
      expect(listing(join(it.user.home, 'd'))).toHaveLength(40);
    },
  );
});
