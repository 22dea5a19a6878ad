/** Downloads that the disk does not take: they are tried again by the same listener, and fetched again with measure. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { audio, type OrderingAccount, orderingAccount } from '../support/ledger.ts';
import { complete, Listener } from '../support/listener.ts';
import { canMount } from '../support/small-disk.ts';

const COUNT = 12;

interface Downloading extends OrderingAccount {
  readonly listener: Listener;
  readonly folder: string;
  /** Sends an event for each file. */
  complete(): Promise<void>;
  names(): string[];
}

/** Twelve files on order, all delivered, and a listener that downloads to the folder `d`. */
async function downloading(): Promise<Downloading> {
  const made = await orderingAccount();
  const ids = Array.from({ length: COUNT }, (_, n) => String(n + 1));
  await made.order(...ids.map((id) => audio(`n${id}`)));
  made.service.allow('GET /prepay_balance', { body: { balance: '1.00' } });
  const folder = join(made.user.home, 'd');
  const listener = await Listener.start(made.user, ['--download', 'd']);
  return {
    ...made,
    ...{ listener, folder },
    complete: async () => {
      for (const id of ids) await listener.post(complete(id));
    },
    names: () => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.txt')) : []),
  };
}

it('a folder that is a file by now, and a folder again', async () => {
  const { listener, folder, complete, names, fetched } = await downloading();
  writeFileSync(folder, '');
  await complete();
  await listener.until(() => /does not work: can't /.test(listener.stderr));
  await sleep(2_500);
  expect(fetched().length).toBeLessThan(COUNT);
  rmSync(folder);
  await listener.until(() => names().length === COUNT);
  expect(listener.stderr).toMatch(/works again/);
  await listener.stop();
  expect(listener.stderr).not.toMatch(/failed:|left for the next listen/);
});

it.skipIf(!canMount)('a disk that is full, and has room again (needs root)', async () => {
  const { listener, folder, complete, names, fetched } = await downloading();
  mkdirSync(folder);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder]).status === 0;
  if (!mounted) return;
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
  spawnSync('dd', ['if=/dev/zero', `of=${join(folder, 'fill')}`, 'bs=1k', 'count=1024'], { stdio: 'ignore' });
  await complete();
  await listener.until(() => /the disk is full/.test(listener.stderr));
  await sleep(2_500);
  expect(fetched().length).toBeLessThan(COUNT);
  rmSync(join(folder, 'fill'));
  await listener.until(() => names().length === COUNT);
  await listener.stop();
  expect(readdirSync(folder).filter((name) => name.endsWith('.steno-part'))).toEqual([]);
});

it('one file that can not be written holds up no other', async () => {
  const { listener, folder, complete, names } = await downloading();
  // Its hidden name can be made, and its final one not.
  mkdirSync(join(folder, '3.txt'), { recursive: true });
  await complete();
  await listener.until(() => names().length === COUNT);
  expect(listener.stderr).not.toMatch(/does not work/);
  await listener.stop();
});
