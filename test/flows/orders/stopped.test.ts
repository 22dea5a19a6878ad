/** A process that is stopped in the middle of an order (Ctrl-Z, a machine that sleeps) buys nothing twice. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import { finished, type User } from '../../support/steno.ts';
import { notShared } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const url = audio('a');

/** After that long a claim is asked about before its order is sent. */
const RECHECK_AFTER_MS = 2_000;

const isStopped = ({ pid }: ChildProcessWithoutNullStreams): boolean =>
  / T /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));

/** The process stops itself when it is about to connect to the service: the attempt is on disk, and nothing is sent. */
function stopsBeforeSending(user: User): Record<string, string> {
  const preload = join(user.home, 'stop.cjs');
  writeFileSync(
    preload,
    `const { channel } = require('node:diagnostics_channel');
channel('undici:client:beforeConnect').subscribe(() => process.kill(process.pid, 'SIGSTOP'));`,
  );
  return { NODE_OPTIONS: `--require ${preload}` };
}

async function stoppedBeforeSending(...args: string[]) {
  const account = await orderingAccount();
  const child = account.user.start(['order', url, '--sku', 'TRANS14', ...args], {
    env: stopsBeforeSending(account.user),
  });
  const end = finished(child);
  await until(() => isStopped(child), 'the process to stop');
  expect(statuses(account.user)).toEqual(['sending']);
  const goOn = async () => {
    await sleep(RECHECK_AFTER_MS + 100);
    child.kill('SIGCONT');
    return end;
  };
  return { ...account, goOn };
}

/** As others see a process of a machine that has slept for long. */
const seemsGone = (user: User): unknown =>
  queryLedger(
    user,
    "UPDATE purchases SET host = 'elsewhere', seen_at = '2026-01-01T00:00:00.000Z' WHERE number = 1",
  );

const silent = (user: User): unknown =>
  queryLedger(user, "UPDATE purchases SET seen_at = '2026-01-01T00:00:00.000Z'");

describe.runIf(process.platform === 'linux').concurrent('a process that was stopped before it sent', () => {
  it('sends its order when it goes on, if it is still to be sent', async () => {
    const { service, user, goOn } = await stoppedBeforeSending('--quiet');
    expect(await goOn()).toMatchObject({ code: 0, stdout: '1\n' });
    expect(service.calls('POST /order_url')).toHaveLength(1);
    expect(statuses(user)).toEqual(['placed']);
  });

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'keeps its claim on this machine, however long it is silent',
    async () => {
      const { service, user, order, goOn } = await stoppedBeforeSending();
      silent(user);
      expect((await user.run(['attempts'])).stdout).toContain('\tbeing sent\t');
      expect((await user.run(['attempts', 'settle', '1', '--not-placed'])).code).toBe(2);
      expect((await order(url)).stderr).toContain('is being ordered right now');
      expect((await goOn()).code).toBe(0);
      expect(service.calls('POST /order_url')).toHaveLength(1);
    },
  );

  it.each([
    ['and not ordered since', false],
    ['and ordered by another process', true],
  ])('sends nothing where it was settled as not placed, %s', async (_, isOrdered) => {
    const { service, user, order, goOn } = await stoppedBeforeSending();
    seemsGone(user);
    expect((await user.run(['attempts', 'settle', '1', '--not-placed'])).code).toBe(0);
    if (isOrdered) expect((await order(url)).code).toBe(0);
    const { code, stdout, stderr } = await goOn();
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^steno: it was not sent: attempt 1 was settled as not placed[^\n]*\nhint: /);
    expect(service.calls('POST /order_url')).toHaveLength(isOrdered ? 1 : 0);
    expect(statuses(user)).toEqual(isOrdered ? ['refused', 'placed'] : ['refused']);
  });

  it('sends nothing where it was settled as placed: exit 9', async () => {
    const { service, user, goOn } = await stoppedBeforeSending('--again');
    seemsGone(user);
    expect((await user.run(['attempts', 'settle', '1', '--placed', 'q7'])).code).toBe(0);
    const { code, stderr } = await goOn();
    expect([code, stderr]).toEqual([9, expect.stringContaining('settled as placed as order q7')]);
    expect(service.got).toEqual([]);
    expect(statuses(user)).toEqual(['placed']);
  });

  it.each([
    ['exit 9', [], 9],
    ['exit 0 with --skip-ordered', ['--skip-ordered'], 0],
  ] as const)('sends nothing where another process has ordered it: %s', async (_, flags, exit) => {
    const { service, user, order, goOn } = await stoppedBeforeSending(...flags);
    expect((await order(url, '--again')).code).toBe(0);
    const { code, stderr } = await goOn();
    expect(code, stderr).toBe(exit);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    expect(statuses(user)).toEqual(['refused', 'placed']);
  });
});

describe.runIf(process.platform === 'linux').concurrent('a process that was stopped after it sent', () => {
  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is waited for, and its order is not sent again as one without a clear answer',
    async () => {
      const { service, user, order } = await orderingAccount();
      let answer = (): void => {};
      service.on('POST /order_url', (_, response) => {
        answer = () => void response.end(JSON.stringify({ order: 'o1', audiofiles: [1] }));
      });
      const child = user.start(['order', url, '--sku', 'TRANS14']);
      const end = finished(child);
      await until(() => service.got.length === 1, 'the order');
      child.kill('SIGSTOP');
      silent(user);
      const retry = await order(url, '--skip-ordered', '--retry-unclear', '--timeout', '1s');
      expect([retry.code, retry.stderr]).toEqual([6, expect.stringContaining('still being ordered')]);
      child.kill('SIGCONT');
      answer();
      expect((await end).code).toBe(0);
      expect(service.got).toHaveLength(1);
    },
  );
});
