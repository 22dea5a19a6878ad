/** `steno ui` as a person has it: the program itself, a real ledger, and a real browser. */
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { chromium } from '../support/browser.ts';
import { listing } from '../support/files.ts';
import { audio, fill, ledgerOf, orderingAccount, queryLedger } from '../support/ledger.ts';
import { complete, form, Listener, Target } from '../support/listener.ts';
import { postgresFolder, startPostgres } from '../support/postgres.ts';
import { isLong } from '../support/slices.ts';
import { User } from '../support/steno.ts';
import { Team } from '../support/team.ts';
import { until } from '../support/until.ts';
import { lockLedger } from '../support/waiting.ts';
import { browser, faults, open as openPage, page, shows, text, turnTo, useBrowser } from './browser.ts';
import { Pages } from './pages.ts';

/** A second, and what a loaded machine takes to run at all. */
const WITHIN_MS = 1_000 + 1_500;
const UNREADABLE = 'The ledger can’t be read';

async function open(pages: Pages, go: string): Promise<void> {
  const [name = '', value = ''] = pages.cookie.split('=');
  const kept = { domain: '127.0.0.1', path: '/', httpOnly: true, sameSite: 'Strict' } as const;
  await browser.setCookie({ name, value, ...kept });
  await openPage({ url: () => `${pages.url.origin}/#${go}` }, go);
}

/** The states that can be chosen are on the page as well. */
const FIRST_ROW = '[data-row="0"]';

const hides = (unwanted: string): Promise<unknown> =>
  until(async () => !(await text()).includes(unwanted), `no ${unwanted} on the page`);

const clickOn = async (selector: string): Promise<void> => {
  await until(async () => (await page.$(selector)) !== null, selector);
  await page.locator(selector).click();
};

/** How long the page takes to show what was done. */
async function shownAfter(work: () => unknown, wanted: string): Promise<number> {
  await work();
  const done = performance.now();
  await shows(wanted);
  return performance.now() - done;
}

