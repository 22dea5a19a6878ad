/** Ctrl-C in work on many: what was done, the line to go on with, and a terminal as it was. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fileAnswer, jsonError } from '../support/account.ts';
import { listing } from '../support/files.ts';
import { audio, orderingAccount, reply } from '../support/ledger.ts';
import { BIN, finished, KEY, type Result, type User } from '../support/steno.ts';
import { Terminal } from '../support/terminal.ts';
import { until } from '../support/until.ts';

/** Files from `stuckAt` on are never answered. */
async function stuck(stuckAt: number) {
  const it = await orderingAccount();
  it.service.allow('*', ({ path }, response) => {
    const [, id = '', transcript] = /^\/(?:audiofile|invoice)\/([^/]+)(\/transcript\.\w+)?$/.exec(path) ?? [];
    if (Number(id) >= stuckAt) return;
    if (transcript) response.end(`transcript ${id}\n`);
    else reply(response, fileAnswer(Number(id), Number(id) % 2 ? 'Delivered' : 'Transcribing').body);
  });
  return it;
}

/** Runs a line until the service was asked for the file that is stuck, and interrupts it. */
async function interrupted(
  it: Awaited<ReturnType<typeof stuck>>,
  args: readonly string[],
  { stuckAt, stdin = '' }: { readonly stuckAt: number; readonly stdin?: string },
) {
  const before = it.service.got.length;
  const child = it.user.start(args);
  child.stdin.end(stdin);
  const end = finished(child);
  const isStuck = (path: string): boolean => new RegExp(`/${stuckAt}(/|$)`).test(path);
  await until(() => it.service.got.slice(before).some(({ path }) => isStuck(path)), 'the file that is stuck');
  await new Promise((done) => setTimeout(done, 1500));
  child.kill('SIGINT');
  return end;
}

/** Runs the line that the last hint names, in a shell, as a person would paste it. */
function pasted(user: User, stderr: string): Promise<Result> {
  const line = /^hint: [^:]*: steno (.*)\n$/m.exec(stderr.slice(stderr.lastIndexOf('hint: ')))?.[1];
  const steno = `'${process.execPath}' '${BIN}'`;
  return finished(spawn('sh', ['-c', `${steno} ${line}`], { cwd: user.home, env: user.env }));
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, at) => String(at + 1));

