/** A ledger that fails under a running listener: said in one line, and nothing stops for it that can go on. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import { ledgerOf, queryLedger } from '../support/ledger.ts';
import { complete, form, Listener, send, Target } from '../support/listener.ts';
import type { Service } from '../support/server.ts';
import { KEY, User } from '../support/steno.ts';
import { keptIn, waitingOf } from '../support/waiting.ts';

const FORMER = 'https://former.example.com/hook';
const REGISTER = ['--register', '--public-url', 'https://events.example.com/'];
const TICK = { STENO_TEST_TICK_MS: '50' };

/** Every statement about actions fails until the table has its name again. */
const hideActions = (user: User): void => void queryLedger(user, 'ALTER TABLE actions RENAME TO hidden');
const showActions = (user: User): void => void queryLedger(user, 'ALTER TABLE hidden RENAME TO actions');

const statusOf = (user: User, n: number): string | undefined =>
  queryLedger<{ status: string }>(user, 'SELECT status FROM actions WHERE event = ?', n)[0]?.status;

/** Neither the ledger nor waiting.db can be written. */
function keepNothing(user: User): void {
  hideActions(user);
  mkdirSync(waitingOf(user));
}

function damage(user: User): void {
  for (const name of ['ledger.db', 'ledger.db-wal']) {
    const path = join(user.home, 'state', name);
    writeFileSync(path, Buffer.alloc(statSync(path).size, 'Z'), { flag: 'r+' });
  }
}

/** Answers about the webhook as a service does that has one; returns what gives its URL. */
function withWebhook(service: Service): () => string {
  let webhook = FORMER;
  service.allow('*', (got, response) => {
    if (got.method === 'POST' && got.path === '/webhook') webhook = String(got.body?.webhook);
    response.end(JSON.stringify({ webhook }));
  });
  return () => webhook;
}

const lines = (text: string): string[] => text.split('\n').filter(Boolean);

/** A stack trace, or the source line that node prints above one, is not a message. */
function expectPlainLines(stderr: string): void {
  for (const line of lines(stderr)) expect(line.length, line.slice(0, 200)).toBeLessThan(700);
  expect(stderr).not.toMatch(/^\s+at |Node\.js v/m);
}

/** A target that holds its answers back until it is told to give them. */
async function slowTarget(): Promise<{ target: Target; answer: () => void }> {
  const target = await Target.start();
  let answer = (): void => {};
  target.opens = new Promise((done) => {
    answer = done;
  });
  return { target, answer };
}