describe.skipIf(!chromium)('in a browser', { timeout: 90_000 }, () => {
  useBrowser();
  // What the server refuses, the browser notes too.
  afterEach(() => expect(faults.filter((each) => !/^Failed to load resource/.test(each))).toEqual([]));

  it('the sandbox moves by itself', async () => {
    const user = new User();
    const pages = await Pages.start(user, ['--sandbox', 'ui', '--no-open']);
    await open(pages, '/files');
    await shows('No files yet');
    const order = ['--sandbox', 'order', audio('board-meeting'), '--sku', 'TRANS14'];
    expect(await shownAfter(() => user.run(order), 'board-meeting')).toBeLessThan(WITHIN_MS);
    expect(await text(FIRST_ROW)).not.toContain('Delivered');
    await shows('Delivered', FIRST_ROW);
  });

  it('an event that arrives at listen is shown within a second, and can be replayed', async () => {
    const user = new User();
    const target = await Target.start();
    const listener = await Listener.start(user);
    const pages = await Pages.start(user);
    await open(pages, '/events');
    await shows('No events yet');
    const body = form({ event: 'TRANSCRIPT_COMPLETE', audiofile: '77', note: '<b onclick=x>ünï</b>' });
    expect(await shownAfter(() => listener.post(body), 'The transcript is ready')).toBeLessThan(WITHIN_MS);
    await clickOn('a[href="#/event/1"]');
    await shows('<b onclick=x>ünï</b>');
    await page.locator('#target').fill(target.url);
    await clickOn('form button[type=submit]');
    await shows('200');
    await until(() => target.got.length === 1, 'the replayed event');
    expect(String(target.got[0]?.body)).toBe(body);
    expect(target.got[0]?.headers['steno-edited']).toBeUndefined();
  });

  it('what is not allowed is refused on the page', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('one'));
    const listener = await Listener.start(user);
    await listener.post(complete('1'));
    await listener.stop();
    const target = await Target.start();
    const pages = await Pages.start(user, ['ui', '--no-open'], { env: { STENO_ALLOW: 'read' } });
    await open(pages, '/event/1');
    await until(async () => (await page.$('#target')) !== null, 'a field for the target');
    await page.locator('#target').fill(target.url);
    await clickOn('form button[type=submit]');
    await shows('a replay is not allowed');
    expect(target.got).toEqual([]);
  });

  it('no second user of this machine gets any data', async () => {
    const { user, order } = await orderingAccount();
    await order(audio('secret-talk'));
    const pages = await Pages.start(user);
    const other = await browser.createBrowserContext();
    turnTo(await other.newPage());
    await page.goto(`${pages.url.origin}/#/files`);
    await shows('This browser has no access');
    expect(await text()).not.toContain('secret-talk');
    await other.close();
    // Another user id: the address is all that it can find out.
    if (process.getuid?.() !== 0) return;
    const folder = user.env.STENO_STATE_DIR ?? '';
    const [note = ''] = listing(folder).filter((name) => name.startsWith('ui-'));
    const asNobody = (...line: string[]) =>
      spawnSync('setpriv', ['--reuid=65534', '--regid=65534', '--clear-groups', ...line], {
        encoding: 'utf8',
        cwd: '/',
      });
    const secret = pages.cookie.split('=')[1] ?? '';
    expect(readFileSync(join(folder, note), 'utf8')).toContain(secret);
    expect(asNobody('cat', join(folder, note))).toMatchObject({ stdout: '' });
    expect(asNobody('cat', `/proc/${pages.child.pid}/environ`)).toMatchObject({ stdout: '' });
    expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(secret);
    const ask = `fetch('${pages.url.origin}/api/files', { headers: { cookie: 'steno-${pages.port}=x' } })
      .then(async (answer) => console.log(answer.status, await answer.text()))`;
    const { stdout } = asNobody(process.execPath, '-e', ask);
    expect(stdout).toMatch(/^403 /);
    expect(stdout).not.toContain('secret-talk');
  });

  describe('a ledger file', () => {
    async function opened(go: string) {
      const user = new User();
      await user.run(['files']);
      fill(user, 2_000);
      queryLedger(user, "UPDATE files SET title = 'Board meeting' WHERE id = '1002000'");
      const pages = await Pages.start(user);
      await open(pages, go);
      return { user, pages, path: ledgerOf(user) };
    }

    it('that another process locks is read all the same, with what is on its way to it', async () => {
      const { user } = await opened('/events');
      const listener = await Listener.start(user);
      await shows('No events yet');
      const lock = lockLedger(user);
      const spent = await shownAfter(() => listener.post(complete('22')), 'The transcript is ready');
      expect(spent).toBeLessThan(WITHIN_MS);
      expect(await page.$('a[href="#/event/1"]')).toBeNull();
      lock.release();
      await until(async () => (await page.$('a[href="#/event/1"]')) !== null, 'a link with its number');
      expect(await text()).not.toContain(UNREADABLE);
    });

    it('that is gone is said to be, and is shown again when it is back', async () => {
      const { user, path } = await opened('/files');
      await shows('Board meeting');
      queryLedger(user, 'PRAGMA wal_checkpoint(TRUNCATE)');
      renameSync(path, `${path}.away`);
      await shows(UNREADABLE);
      expect(await text()).toContain('Board meeting');
      renameSync(`${path}.away`, path);
      await hides(UNREADABLE);
      queryLedger(user, "UPDATE files SET title = 'Later' WHERE id = '1002000'");
      await shows('Later');
    });

    it('that is damaged is said to be, and is shown again when it was restored', async () => {
      const { user, path } = await opened('/files');
      await shows('Board meeting');
      queryLedger(user, 'PRAGMA wal_checkpoint(TRUNCATE)');
      copyFileSync(path, `${path}.copy`);
      const garbage = readFileSync(path);
      garbage.fill(0xa5, 4096);
      writeFileSync(path, garbage);
      truncateSync(`${path}-wal`, 0);
      await page.locator('#filter').fill('meeting');
      await shows(UNREADABLE);
      for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true });
      renameSync(`${path}.copy`, path);
      await hides(UNREADABLE);
      await shows('Board meeting');
    });
  });

  it.runIf(isLong && postgresFolder !== undefined)(
    'a PostgreSQL that is restarted is said to be away, and read again by itself',
    async () => {
      const server = await startPostgres(['fsync = off']);
      try {
        const team = Team.form(server);
        const ada = team.machine();
        await ada.run(['files']);
        const pages = await Pages.start(ada);
        await open(pages, '/files');
        await shows('No files yet');
        await server.kill();
        await shows(UNREADABLE);
        await server.start();
        await hides(UNREADABLE);
        await team.query(
          `INSERT INTO {}.files (profile, id, order_id, link, test, state, title, ordered_at)
           VALUES ('default', '5', 'o5', 'https://example.com/5', 0, 'Delivered', 'Back again', '2026-01-01T00:00:00.000Z')`,
        );
        await shows('Back again');
      } finally {
        await server.stop();
      }
    },
  );
});