describe.concurrent('Ctrl-C', () => {
  it('in transcripts says how many are there, and the rest comes with the line that it names', async () => {
    const it = await stuck(4);
    writeFileSync(join(it.user.home, 'my ids.txt'), ids(6).join('\n'));
    const line = ['transcript', '--api-key', KEY, '--from', 'my ids.txt', '-o', 't', '--jobs', '1'];
    const { code, stdout, stderr } = await interrupted(it, [...line, '--quiet'], { stuckAt: 4 });
    expect([code, stdout]).toEqual([130, 't/1.txt\nt/2.txt\nt/3.txt\n']);
    expect(stderr.split('\n').slice(-3)).toEqual([
      'steno: interrupted: 3 of 6 transcripts downloaded',
      "hint: resume with: steno transcript --from 'my ids.txt' -o t --jobs 1 --quiet --skip-existing",
      '',
    ]);
    expect(stderr).not.toContain(KEY.slice(0, 8));
    it.service.allow('*', { body: 'the rest\n' });
    const fetchedBefore = it.fetched().length;
    expect((await pasted(it.user, stderr)).code).toBe(0);
    expect(it.fetched().slice(fetchedBefore)).toEqual(['4.txt', '5.txt', '6.txt']);
    expect(listing(join(it.user.home, 't'))).toHaveLength(6);
  });

  it('in transcripts with --force names no --skip-existing, and counts what was there before', async () => {
    const it = await stuck(3);
    const forced = await interrupted(it, ['transcript', '1', '2', '3', '--jobs', '1', '--force'], {
      stuckAt: 3,
    });
    expect(forced.stderr).toContain('hint: start over with: steno transcript 1 2 3 --jobs 1 --force\n');
    const skipping = await interrupted(it, ['transcript', '1', '2', '3', '--jobs', '1', '--skip-existing'], {
      stuckAt: 3,
    });
    expect(skipping.stderr).toContain('interrupted: 0 of 3 transcripts downloaded, 2 already existed\n');
  });

  it('with --json has both in the object', async () => {
    const it = await stuck(2);
    const { code, stderr } = await interrupted(it, ['transcript', '1', '2', '--jobs', '1', '--json'], {
      stuckAt: 2,
    });
    expect([code, jsonError(stderr)]).toMatchObject([
      130,
      {
        code: 'interrupted',
        message: 'interrupted: 1 of 2 transcripts downloaded',
        hint: 'resume with: steno transcript 1 2 --jobs 1 --json --skip-existing',
      },
    ]);
  });

  it('in wait says how many are delivered', async () => {
    const it = await stuck(4);
    const { code, stderr } = await interrupted(it, ['wait', ...ids(4), '--download', 'd'], { stuckAt: 4 });
    expect([code, stderr]).toEqual([
      130,
      `transcripts go to a new folder: ${join(it.user.home, 'd')}\n` +
        'steno: interrupted: 2 of 4 files are delivered\nhint: resume with: steno wait 1 2 3 4 --download d\n',
    ]);
  });

  it('in track says how many are in the ledger', async () => {
    const it = await stuck(4);
    const { code, stderr } = await interrupted(it, ['track', '--from', '-'], {
      stuckAt: 4,
      stdin: ids(4).join('\n'),
    });
    expect([code, stderr]).toEqual([
      130,
      'steno: interrupted: 3 of 4 files added to the ledger\nhint: resume with the same input: steno track --from -\n',
    ]);
  });

  it.each([
    [['files', '--refresh'], '3 of 5 open files refreshed', 'steno files --refresh'],
    [['sync', '--download', 'a b'], '3 checked, 3 changed, 0 downloaded', "steno sync --download 'a b'"],
  ])('in %j says how many were asked about', async (line, done, goOn) => {
    const it = await stuck(99);
    await it.order(...ids(5).map(audio));
    it.service.allow('*', ({ path }, response) => {
      const id = Number(/\d+$/.exec(path)?.[0]);
      if (id < 4) reply(response, fileAnswer(id, 'Transcribing').body);
    });
    const { code, stderr } = await interrupted(it, line, { stuckAt: 4 });
    expect(code).toBe(130);
    expect(stderr).toContain(`steno: interrupted: ${done}\nhint: resume with: ${goOn}\n`);
  });

  it('in a report says how many invoices are kept', async () => {
    const it = await stuck(99);
    await it.order(...ids(3).map(audio));
    it.service.allow('*', ({ path }, response) => {
      const id = Number(/\d+$/.exec(path)?.[0]);
      if (!path.startsWith('/invoice/'))
        reply(response, { audiofile: { id, statename: 'Delivered', invoices: [id] } });
      else if (id < 3) reply(response, { id, total: '1.00' });
    });
    await it.user.run(['files', '--refresh']);
    const { code, stderr } = await interrupted(it, ['report', '--by', 'month'], { stuckAt: 3 });
    expect(code).toBe(130);
    expect(stderr).toContain(
      'steno: interrupted: 2 of 3 invoices are fetched and kept\nhint: resume with: steno report --by month\n',
    );
  });

  it('in a manifest names the line that orders the rest, and no more', async () => {
    const it = await orderingAccount();
    let orders = 0;
    it.service.allow('POST /order_url', (got, response) => {
      orders += 1;
      if (orders === 3) return void response.writeHead(503, { 'retry-after': '50' }).end();
      const audiofiles = ((got.body?.url ?? []) as string[]).map((_, at) => orders * 10 + at);
      reply(response, { order: `o${orders}`, audiofiles, message: 'ok' });
    });
    writeFileSync(join(it.user.home, 'm.txt'), ids(5).map(audio).join('\n'));
    const child = it.user.start(['order', '--from', 'm.txt', '--sku', 'TRANS14', '--per-order', '1']);
    const end = finished(child);
    await until(() => orders === 3, 'the third order');
    await new Promise((done) => setTimeout(done, 1500));
    child.kill('SIGINT');
    const { code, stderr } = await end;
    expect(code).toBe(130);
    expect(stderr).toContain(
      'steno: interrupted: 2 orders placed, with 2 files\nsteno: not sent: 2 orders\n' +
        'hint: resume with: steno order --from m.txt --sku TRANS14 --per-order 1 --skip-ordered\n',
    );
    expect((await pasted(it.user, stderr)).code).toBe(0);
    const sent = it.service
      .calls('POST /order_url')
      .slice(3)
      .flatMap(({ body }) => body?.url);
    expect(sent).toEqual(['3', '4', '5'].map(audio));
  });

  it('while an order is waited for names a line with the same folder', async () => {
    const it = await orderingAccount();
    it.states.set('1', ['Transcribing']);
    const child = it.user.start([
      'order',
      audio('a'),
      '--sku',
      'TRANS14',
      '--download',
      't',
      '--format',
      'txt,srt',
    ]);
    const end = finished(child);
    await until(() => it.askedFiles().length > 0, 'the first look');
    await new Promise((done) => setTimeout(done, 200));
    child.kill('SIGINT');
    const { code, stderr } = await end;
    expect(code).toBe(130);
    expect(stderr).toContain('hint: resume with: steno wait --order o1 --download t --format txt,srt\n');
  });
});

