/** A service of somebody else's, which has steno inside: its own ids all the way, and one order however often it asks. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { orderingAccount } from '../support/ledger.ts';
import { Listener } from '../support/listener.ts';
import { installedTools } from '../support/readme.ts';
import { finished, type Result, User } from '../support/steno.ts';

const SCRIPT = resolve('test/jobs/service.py');

/** A worker process of the service. */
function worker(user: User, ...args: string[]) {
  const child = spawn('python3', [SCRIPT, ...args], {
    cwd: user.home,
    env: { ...user.env, PATH: installedTools() },
  });
  return { child, ended: finished(child) };
}

const answer = async (ended: Promise<Result>): Promise<Record<string, unknown>> => {
  const { code, stdout, stderr } = await ended;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
};

it('is at most as long as what was needed without it', () => {
  expect(readFileSync(SCRIPT, 'utf8').trim().split('\n').length).toBeLessThanOrEqual(68);
});

it('orders each upload once, though workers race and die, and hears of each by its own id', async () => {
  const user = new User({ STENO_PROFILE: 'sandbox', STENO_LEDGER: undefined });
  const balance = async (): Promise<number> => Number((await user.run(['balance'])).stdout);
  const before = await balance();
  const listener = await Listener.start(user, ['--register', '--exec', `python3 ${SCRIPT} event`]);
  const uploads = ['acme', 'acme', 'globex'].map((customer, n) => ({
    order: ['order', `upload-${n}`, customer, `https://example.com/upload-${n}.mp3`],
    customer,
  }));
  const died = uploads.map(({ order }) => worker(user, ...order));
  setTimeout(() => {
    for (const { child } of died) child.kill('SIGKILL');
  }, 400);
  await Promise.all(died.map(({ ended }) => ended));
  // What a dead worker was sending may be going on still: it is asked again until its file is known.
  const place = async (order: string[]): Promise<unknown> => {
    for (;;) {
      const { audiofile } = await answer(worker(user, ...order).ended);
      if (audiofile) return audiofile;
    }
  };
  const ids = await Promise.all([...uploads, ...uploads].map(({ order }) => place(order)));
  expect(ids.slice(3)).toEqual(ids.slice(0, 3));
  expect(new Set(ids).size).toBe(3);
  const told = (): string => {
    try {
      return readFileSync(join(user.home, 'told.jsonl'), 'utf8');
    } catch {
      return '';
    }
  };
  await listener.until(() => told().match(/TRANSCRIPT_COMPLETE/g)?.length === 3, 25_000);
  await listener.stop();
  for (const [n, { customer }] of uploads.entries()) {
    expect(told()).toContain(
      JSON.stringify({ event: 'TRANSCRIPT_COMPLETE', key: `upload-${n}`, tags: customer })
        .replaceAll('":', '": ')
        .replaceAll(',"', ', "'),
    );
    const { state } = await answer(worker(user, 'state', `upload-${n}`).ended);
    expect(state).toBe('Delivered');
  }
  const bills = await Promise.all(
    ['acme', 'globex'].map(async (customer) => (await answer(worker(user, 'bill', customer).ended)).spent),
  );
  const paid = before - (await balance());
  expect(Number(bills[0]) + Number(bills[1])).toBeCloseTo(paid, 6);
}, 90_000);

it('is told by type, not in prose, that an earlier order has no clear answer', async () => {
  const { user, service } = await orderingAccount();
  service.on('POST /order_url', { status: 500, body: { message: 'oops' } });
  const order = ['order', 'upload-1', 'acme', 'https://example.com/upload-1.mp3'];
  expect((await worker(user, ...order).ended).stderr).toContain("'code': 'uncertain'");
  expect(await answer(worker(user, ...order).ended)).toEqual({ upload: 'upload-1', attempt: 1 });
  expect(service.calls('POST /order_url')).toHaveLength(1);
});
