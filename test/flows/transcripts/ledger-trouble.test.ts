/** A ledger that can't be written does not undo a download: the file counts, and the trouble is one warning. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { listing } from '../../support/files.ts';
import { audio, ledgerOf, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { canMount, SmallDisk } from '../../support/small-disk.ts';
import { finished, type User } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

const locks: InstanceType<typeof DatabaseSync>[] = [];
afterEach(() => {
  for (const lock of locks.splice(0)) lock.close();
});

/** Another program that writes to the ledger, and takes its time. */
function lock(user: User): () => void {
  const db = new DatabaseSync(ledgerOf(user));
  locks.push(db);
  db.exec('PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE');
  return () => void db.exec('ROLLBACK');
}

async function withDelivered(count: number): Promise<OrderingAccount> {
  const account = await orderingAccount();
  await account.order(...Array.from({ length: count }, (_, n) => audio(`n${n + 1}`)));
  account.service.got.length = 0;
  return account;
}

const ids = (count: number): string[] => Array.from({ length: count }, (_, n) => `${n + 1}`);
const noted = (user: User): number =>
  queryLedger<{ n: number }>(user, 'SELECT count(*) AS n FROM downloads')[0]?.n ?? -1;

describe('while another process holds the ledger', () => {
  it('transcripts are written and told, with one warning, in one bounded wait', async () => {
    const { user } = await withDelivered(6);
    lock(user);
    const started = performance.now();
    const one = await user.run(['transcript', '1', '-o', 'one/', '--quiet']);
    const oneMs = performance.now() - started;
    const { code, stdout, stderr } = await user.run(['transcript', ...ids(6), '-o', 'd/', '--quiet']);
    const sixMs = performance.now() - started - oneMs;
    expect([one.code, one.stdout, code]).toEqual([0, 'one/1.txt\n', 0]);
    expect(stdout).toBe(
      ids(6)
        .map((id) => `d/${id}.txt\n`)
        .join(''),
    );
    expect(stderr).toMatch(
      /^warning: the ledger could not record everything: \S+ is locked by another process\nhint: [^\n]+\n$/,
    );
    expect(sixMs).toBeLessThan(3 * oneMs);
    expect(noted(user)).toBe(0);
  });

  it('what is not noted when the lock ends soon is noted then', async () => {
    const { user } = await withDelivered(3);
    const unlock = lock(user);
    const running = finished(user.start(['transcript', ...ids(3), '-o', 'd/', '--quiet']));
    await until(() => listing(join(user.home, 'd')).includes('3.txt'), 'the last file');
    await sleep(300);
    unlock();
    const { code, stderr } = await running;
    expect([code, stderr, noted(user)]).toEqual([0, '', 3]);
  });

  it('Ctrl-C is heard', async () => {
    const { user } = await withDelivered(2);
    lock(user);
    const child = user.start(['transcript', '1', '2', '-o', 'd/', '--quiet']);
    const end = finished(child);
    await until(() => listing(join(user.home, 'd')).includes('2.txt'), 'the last file');
    await sleep(300);
    const asked = performance.now();
    child.kill('SIGINT');
    const { stdout } = await end;
    expect(stdout).toBe('d/1.txt\nd/2.txt\n');
    // Of some seconds that it would have waited.
    expect(performance.now() - asked).toBeLessThan(2_000);
  });

  it('the next runs leave what is there as it is, and fetch the rest', async () => {
    const account = await withDelivered(2);
    const { user } = account;
    await user.run(['files', '--refresh']);
    const unlock = lock(user);
    await user.run(['transcript', '1', '-o', 'd/']);
    unlock();
    const before = readFileSync(join(user.home, 'd', '1.txt'), 'utf8');
    const synced = await user.run(['sync', '--download', 'd', '--quiet']);
    expect([synced.code, synced.stdout]).toEqual([0, 'd/2.txt\n']);
    const again = await user.run(['transcript', '1', '-o', 'd/', '--skip-existing', '--quiet']);
    expect([again.code, again.stdout]).toEqual([0, '']);
    expect(readFileSync(join(user.home, 'd', '1.txt'), 'utf8')).toBe(before);
    expect(account.fetched()).toEqual(['1.txt', '2.txt']);
  });

  it('file and wait say what the service answered, with one warning', async () => {
    const { user } = await withDelivered(2);
    lock(user);
    const file = await user.run(['file', '1', '2', '--quiet']);
    expect([file.code, file.stdout]).toEqual([0, 'Delivered\nDelivered\n']);
    expect(file.stderr).toMatch(/^warning: the ledger could not record everything[^\n]*\nhint: [^\n]*\n$/);
    const wait = await user.run(['wait', '1', '--download', 'd', '--quiet']);
    expect([wait.code, wait.stdout]).toEqual([0, 'd/1.txt\n']);
    expect(wait.stderr).toMatch(/^warning: the ledger could not record everything[^\n]*\nhint: [^\n]*\n$/);
  });

  it('sync fails in one bounded wait', async () => {
    const { user } = await withDelivered(12);
    lock(user);
    const started = performance.now();
    const { code, stderr } = await user.run(['sync', '--download', 'd', '--quiet']);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/is locked by another process/)]);
    // Ten seconds for each file it was.
    expect(performance.now() - started).toBeLessThan(15_000);
  });
});

describe('a full disk under the ledger', () => {
  it.skipIf(!canMount)('is one warning, and the transcript is written', async (context) => {
    const { user } = await withDelivered(1);
    const disk = SmallDisk.mount(user, 1);
    if (!disk) return context.skip('no disk can be mounted here');
    // Opens it once more, so that the files beside it are there.
    expect(noted(user)).toBe(0);
    disk.fill();
    const { code, stdout, stderr } = await user.run(['transcript', '1', '-o', 'd/', '--quiet']);
    expect([code, stdout]).toEqual([0, 'd/1.txt\n']);
    expect(stderr).toMatch(
      /^warning: (the ledger could not record everything|the ledger is not used): [^\n]*\n(hint: [^\n]*\n)?$/,
    );
    expect(existsSync(join(user.home, 'd', '1.txt'))).toBe(true);
  });
});
