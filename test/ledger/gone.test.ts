/** A ledger that was deleted is not taken for one that never was: a new one would let everything be bought again. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, ledgerOf, orderingAccount } from '../support/ledger.ts';

/** `a` is on order, a backup was made, and the ledger itself is gone. */
async function goneLedger() {
  const account = await orderingAccount({ STENO_LEDGER: undefined });
  expect((await account.order(audio('a'))).code).toBe(0);
  const path = ledgerOf(account.user);
  const folder = join(path, '..', 'backups');
  const backup = join(folder, 'ledger-20261115T000000Z.db');
  mkdirSync(folder, { mode: 0o700, recursive: true });
  copyFileSync(path, backup);
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true });
  return { ...account, path, folder, backup, restore: `cp ${backup} ${path}` };
}

describe.concurrent('a ledger that is gone, while a backup of it is there', () => {
  it('orders nothing, and the hint restores it', async () => {
    const { user, order, service, path, backup, restore } = await goneLedger();
    for (const args of [[audio('a')], [audio('b')], [audio('a'), '--again'], [audio('a'), '--dry-run']]) {
      const { code, stdout, stderr } = await order(...args);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toContain(
        `steno: ${path} is gone, but ${backup} exists\nhint: restore the last backup: `,
      );
      expect(stderr).toContain(`: ${restore}; `);
    }
    expect([service.calls('POST /order_url').length, existsSync(path)]).toEqual([1, false]);
    spawnSync('sh', ['-c', restore]);
    expect((await order(audio('a'))).code).toBe(9);
    expect((await order(audio('b'))).code).toBe(0);
    expect((await user.run(['files', '--quiet'])).stdout.split('\n').filter(Boolean)).toHaveLength(2);
  });

  it.each([[['files']], [['sync']], [['track', '1']], [['ledger', 'export']], [['attempts']]])(
    'is not made anew by %j',
    async (args) => {
      const { user, path, restore } = await goneLedger();
      const { code, stderr } = await user.run(args);
      expect([code, stderr]).toEqual([1, expect.stringContaining(restore)]);
      expect(existsSync(path)).toBe(false);
    },
  );

  it('is told by doctor and ledger status', async () => {
    const { user, restore } = await goneLedger();
    const doctor = await user.run(['doctor', '--offline']);
    expect([doctor.code, doctor.stdout + doctor.stderr]).toEqual([1, expect.stringContaining(restore)]);
    expect((await user.run(['ledger', 'status'])).stderr).toContain(restore);
  });

  it('holds up no transcript', async () => {
    const { user } = await goneLedger();
    const { code, stdout, stderr } = await user.run(['transcript', '1', '-o', '-']);
    expect([code, stdout], stderr).toEqual([0, 'transcript 1.txt\n']);
  });

  it('is begun anew when the backups were moved away', async () => {
    const { order, folder } = await goneLedger();
    renameSync(folder, `${folder}.old`);
    expect((await order(audio('a'))).code).toBe(0);
  });
});

describe.concurrent('a first use', () => {
  it('makes a ledger, also beside an empty folder for backups', async () => {
    const { order, user } = await orderingAccount({ STENO_LEDGER: undefined });
    const state = join(ledgerOf(user), '..');
    mkdirSync(join(state, 'backups'), { recursive: true, mode: 0o700 });
    expect((await order(audio('a'))).code).toBe(0);
    expect(readdirSync(state)).toContain('ledger.db');
  });

  it.each(['ledger.db-shm', 'ledger.db-wal'])('is not what left %s behind', async (name) => {
    const { order, service, user } = await orderingAccount({ STENO_LEDGER: undefined });
    const state = join(ledgerOf(user), '..');
    mkdirSync(state, { recursive: true, mode: 0o700 });
    writeFileSync(join(state, name), '');
    const { code, stderr } = await order(audio('a'));
    expect([code, stderr]).toEqual([1, expect.stringContaining(`is gone, but ${join(state, name)} exists`)]);
    expect(service.got).toEqual([]);
  });
});
