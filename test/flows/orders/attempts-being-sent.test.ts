/** An order that another process is sending is neither unclear nor free. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import { isGone } from '../../support/listener.ts';
import { longOnly } from '../../support/slices.ts';
import { BIN, finished } from '../../support/steno.ts';
import { notShared } from '../../support/store.ts';
import { listed, url } from '../../support/unclear-orders.ts';
import { until } from '../../support/until.ts';

describe.concurrent('an order that another process is sending', () => {
  /** Starts an order whose answer the test gives when it likes. */
  async function inFlight() {
    const account = await orderingAccount();
    let answer = (): void => {};
    const sent = new Promise<void>((done) =>
      account.service.on('POST /order_url', (_, response) => {
        answer = () => void response.end(JSON.stringify({ order: 'o1', audiofiles: [1], message: 'ok' }));
        done();
      }),
    );
    const child = account.user.start(['order', url, '--sku', 'TRANS14', '--quiet']);
    const end = finished(child);
    await sent;
    return { ...account, child, end, answer: () => answer() };
  }

  it('is being sent: listed so, not counted by files, and not to be settled or ordered again', async () => {
    const { user, order, child, end, answer, service } = await inFlight();
    expect(await listed(user)).toMatchObject([{ attempt: 1, status: 'being sent', by: { pid: child.pid } }]);
    expect((await user.run(['files'])).stderr).toBe('');
    const settle = await user.run(['attempts', 'settle', '1', '--not-placed']);
    expect([settle.code, settle.stderr]).toEqual([
      2,
      expect.stringMatching(
        /being sent right now[^\n]*\nhint: wait until it has finished, or stop that process\n/,
      ),
    ]);
    const second = await order(url);
    expect(second.code).toBe(9);
    expect(second.stderr).toMatch(
      /is being ordered right now by \S+, pid \d+\nhint: run this again once that has finished/,
    );
    expect(second.stderr).not.toContain('--again');
    expect(service.got).toHaveLength(1);
    answer();
    expect(await end).toMatchObject({ code: 0, stdout: '1\n' });
    expect(await listed(user)).toEqual([]);
  });

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is unclear as soon as its process is gone',
    async () => {
      const { user, order, child, end } = await inFlight();
      child.kill('SIGKILL');
      await end;
      expect(await listed(user)).toMatchObject([
        { status: 'unclear', detail: 'started, but no outcome recorded' },
      ]);
      expect((await user.run(['files'])).stderr).toContain('1 order has no known outcome');
      expect((await order(url)).stderr).toMatch(
        /was started but has no outcome: it may have gone through\nhint: .*settle 1/,
      );
      expect((await user.run(['attempts', 'settle', '1', '--not-placed'])).code).toBe(0);
    },
  );

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is unclear where another process has the number of its process',
    async () => {
      const { user, child, end } = await inFlight();
      child.kill('SIGKILL');
      await end;
      queryLedger(user, 'UPDATE purchases SET pid = ?', process.pid);
      expect(await listed(user)).toMatchObject([{ status: 'unclear' }]);
    },
  );

  it.each([
    ['unclear', -46_000],
    ['being sent', -30_000],
    ['being sent', 30_000],
    ['unclear', 60_000],
    ['unclear', 86_400_000],
  ])('on another machine is %s by its heartbeat alone, %d ms from now', async (status, age) => {
    const { user, end, answer } = await inFlight();
    const seen = new Date(Date.now() + age).toISOString();
    queryLedger(user, "UPDATE purchases SET host = 'elsewhere', seen_at = ?", seen);
    expect(await listed(user)).toMatchObject([{ status, by: { host: 'elsewhere' } }]);
    answer();
    expect((await end).code).toBe(0);
    expect(statuses(user)).toEqual(['placed']);
  });

  longOnly('renews its heartbeat while it waits for the answer', async () => {
    const { user, end, answer } = await inFlight();
    const seen = (): unknown => queryLedger(user, 'SELECT seen_at FROM purchases')[0]?.seen_at;
    const before = seen();
    await until(() => seen() !== before, 'a heartbeat');
    answer();
    expect((await end).code).toBe(0);
  });

  it('that was settled on another machine while its process was stopped keeps what the service said in the end', async () => {
    const { user, order, child, end, answer, service } = await inFlight();
    child.kill('SIGSTOP');
    queryLedger(user, "UPDATE purchases SET host = 'elsewhere', seen_at = '2026-01-01T00:00:00.000Z'");
    expect((await user.run(['attempts', 'settle', '1', '--not-placed'])).code).toBe(0);
    answer();
    child.kill('SIGCONT');
    expect(await end).toMatchObject({ code: 0, stdout: '1\n' });
    expect(statuses(user)).toEqual(['placed']);
    expect((await order(url)).stderr).toContain('was ordered as order o1');
    expect(service.got).toHaveLength(1);
  });

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is unclear also where its process has ended and its parent does not care',
    async () => {
      const { service, user } = await orderingAccount();
      const sent = new Promise<void>((done) => service.on('POST /order_url', () => done()));
      const line = `"${process.execPath}" "${BIN}" order ${url} --sku TRANS14 & echo $!; exec sleep 60`;
      const parent = spawn('bash', ['-c', line], { cwd: user.home, env: user.env });
      const [chunk] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(chunk.toString());
      await sent;
      process.kill(pid, 'SIGKILL');
      await until(() => isGone(pid), 'the end of the process');
      expect(await listed(user)).toMatchObject([{ status: 'unclear', by: { pid } }]);
      parent.kill('SIGKILL');
    },
  );
});