describe.concurrent('a terminal with a line that moves', () => {
  const SHOWN = '\u001b[?25h';
  const HIDDEN = '\u001b[?25l';

  async function waiting(args = 'wait 1 2 --interval 60s') {
    const it = await orderingAccount();
    it.states.set('2', ['Transcribing']);
    const terminal = new Terminal(it.user, args);
    await terminal.until('1 delivered · 1 transcribing · 00:02');
    return terminal;
  }

  /** What came after the line was cleared and the cursor shown, up to the next time that it was hidden. */
  const afterLine = (screen: string): string => screen.slice(screen.indexOf(SHOWN));

  it('is clean after Ctrl-C', async () => {
    const terminal = await waiting();
    terminal.type('\u0003');
    const { code, restored, shell } = await terminal.end();
    expect([code, restored, shell]).toEqual([130, true, 'next line']);
    const { screen } = terminal;
    expect(screen.lastIndexOf(SHOWN)).toBeGreaterThan(screen.lastIndexOf(HIDDEN));
    expect(afterLine(screen)).not.toContain('transcribing');
    expect(afterLine(screen)).toContain('interrupted: 1 of 2 files are delivered\r\n');
    expect(screen.slice(0, screen.indexOf(SHOWN))).toMatch(/\u001b\[1G\u001b\[0K$/);
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)('is clean after %s', async (signal) => {
    const terminal = await waiting();
    process.kill(terminal.pid, signal);
    const { code, restored } = await terminal.end();
    expect([code, restored]).toEqual([signal === 'SIGTERM' ? 143 : 129, true]);
    expect(terminal.screen.lastIndexOf(SHOWN)).toBeGreaterThan(terminal.screen.lastIndexOf(HIDDEN));
    expect(afterLine(terminal.screen)).not.toContain('transcribing');
  });

  it('is clean while it is stopped by Ctrl-Z, and shows the line again after fg', async () => {
    const terminal = await waiting();
    terminal.type('\u001a');
    await terminal.until('stopped');
    const stoppedAt = terminal.screen.length;
    expect(terminal.screen.lastIndexOf(SHOWN)).toBeGreaterThan(terminal.screen.lastIndexOf(HIDDEN));
    expect(afterLine(terminal.screen)).not.toContain('transcribing');
    terminal.type('\r');
    await terminal.until(() => terminal.screen.slice(stoppedAt).includes('1 delivered · 1 transcribing'));
    expect(terminal.screen.slice(stoppedAt)).toContain(HIDDEN);
    terminal.type('\u0003');
    const { code, restored } = await terminal.end();
    expect([code, restored]).toEqual([130, true]);
    expect(terminal.screen.lastIndexOf(SHOWN)).toBeGreaterThan(terminal.screen.lastIndexOf(HIDDEN));
  });
});
