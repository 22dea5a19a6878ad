/** What another process is sending is waited for with --skip-ordered and in manifests, and counts as what became of it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount, queryLedger, statuses } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { finished, type Result } from '../../support/steno.ts';
import { notShared } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const url = audio('a');

const placed = (n: number): Answer => ({ body: { order: `x${n}`, audiofiles: [n], message: 'ok' } });

/** One process waits for the answer to an order; what comes next gets these answers. */
async function inFlight(...next: Answer[]) {
  const account = await orderingAccount();
  let answer = (_status: number, _body: object): void => {};
  const sent = new Promise<void>((done) => {
    const hold: Answer = (_, response) => {
      answer = (status, body) => void response.writeHead(status).end(JSON.stringify(body));
      done();
    };
    account.service.on('POST /order_url', hold, ...next);
  });
  const child = account.user.start(['order', url, '--sku', 'TRANS14', '--quiet']);
  const first = finished(child);
  await sent;
  return { ...account, child, first, answer: (status: number, body: object) => answer(status, body) };
}

/** Starts a command, and gives it back when it says that it waits. */
async function waiting(user: Awaited<ReturnType<typeof inFlight>>['user'], args: readonly string[]) {
  const child = user.start(['order', '--sku', 'TRANS14', ...args]);
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString();
  });
  child.stdin.end();
  const end = finished(child);
  await until(
    () => /^Waiting for \d+ URLs? that \S+, pid \d+ is ordering$/m.test(stderr),
    () => stderr,
  );
  return { child, end };
}

const ok = { order: 'x1', audiofiles: [1], message: 'ok' };

async function isUnclear(account: Awaited<ReturnType<typeof inFlight>>, act: () => unknown): Promise<void> {
  const { end } = await waiting(account.user, [url, '--skip-ordered']);
  act();
  await account.first;
  const { code, stderr } = await end;
  expect([code, stderr], stderr).toEqual([9, expect.stringContaining('may have gone through')]);
  expect(account.service.got).toHaveLength(1);
}

describe.concurrent('with --skip-ordered, an audio that is being sent', () => {
  it('is left out if it is placed', async () => {
    const { service, user, first, answer } = await inFlight(placed(2));
    const { end } = await waiting(user, [url, audio('b'), '--skip-ordered']);
    answer(200, ok);
    expect((await first).code).toBe(0);
    const { code, stdout, stderr } = await end;
    expect([code, stdout], stderr).toEqual([0, `2\tx2\tordered\t${audio('b')}\t\n`]);
    expect(stderr).toContain('Skipped 1: ordered by another process');
    expect(service.got.map((got) => got.body?.url)).toEqual([[url], [audio('b')]]);
  });

  it('is ordered if it is refused', async () => {
    const { service, user, first, answer } = await inFlight(placed(2));
    const { end } = await waiting(user, [url, '--skip-ordered']);
    answer(400, { message: 'no' });
    expect((await first).code).toBe(1);
    expect(await end).toMatchObject({ code: 0, stdout: `2\tx2\tordered\t${url}\t\n` });
    expect(service.got).toHaveLength(2);
    expect(statuses(user)).toEqual(['refused', 'placed']);
  });

  it('is unclear if the other process gets no clear answer', async () => {
    const account = await inFlight();
    await isUnclear(account, () => account.answer(500, {}));
  });

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is unclear if the other process is killed',
    async () => {
      const account = await inFlight();
      await isUnclear(account, () => account.child.kill('SIGKILL'));
    },
  );

  it('is waited for no longer than --timeout: exit 6', async () => {
    const { service, user, first, answer } = await inFlight();
    const { end } = await waiting(user, [url, '--skip-ordered', '--timeout', '1s', '--csv']);
    const { code, stderr } = await end;
    expect([code, stderr]).toEqual([6, expect.stringMatching(/is still being ordered by \S+, pid \d+\n/)]);
    answer(200, ok);
    expect((await first).code).toBe(0);
    expect(service.got).toHaveLength(1);
  });

  it('is waited for until Ctrl-C', async () => {
    const { service, user, first, answer } = await inFlight();
    const { child, end } = await waiting(user, [url, '--skip-ordered']);
    child.kill('SIGINT');
    expect(await end).toMatchObject({ code: 130, stdout: '' });
    answer(200, ok);
    expect((await first).code).toBe(0);
    expect(service.got).toHaveLength(1);
  });

  it('is not waited for by a dry run, nor without the flag', async () => {
    const { user, order, first, answer } = await inFlight();
    const plan = await order(url, audio('b'), '--skip-ordered', '--dry-run', '--quiet');
    expect([plan.code, plan.stdout]).toEqual([0, `${audio('b')}\n`]);
    expect((await order(url, audio('b'))).code).toBe(9);
    answer(200, ok);
    expect((await first).code).toBe(0);
    expect(statuses(user)).toEqual(['placed']);
  });
});

describe.concurrent('a manifest without --skip-ordered', () => {
  it('waits for a row that is being sent, orders the others, and says that it is on order', async () => {
    const { service, user, first, answer } = await inFlight(placed(2));
    writeFileSync(join(user.home, 'm'), `${url}\n${audio('b')}\n`);
    const { end } = await waiting(user, ['--from', 'm']);
    answer(200, ok);
    expect((await first).code).toBe(0);
    const { code, stdout, stderr } = await end;
    expect([code, stdout], stderr).toEqual([10, `2\tx2\tordered\t${audio('b')}\t\n`]);
    expect(stderr).toMatch(/a\.mp3: it was ordered as order x1/);
    expect(service.got).toHaveLength(2);
  });
});

describe('eight runs of one manifest at once with --skip-ordered', () => {
  it.each([
    ['slow to answer', 400],
    ['quick to answer', 0],
  ])('order everything once and all exit 0: a service that is %s', async (_, ms) => {
    const { service, user } = await orderingAccount();
    let files = 0;
    let orders = 0;
    service.on('POST /order_url', (got, response) => {
      const audiofiles = ((got.body?.url ?? []) as string[]).map(() => ++files);
      const body = JSON.stringify({ order: `o${++orders}`, audiofiles, message: 'ok' });
      setTimeout(() => response.end(body), ms);
    });
    const urls = Array.from({ length: 12 }, (_, n) => audio(`m${n}`));
    writeFileSync(join(user.home, 'm'), urls.join('\n'));
    const line = [
      'order',
      '--from',
      'm',
      '--sku',
      'TRANS14',
      '--per-order',
      '3',
      '--skip-ordered',
      '--quiet',
    ];
    const ends = await Promise.all(Array.from({ length: 8 }, (): Promise<Result> => user.run(line)));
    expect(
      ends.map(({ code }) => code),
      ends.map(({ stderr }) => stderr).join(''),
    ).toEqual(Array(8).fill(0));
    const bought = service.got.flatMap((got) => got.body?.url as string[]);
    expect(bought.sort()).toEqual([...urls].sort());
    const printed = ends.flatMap(({ stdout }) => stdout.split('\n').filter(Boolean));
    expect(printed.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => n + 1));
    expect(queryLedger(user, 'SELECT count(*) AS n FROM item_names WHERE holds = 1')).toEqual([{ n: 12 }]);
  });
});
