/** Who is alive beside a listener: told by the process itself, not by a clock that is set or a number that is used again. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isOfThisMachine, thisProcess } from '../../src/lib/processes.ts';
import { queryLedger } from '../support/ledger.ts';
import { complete, Listener } from '../support/listener.ts';
import { User } from '../support/steno.ts';
import { isShared } from '../support/store.ts';

const TWO_HOURS_AGO = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-2 hours')";
const EXEC = ['--exec', 'echo $PPID >> ran; while [ -e hold ]; do sleep 0.05; done'];

const ran = ({ home }: User): string[] => {
  const path = join(home, 'ran');
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : [];
};

const change = (user: User, sql: string): void => void queryLedger(user, sql);

/** One whose command is under way, and that writes no further heartbeat. */
async function working(user: User): Promise<Listener> {
  writeFileSync(join(user.home, 'hold'), '');
  const listener = await Listener.start(user, EXEC, { env: { STENO_TEST_TICK_MS: '600000' } });
  await listener.post(complete('1'));
  await listener.until(() => ran(user).length === 1);
  return listener;
}

const startNext = (user: User): Promise<Listener> =>
  Listener.start(user, EXEC, { env: { STENO_TEST_TICK_MS: '50' } });

describe.skipIf(isShared || process.platform !== 'linux')('a listener of this machine', () => {
  it('is alive after the clock was set forward by two hours: its command does not run twice', async () => {
    const user = new User();
    await working(user);
    change(user, `UPDATE runs SET seen_at = ${TWO_HOURS_AGO}`);
    await startNext(user);
    await sleep(1_500);
    expect(ran(user)).toHaveLength(1);
  });

  it('is gone though another process has its number by now', async () => {
    const user = new User();
    const first = await working(user);
    await first.stop('SIGKILL');
    change(user, `UPDATE runs SET pid = ${process.pid}`);
    const next = await startNext(user);
    await next.until(() => ran(user).length === 2);
  });

  it('in another container, of the same name, lives by its heartbeat', async () => {
    const user = new User();
    await working(user);
    const [{ start } = { start: '' }] = queryLedger<{ start: string }>(
      user,
      'SELECT process_start AS start FROM runs',
    );
    expect(start).toMatch(/^\d+ [0-9a-f-]{36} pid:\[\d+\]$/);
    // Its number means nothing here.
    change(user, "UPDATE runs SET pid = 4194305, process_start = process_start || 'x'");
    const next = await startNext(user);
    await sleep(1_500);
    expect(ran(user)).toHaveLength(1);
    change(user, `UPDATE runs SET seen_at = ${TWO_HOURS_AGO} WHERE pid = 4194305`);
    await next.until(() => ran(user).length === 2);
  });
});

it('a mark without a place is of this machine, one of another boot is not', () => {
  const own = thisProcess();
  const start = own.start.replace(/ \S+/, ' another-boot');
  expect(isOfThisMachine(own)).toBe(true);
  expect(isOfThisMachine({ ...own, start: '1' })).toBe(true);
  expect(isOfThisMachine({ ...own, host: 'elsewhere' })).toBe(false);
  if (process.platform === 'linux') expect(isOfThisMachine({ ...own, start })).toBe(false);
});