describe('while the ledger fails', () => {
  it('an outcome is written down later, and its action is not done again', async () => {
    const user = new User(TICK);
    const { target, answer } = await slowTarget();
    const listener = await Listener.start(user, ['--forward-to', target.url]);
    expect((await listener.post(complete('1'))).status).toBe(200);
    await listener.until(() => target.got.length === 1);
    hideActions(user);
    answer();
    await listener.until(() => /no such table/.test(listener.stderr));
    // Many ticks, each of which meets the same trouble.
    await sleep(1_000);
    expect(listener.child.exitCode).toBeNull();
    const complaints = lines(listener.stderr).filter((line) => /no such table/.test(line));
    expect(complaints).toEqual([...new Set(complaints)]);
    expect((await listener.post(complete('2'))).status).toBe(200);
    showActions(user);
    await listener.until(() => statusOf(user, 1) === 'done');
    expect((await listener.post(complete('3'))).status).toBe(200);
    await listener.until(() => target.got.length === 3);
    const bodies = target.got.map(({ body }) => body.toString());
    expect(bodies.sort()).toEqual(['1', '2', '3'].map((id) => complete(id)));
    const { code, stderr } = await listener.stop();
    expect(code).toBe(130);
    expectPlainLines(stderr);
  });

  it('what waits in a queue is not begun, and is done when the ledger works again', async () => {
    const user = new User(TICK);
    const args = ['--exec', 'echo "$STENO_EVENT_AUDIOFILE" >> ran; sleep 0.5', '--jobs', '1'];
    const listener = await Listener.start(user, args);
    const ran = (): string =>
      existsSync(join(user.home, 'ran')) ? readFileSync(join(user.home, 'ran'), 'utf8') : '';
    for (const id of ['1', '2', '3']) await listener.post(complete(id));
    await listener.until(() => ran() === '1\n');
    queryLedger(user, 'ALTER TABLE events RENAME TO hidden');
    await listener.until(() => /no such table: (main\.)?events/.test(listener.stderr));
    await sleep(500);
    expect(ran()).toBe('1\n');
    queryLedger(user, 'ALTER TABLE hidden RENAME TO events');
    await listener.until(() => ran() === '1\n2\n3\n');
    expectPlainLines((await listener.stop()).stderr);
  });

  it('a transcript that was saved is noted later, and not taken for a file of others', async () => {
    const { user, service } = await account(TICK);
    service.allow('GET /audiofile/7', {
      body: { audiofile: { id: 7, statename: 'Delivered', title: 'Talk' } },
    });
    let answer: (() => void) | undefined;
    service.on('POST /audiofile/7/transcript.txt', (_, response) => {
      // The second time it is compared with what is there.
      if (answer) response.end('hello');
      else answer = () => response.end('hello');
    });
    const listener = await Listener.start(user, ['--download', '.', '--quiet']);
    await listener.post(complete('7'));
    await listener.until(() => answer !== undefined);
    const lock = new DatabaseSync(join(user.home, 'state', 'ledger.db'));
    lock.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
    answer?.();
    await listener.until(() => existsSync(join(user.home, '7.txt')));
    await sleep(300);
    lock.exec('ROLLBACK');
    lock.close();
    await listener.until(() => statusOf(user, 1) === 'done');
    expect(queryLedger(user, 'SELECT file, ext, bytes FROM downloads')).toEqual([
      { file: '7', ext: 'txt', bytes: 5 },
    ]);
    await listener.until(() => listener.lines.join() === '7.txt');
    await listener.stop();
  });

  it('an event that can not be kept is printed: the service does not send it again', async () => {
    const user = new User(TICK);
    const listener = await Listener.start(user, ['--exec', 'true']);
    keepNothing(user);
    const hold = { event: 'ORDER_ON_HOLD', order: '4nX', audiofiles: '1', hold: 'billing' };
    expect((await listener.post(form(hold))).status).toBe(503);
    expect((await listener.post(complete('7', '4nY'))).status).toBe(503);
    await listener.until(() => listener.stderr.split('not saved: ').length === 3);
    expect(listener.stderr).toMatch(/^warning: not saved: ORDER_ON_HOLD order 4nX held \(billing\)/m);
    expect(listener.stderr).toMatch(/^warning: not saved: TRANSCRIPT_COMPLETE 7 order 4nY/m);
    const refund = {
      event: 'REFUND_ISSUED',
      order: 'O9',
      amount: '12.5',
      reason: 'two\nlines',
      filler: 'a'.repeat(900),
    };
    expect((await listener.post(form(refund))).status).toBe(503);
    await listener.until(() => listener.stderr.includes('aaaaa\n'));
    expect(listener.stderr).toMatch(
      /^warning: not saved: REFUND_ISSUED order O9 12\.5 went back.*; received 2\S+Z from 127\.0\.0\.1: webhook_version=1 event=REFUND_ISSUED order=O9 amount=12\.5 reason="two\\nlines" filler=a{900}$/m,
    );
    rmSync(waitingOf(user), { recursive: true });
    expect((await listener.post(complete('8'))).status).toBe(200);
    showActions(user);
    await listener.until(() => statusOf(user, 1) === 'done');
    await listener.stop();
  });

  it('an event that can not be kept is a part of the warning with --json, with all its fields', async () => {
    const { user } = await account(TICK);
    const listener = await Listener.start(user, ['--json', '--exec', 'true']);
    keepNothing(user);
    const many = Array.from({ length: 1_100 }, (_, at) => `f${at}=${at}`).join('&');
    const refund = {
      event: 'REFUND_ISSUED',
      order: 'O9',
      amount: '12.5',
      reason: 'a'.repeat(900),
      note: KEY,
    };
    for (const body of [form(refund), `event=NEW&${many}`])
      expect((await listener.post(body)).status).toBe(503);
    const lost = (): Array<Record<string, unknown>> =>
      lines(listener.stderr)
        .filter((line) => line.startsWith('{'))
        .map((line) => (JSON.parse(line) as { warning: Record<string, unknown> }).warning)
        .filter(({ message }) => String(message).startsWith('not saved: '));
    await listener.until(() => lost().length === 2);
    const { note: _, ...plain } = refund;
    expect(lost()).toMatchObject([
      { event: { n: null, event: 'REFUND_ISSUED', fields: plain, remote: '127.0.0.1' } },
      { event: { event: 'NEW', fields: { f5: '5' }, body: `event=NEW&${many}` } },
    ]);
    expect(listener.stderr).not.toContain(KEY);
    await listener.stop();
  });

  const replacements: ReadonlyArray<readonly [string, (path: string) => void]> = [
    ['by a backup', (path) => renameSync(`${path}.backup`, path)],
    [
      'by a copy of a backup',
      (path) => {
        rmSync(path);
        copyFileSync(`${path}.backup`, path);
      },
    ],
    [
      'and is away',
      (path) => {
        for (const end of ['', '-wal', '-shm']) renameSync(path + end, `${path + end}.away`);
      },
    ],
  ];
  it.each(replacements)(
    'a ledger that is replaced %s ends the listener: 503, exit 1, and the next one does what is left',
    async (_, replace) => {
      // Only some see it by a tick; the others by the delivery itself.
      const { user, service } = await account({ STENO_TEST_TICK_MS: '600000' });
      const webhook = withWebhook(service);
      const path = ledgerOf(user);
      const exec = ['--exec', 'echo "$STENO_EVENT_AUDIOFILE" >> ran; [ -e go ] || sleep 60', '--jobs', '1'];
      const listener = await Listener.start(user, [...REGISTER, ...exec, '--json']);
      queryLedger(user, 'VACUUM INTO ?', `${path}.backup`);
      for (const id of ['1', '2', '3']) expect((await listener.post(complete(id))).status).toBe(200);
      await listener.until(() => listener.json.length === 3 && existsSync(join(user.home, 'ran')));
      replace(path);
      expect((await listener.post(complete('4'))).status).toBe(503);
      const { code, stderr } = await listener.ended;
      expect([code, webhook()]).toEqual([1, FORMER]);
      expect(stderr).toMatch(/ledger\.db was deleted or replaced while in use/);
      expectPlainLines(stderr);
      if (!existsSync(path)) renameSync(`${path}.backup`, path);
      writeFileSync(join(user.home, 'go'), '');
      const next = await Listener.start(user, [...exec, '--json']);
      const ran = (): string[] => lines(readFileSync(join(user.home, 'ran'), 'utf8'));
      await next.until(() => new Set(ran()).size === 3);
      await next.until(() => next.json.length === 3);
      await next.stop();
      expect(keptIn(user)).toEqual(['1', '2', '3']);
      expect(queryLedger(user, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    },
    60_000,
  );

  it('a ledger that is replaced is noticed without a delivery too', async () => {
    const user = new User(TICK);
    const path = ledgerOf(user);
    const listener = await Listener.start(user);
    queryLedger(user, 'VACUUM INTO ?', `${path}.backup`);
    renameSync(`${path}.backup`, path);
    expect((await listener.ended).code).toBe(1);
  });

  it.each([
    [/is damaged|is malformed/, damage],
    [/no such table/, (user: User) => void queryLedger(user, 'ALTER TABLE runs RENAME TO hidden')],
  ])('the end is in order: the webhook is given back, the exit code is as ever (%s)', async (why, spoil) => {
    const { user, service } = await account(TICK);
    const webhook = withWebhook(service);
    const listener = await Listener.start(user, [...REGISTER, '--exec', 'true']);
    expect((await listener.post(complete('1'))).status).toBe(200);
    await listener.until(() => statusOf(user, 1) === 'done');
    spoil(user);
    // While a test event is awaited, the ledger is asked whether this is one.
    await listener.post(form({ event: 'DIFFICULT_AUDIO', audiofile: '7', order: 'o7' }));
    await listener.until(() => why.test(listener.stderr));
    expect((await send(`http://127.0.0.1:${listener.port}/healthz`, '', { method: 'GET' })).status).toBe(200);
    expect(webhook()).toMatch(/^https:\/\/events\.example\.com\//);
    const { code, stderr } = await listener.stop('SIGTERM');
    expect([code, webhook()]).toEqual([143, FORMER]);
    expectPlainLines(stderr);
  });
});
