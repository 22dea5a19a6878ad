/** Changes on open pages, and a ledger that can't be read while they are open. */
import { copyFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audio, fill, ledgerOf, orderingAccount, queryLedger } from '../support/ledger.ts';
import { complete, Listener } from '../support/listener.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts';
import { User } from '../support/steno.ts';
import { Team } from '../support/team.ts';
import { until } from '../support/until.ts';
import { lockLedger } from '../support/waiting.ts';
import { errorOf, type LivePage, Pages } from './pages.ts';

const changes = ({ messages }: LivePage): readonly string[][] =>
  messages.flatMap(({ type, topics }) => (type === 'changed' && topics ? [[...topics]] : []));

/** How long it takes until the page hears of what is done. */
async function heardAfter(live: LivePage, work: () => unknown, topic: string): Promise<number> {
  live.messages.length = 0;
  await work();
  const done = performance.now();
  await until(() => changes(live).some((topics) => topics.includes(topic)), `news of ${topic}`);
  return performance.now() - done;
}

/** A second, and what a loaded machine takes to run at all. */
const WITHIN_MS = 1_000 + 1_500;

const settle = (): Promise<void> => sleep(1_300);

describe('a page that is open', () => {
  it('hears within a second of an event, an order and a budget, and of nothing else', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('one'));
    const listener = await Listener.start(user);
    const pages = await Pages.start(user);
    const live = await pages.live();
    await settle();
    expect(await heardAfter(live, () => listener.post(complete('1')), 'events')).toBeLessThan(WITHIN_MS);
    expect((await pages.json<{ rows: unknown[] }>('events')).rows.length).toBe(1);
    // On a slow machine it would ask the service for missed events meanwhile.
    await listener.stop();
    await settle();
    expect(await heardAfter(live, () => order(audio('two')), 'spend')).toBeLessThan(WITHIN_MS);
    expect((await pages.json<{ all: number }>('files')).all).toBe(2);
    await settle();
    await heardAfter(live, () => user.run(['budget', 'set', '5/day']), 'spend');
    await settle();
    live.messages.length = 0;
    await user.run(['files']);
    await settle();
    expect(
      changes(live)
        .flat()
        .filter((topic) => topic !== 'files'),
    ).toEqual([]);
  }, 90_000);

  it('hears of a download that it asked for itself', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('one'));
    await user.run(['files', '--refresh']);
    const pages = await Pages.start(user);
    const live = await pages.live();
    await settle();
    const spent = await heardAfter(
      live,
      () => pages.post('downloads', { ids: ['1'], formats: ['txt'] }),
      'files',
    );
    expect(spent).toBeLessThan(WITHIN_MS);
  });

  it('is one of several, and none hears less', async () => {
    const { user, order } = await orderingAccount();
    const pages = await Pages.start(user);
    const all = [await pages.live(), await pages.live(), await pages.live()];
    await settle();
    all[1]?.close();
    await order(audio('one'));
    for (const live of [all[0], all[2]])
      await until(() => live && changes(live).length > 0, 'news on each page');
  });

  it('gets no answer that is stale after the news', async () => {
    const { user, order } = await orderingAccount();
    const pages = await Pages.start(user);
    const live = await pages.live();
    for (let n = 1; n <= 4; n += 1) {
      await pages.json('files');
      await heardAfter(live, () => order(audio(`a${n}`)), 'files');
      await until(async () => (await pages.json<{ all: number }>('files')).all === n, `${n} files`);
    }
  });

  it('may never read: it is dropped in the end, and others go on', async () => {
    const user = new User();
    await user.run(['files']);
    const pages = await Pages.start(user);
    const deaf = Array.from({ length: 5 }, () => {
      const socket = connect(pages.port, '127.0.0.1').on('error', () => {});
      const head = `GET /api/files?limit=500 HTTP/1.1\r\nHost: 127.0.0.1:${pages.port}\r\nCookie: ${pages.cookie}\r\n\r\n`;
      socket.pause().write(head.repeat(50));
      return socket;
    });
    const live = await pages.live();
    expect((await pages.call('files')).status).toBe(200);
    await heardAfter(live, () => user.run(['budget', 'set', '5/day']), 'spend');
    for (const socket of deaf) socket.destroy();
  });

  it('is looked after only while it is open', async () => {
    const user = new User();
    await user.run(['files']);
    const pages = await Pages.start(user);
    const live = await pages.live();
    await settle();
    live.close();
    await sleep(500);
    const ticks = (): number => {
      const stat = readFileSync(`/proc/${pages.child.pid}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return Number(fields[11]) + Number(fields[12]);
    };
    const reads = (): number =>
      Number(/^syscr: (\d+)/m.exec(readFileSync(`/proc/${pages.child.pid}/io`, 'utf8'))?.[1]);
    const [before, readBefore] = [ticks(), reads()];
    await sleep(3_000);
    // What is left is a look at the parent process, once a second.
    expect(reads() - readBefore).toBeLessThan(20);
    expect(ticks() - before).toBeLessThan(20);
  });
});

describe('the sandbox', () => {
  it('moves by itself', async () => {
    const user = new User();
    await user.run(['--sandbox', 'order', audio('one'), '--sku', 'TRANS14']);
    const pages = await Pages.start(user, ['--sandbox', 'ui', '--no-open']);
    expect(await pages.json('about')).toMatchObject({ sandbox: true, command: 'steno --sandbox' });
    const live = await pages.live();
    const stateOf = async (): Promise<string | null | undefined> =>
      (await pages.json<{ rows: Array<{ state: string | null }> }>('files')).rows[0]?.state;
    await until(async () => (await stateOf()) === 'Delivered', 'a delivery');
    expect(changes(live).length).toBeGreaterThan(0);
  });
});

describe('a ledger file', () => {
  async function opened() {
    const { user, order } = await orderingAccount();
    await order(audio('one'));
    const pages = await Pages.start(user);
    const live = await pages.live();
    await settle();
    live.messages.length = 0;
    return { user, pages, live, path: ledgerOf(user) };
  }
  const troubles = ({ messages }: LivePage): string[] =>
    messages.flatMap(({ type, message }) => (type === 'trouble' && message ? [message] : []));
  const isWell = ({ messages }: LivePage): boolean => messages.some(({ type }) => type === 'well');

  it('that another process holds is read all the same, and a download waits for it', async () => {
    const { user, pages, live, path } = await opened();
    const other = new DatabaseSync(path);
    other.exec('BEGIN IMMEDIATE; UPDATE files SET title = title');
    const download = pages.post('downloads', { ids: ['1'], formats: ['txt'] });
    const isDone = download.then(() => true);
    expect((await pages.call('files?q=x')).status).toBe(200);
    expect(await Promise.race([isDone, sleep(1_500).then(() => false)])).toBe(false);
    other.exec('COMMIT');
    other.close();
    expect((await download).status).toBe(200);
    expect(queryLedger(user, 'SELECT ext FROM downloads')).toEqual([{ ext: 'txt' }]);
    expect(troubles(live)).toEqual([]);
  });

  it('that takes nothing leaves events on their way, which are shown before the others', async () => {
    const { user, pages, live } = await opened();
    const listener = await Listener.start(user);
    await listener.post(complete('1'));
    await settle();
    const lock = lockLedger(user);
    const spent = await heardAfter(live, () => listener.post(complete('22', 'o22')), 'events');
    expect(spent).toBeLessThan(WITHIN_MS);
    const list = async (query = ''): Promise<unknown> => {
      const { rows, total } = await pages.json<{ rows: Array<Record<string, unknown>>; total: number }>(
        `events?${query}`,
      );
      return [total, rows.map(({ n, audiofile }) => [n, audiofile])];
    };
    expect(await list()).toEqual([
      2,
      [
        [null, '22'],
        [1, '1'],
      ],
    ]);
    expect(await list('q=O22')).toEqual([1, [[null, '22']]]);
    expect(await list('q=nothing')).toEqual([0, []]);
    expect(await list('limit=1')).toEqual([2, [[null, '22']]]);
    expect(await list('offset=1')).toEqual([2, [[1, '1']]]);
    lock.release();
    await until(async () => JSON.stringify(await list()) === '[2,[[2,"22"],[1,"1"]]]', 'its number');
  });

  it('that is deleted, or replaced by another, is said to be, and read again when it is back', async () => {
    const { user, pages, live, path } = await opened();
    queryLedger(user, 'PRAGMA wal_checkpoint(TRUNCATE)');
    copyFileSync(path, `${path}.copy`);
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
    await until(() => troubles(live).some((text) => /deleted or replaced/.test(text)), 'trouble');
    expect(isWell(live)).toBe(false);
    // Nothing is saved that would be lost.
    const lost = await pages.post('downloads', { ids: ['1'], formats: ['txt'] });
    expect(errorOf(lost).message).toContain('deleted or replaced');
    renameSync(`${path}.copy`, path);
    await until(() => isWell(live), 'a ledger that is back');
    expect((await pages.json<{ all: number }>('files')).all).toBe(1);
    await settle();
    await heardAfter(live, () => user.run(['budget', 'set', '5/day']), 'spend');
  });

  it('that is damaged is said to be, and read again when it was restored', async () => {
    const { user, pages, live, path } = await opened();
    fill(user, 2_000);
    queryLedger(user, 'PRAGMA wal_checkpoint(TRUNCATE)');
    copyFileSync(path, `${path}.copy`);
    const garbage = Buffer.alloc(readFileSync(path).length, 0xa5);
    writeFileSync(path, garbage);
    truncateSync(`${path}-wal`, 0);
    const answer = await until(async () => {
      const got = await pages.call(`files?sort=title&q=${Math.random()}`);
      return got.status === 200 ? undefined : got;
    }, 'an answer that says so');
    expect(answer.status).toBe(503);
    expect(errorOf(answer).message).toMatch(/damaged|malformed|not a database|I\/O/);
    await until(() => troubles(live).length > 0, 'trouble');
    for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true });
    renameSync(`${path}.copy`, path);
    await until(() => isWell(live), 'a ledger that is back');
    expect((await pages.json<{ all: number }>('files')).all).toBe(2_001);
  });
});

describe.skipIf(postgresFolder === undefined)('a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  }, 60_000);
  afterAll(() => server?.stop());

  it('shows what others order, within a second, and the same files for every query', async () => {
    const team = Team.form(server);
    const [ada, bob] = [team.machine(), team.machine()];
    await ada.run(['files']);
    const pages = await Pages.start(ada);
    expect(await pages.json('about')).toMatchObject({ ledger: 'shared' });
    const live = await pages.live();
    await settle();
    expect(await heardAfter(live, () => bob.run(['budget', 'set', '5/day']), 'spend')).toBeLessThan(
      WITHIN_MS,
    );
    await team.query(
      `INSERT INTO {}.purchases (id, profile, kind, outcome, status, test, started_at)
       SELECT 'p' || n, 'default', 'order', 'placed', 'placed', 0, '2026-01-01T00:00:00.000Z'
       FROM generate_series(1, 5) AS n`,
    );
    await team.query(
      `INSERT INTO {}.purchase_items (purchase, position, profile, url, url_key, file, audio, known, title, feed, guid, seconds)
       SELECT 'p' || n, 0, 'default', 'https://example.com/' || n, 'url https://example.com/' || n, n::text, 0, 1,
         CASE n WHEN 1 THEN 'Über "Größe"' ELSE '' END, CASE n WHEN 1 THEN 'Radio' ELSE '' END,
         CASE n WHEN 1 THEN 'g' ELSE '' END, CASE n WHEN 1 THEN 600 END
       FROM generate_series(1, 5) AS n`,
    );
    await team.query(
      `INSERT INTO {}.labels (profile, kind, label, purchase, position, n)
       VALUES ('default', 'tag', 'history', 'p1', 0, 0), ('default', 'tag', 'long', 'p1', 0, 1)`,
    );
    await team.query(
      `INSERT INTO {}.files (profile, id, purchase, order_id, test, state, title, duration, total, ordered_at)
       SELECT 'default', n::text, 'p' || n, 'o' || n / 2, 0, 'Delivered', 'Talk ' || n,
         CASE WHEN n = 3 THEN '12:30' ELSE n::text END, CASE WHEN n = 4 THEN 'free' ELSE n || '.50 USD' END,
         '2026-01-0' || n || 'T00:00:00.000Z'
       FROM generate_series(1, 5) AS n`,
    );
    await until(async () => (await pages.json<{ all: number }>('files')).all === 5, 'five files');
    const ids = async (query: string): Promise<string[]> =>
      (await pages.json<{ rows: Array<{ audiofile: string }> }>(`files?${query}`)).rows.map(
        (row) => row.audiofile,
      );
    expect(await ids('q=TALK+4')).toEqual(['4']);
    expect(await ids('q=radio+history')).toEqual(['1']);
    expect(await ids('q=%25')).toEqual([]);
    expect(await ids('q=seconds')).toEqual([]);
    expect(await ids('sort=minutes&dir=desc')).toEqual(['3', '5', '4', '2', '1']);
    expect(await ids('sort=total&dir=asc')).toEqual(['4', '1', '2', '3', '5']);
    expect(await ids('sort=audiofile&dir=asc&offset=1&limit=2')).toEqual(['2', '3']);
    for (const query of ['sort=title', 'sort=state', 'state=Delivered'])
      expect((await ids(query)).length).toBe(5);
    await team.query(
      `INSERT INTO {}.events (profile, source, received_at, remote, content_type, body, event, version, audiofile, order_id)
       VALUES ('default', 'received', '2026-11-01T00:00:00.000Z', '::1', 'text/plain', convert_to('event=X&who=M%C3%BCller&b=', 'UTF8') || '\\xff'::bytea, 'X', '1', '1', '')`,
    );
    await until(() => changes(live).some((topics) => topics.includes('events')), 'an event');
    for (const q of ['WHO', 'Müller', 'event=x'])
      expect(await pages.json(`events?${new URLSearchParams({ q })}`)).toMatchObject({ total: 1 });
    for (const path of ['spend', 'health', 'file/1', 'event/1'])
      expect((await pages.call(path)).status).toBe(200);
  });

  it('that is restarted, or not there at the start, is said to be, and is read again by itself', async () => {
    const team = Team.form(server);
    const ada = team.machine();
    await ada.run(['budget', 'set', '5/day']);
    const pages = await Pages.start(ada);
    const live = await pages.live();
    await settle();
    await server.kill();
    await until(() => live.messages.some(({ type }) => type === 'trouble'), 'trouble');
    const answer = await pages.call('files?q=x');
    expect(answer.status).toBe(503);
    expect(errorOf(answer).code).toBe('network');
    // One that starts now says so too.
    const late = await Pages.start(ada);
    const lateLive = await late.live();
    await until(() => lateLive.messages.some(({ type }) => type === 'trouble'), 'trouble at the start');
    await server.start();
    for (const each of [live, lateLive])
      await until(() => each.messages.some(({ type }) => type === 'well'), 'a ledger that is back');
    for (const each of [pages, late]) expect((await each.call('files')).status).toBe(200);
    await settle();
    await heardAfter(live, () => ada.run(['budget', 'set', '6/day']), 'spend');
    // No password and no address with one is shown.
    expect(live.messages.map(({ message = '' }) => message).join()).not.toContain('postgres@');
    await Promise.all([pages.stop(), late.stop()]);
  });
});
