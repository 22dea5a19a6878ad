/** A row of unknown outcome from an earlier run is listed, holds up no other row, and can be ordered again alone. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { audio, orderingAccount, statuses } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { signed } from '../../support/signed.ts';
import { finished } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

const placed = (n: number): Answer => ({ body: { order: `x${n}`, audiofiles: [n], message: 'ok' } });

/** `a` is on order, `b` had no clear answer; what comes next gets these answers. */
async function earlierRun(...next: Answer[]) {
  const account = await orderingAccount();
  account.service.on('POST /order_url', placed(1), { status: 500 }, ...next);
  expect((await account.order(audio('a'))).code).toBe(0);
  expect((await account.order(audio('b'))).code).toBe(11);
  const manifest = (...names: string[]): void =>
    writeFileSync(join(account.user.home, 'm'), names.map((name) => `${audio(name)}\n`).join(''));
  const sent = (): unknown[] => account.service.got.slice(2).map((got) => got.body?.url);
  return { ...account, manifest, sent };
}

describe.concurrent('a row without a clear answer from an earlier run', () => {
  it('is listed, and what is new is ordered: exit 10', async () => {
    const { order, manifest, sent } = await earlierRun(placed(3));
    manifest('a', 'b', 'c');
    const { code, stdout, stderr } = await order('--from', 'm', '--skip-ordered');
    expect([code, stdout]).toEqual([10, `3\tx3\tordered\t${audio('c')}\t\n`]);
    expect(stderr).toMatch(
      /\nsteno: https:\/\/example\.com\/b\.mp3: an order of it from (?:just now|\d+s ago) \(attempt 2\) had no clear answer: it may have gone through\nsteno: 1 URL not ordered\nhint: [^\n]*steno attempts; [^\n]*--retry-unclear\n$/,
    );
    expect(sent()).toEqual([[audio('c')]]);
  });

  it('is listed alone where nothing is new: exit 9, run after run', async () => {
    const { order, manifest, sent } = await earlierRun();
    manifest('a', 'b');
    for (const form of [[], ['--quiet']]) {
      const { code, stdout, stderr } = await order('--from', 'm', '--skip-ordered', ...form);
      expect([code, stdout]).toEqual([9, '']);
      expect(stderr).toMatch(/b\.mp3: [^\n]*had no clear answer[^\n]*\n/);
    }
    expect(sent()).toEqual([]);
  });

  it('is in the failures of the JSON error', async () => {
    const { order, manifest } = await earlierRun(placed(3));
    manifest('a', 'b', 'c');
    const some = await order('--from', 'm', '--skip-ordered', '--json');
    const unclear = { left_out: 'unclear', skus: ['TRANS14'], error: { code: 'duplicate' } };
    const held = { audiofile: null, url: audio('b'), answer: null, ...unclear };
    expect([some.code, JSON.parse(some.stdout)]).toMatchObject([
      10,
      [
        { audiofile: '3', answer: { order: 'x3', audiofiles: [3], message: 'ok' } },
        held,
        { url: audio('a'), left_out: 'ordered' },
      ],
    ]);
    expect(jsonError(some.stderr)).toMatchObject({
      code: 'partial',
      failures: [{ what: audio('b'), code: 'duplicate', message: expect.stringContaining('attempt 2') }],
    });
    manifest('b');
    const none = await order('--from', 'm', '--skip-ordered', '--json');
    expect([none.code, JSON.parse(none.stdout)]).toMatchObject([9, [held]]);
    expect(jsonError(none.stderr)).toMatchObject({ code: 'duplicate', failures: [{ what: audio('b') }] });
  });

  it('has no hint that orders the whole manifest again', async () => {
    const { order, manifest, sent } = await earlierRun(placed(3));
    manifest('a', 'b', 'c');
    const { stdout, stderr } = await order('--from', 'm', '--skip-ordered', '--json');
    const { failures } = jsonError(stderr) as unknown as { failures: Array<{ hint: string }> };
    const hints = [JSON.parse(stdout)[1].error.hint, failures[0]?.hint];
    for (const hint of hints) {
      expect(hint).toContain('--skip-ordered --retry-unclear');
      expect(hint).not.toContain('--again');
    }
    expect(sent()).toEqual([[audio('c')]]);
    for (const names of [
      ['a', 'd'],
      ['b', 'd'],
    ]) {
      const stopped = await order(...names.map(audio));
      expect([stopped.code, stopped.stderr]).toEqual([9, expect.stringContaining('--skip-ordered')]);
      expect(stopped.stderr).not.toContain('--again');
    }
  });

  it('holds up no other row of the same order, also without --skip-ordered and for several URLs', async () => {
    const { order, manifest, sent } = await earlierRun(placed(3), placed(4));
    manifest('b', 'c');
    expect((await order('--from', 'm')).code).toBe(10);
    expect((await order(audio('b'), audio('d'), '--skip-ordered')).code).toBe(10);
    expect(sent()).toEqual([[audio('c')], [audio('d')]]);
    // Named one by one, without a flag, they stop all of it.
    expect((await order(audio('b'), audio('e'))).code).toBe(9);
    expect(sent()).toHaveLength(2);
  });

  it('stops nothing but counts where a row of the manifest is on order and --skip-ordered is missing', async () => {
    const { order, manifest, sent } = await earlierRun();
    manifest('a', 'b', 'c');
    const { code, stderr } = await order('--from', 'm');
    expect([code, stderr]).toEqual([9, expect.stringContaining('a.mp3 was ordered as order x1')]);
    expect(sent()).toEqual([]);
  });

  it('is decided by what becomes unclear in this run: exit 11', async () => {
    const { user, order, manifest } = await earlierRun({ status: 502 });
    manifest('b', 'c', 'd');
    const { code, stderr } = await order('--from', 'm', '--skip-ordered', '--per-order', '1');
    expect(code).toBe(11);
    expect(stderr).toMatch(
      /c\.mp3: [^\n]*HTTP 502[^\n]*\nsteno: not sent: 1 order[^\n]*\nsteno: [^\n]*b\.mp3: /,
    );
    expect(statuses(user)).toEqual(['placed', 'uncertain', 'uncertain']);
  });

  it('is what to look at where all else is refused: exit 9', async () => {
    const { order, manifest } = await earlierRun({ status: 400, body: { message: 'no such audio' } });
    manifest('b', 'c');
    const { code, stdout, stderr } = await order('--from', 'm', '--skip-ordered');
    expect([code, stdout]).toEqual([9, '']);
    expect(stderr).toMatch(/c\.mp3: [^\n]*no such audio[^\n]*\n[^\n]*b\.mp3: [^\n]*had no clear answer/);
    expect(stderr).toContain('1 of 1 orders failed; 1 URL not ordered');
  });

  it('is planned as it would be sent: --dry-run', async () => {
    const { order, manifest } = await earlierRun();
    manifest('a', 'b', 'c');
    const { code, stdout, stderr } = await order('--from', 'm', '--skip-ordered', '--dry-run', '--quiet');
    expect([code, stdout]).toEqual([9, `${audio('c')}\n`]);
    expect(stderr).toContain('b.mp3');
  });
});

describe.concurrent('--retry-unclear', () => {
  it('orders again what had no clear answer and what is new, and leaves out what is on order', async () => {
    const { user, order, manifest, sent } = await earlierRun(placed(2), placed(3));
    manifest('a', 'b', 'c');
    const line = ['--from', 'm', '--skip-ordered', '--retry-unclear', '--per-order', '1', '--quiet'];
    const { code, stdout, stderr } = await order(...line);
    expect([code, stdout], stderr).toEqual([0, '2\n3\n']);
    expect(sent()).toEqual([[audio('b')], [audio('c')]]);
    expect((await user.run(['attempts'])).stdout).toMatch(
      /^2\tunclear\t[^\n]*later as order x2\torder\t\t\t\t\n$/,
    );
    const again = await order(...line);
    expect([again.code, again.stdout]).toEqual([0, '']);
    expect(sent()).toHaveLength(2);
  });

  it('finds it under a fresh signature', async () => {
    const { order, sent } = await earlierRun(placed(2));
    const link = signed(audio('b'), 4);
    expect((await order(link, '--skip-ordered', '--retry-unclear')).code).toBe(0);
    expect(sent()).toEqual([[link]]);
  });

  it('leaves it unclear where the new order is refused', async () => {
    const { user, order } = await earlierRun({ status: 400 });
    expect((await order(audio('b'), '--skip-ordered', '--retry-unclear')).code).toBe(1);
    expect((await user.run(['attempts', '--quiet'])).stdout).toBe('2\n');
    expect((await order(audio('b'))).stderr).toContain('had no clear answer');
  });

  it('does not order again what was accepted, though its files are not known', async () => {
    const { service, order } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'n1', audiofiles: [], message: 'ok' } });
    expect((await order(audio('n'))).code).toBe(11);
    const { code, stderr } = await order(audio('n'), '--skip-ordered', '--retry-unclear');
    expect([code, stderr]).toEqual([9, expect.stringContaining('order n1')]);
    expect(service.got).toHaveLength(1);
  });

  it('of two processes at once orders it once', async () => {
    const { order, sent, service } = await earlierRun();
    service.on('POST /order_url', (_, response) =>
      setTimeout(() => response.end(JSON.stringify({ order: 'x2', audiofiles: [2], message: 'ok' })), 400),
    );
    const line = [audio('b'), '--skip-ordered', '--retry-unclear'];
    const ends = await Promise.all(Array.from({ length: 4 }, () => order(...line)));
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(sent()).toEqual([[audio('b')]]);
  });
});

describe.concurrent('an audio that is on order, and whose next order had no clear answer', () => {
  /** `a` is on order as x1, and was ordered again without a clear answer; what comes next gets these answers. */
  async function orderedAgain(...next: Answer[]) {
    const account = await orderingAccount();
    account.service.on('POST /order_url', placed(1), { status: 500 }, ...next);
    expect((await account.order(audio('a'))).code).toBe(0);
    expect((await account.order(audio('a'), '--again')).code).toBe(11);
    const sent = (): unknown[] => account.service.got.slice(2).map((got) => got.body?.url);
    return { ...account, sent };
  }

  it('is left out, also with --retry-unclear', async () => {
    const { order, sent } = await orderedAgain(placed(2));
    for (const flags of [['--skip-ordered'], ['--skip-ordered', '--retry-unclear']]) {
      const { code, stderr } = await order(audio('a'), ...flags);
      expect([code, stderr]).toEqual([0, expect.stringContaining('already ordered')]);
    }
    expect((await order(audio('a'))).stderr).toContain('was ordered as order x1');
    const both = await order(audio('a'), audio('b'), '--skip-ordered', '--retry-unclear');
    expect(both.code, both.stderr).toBe(0);
    expect(sent()).toEqual([[audio('b')]]);
  });

  it('is left out also where the next order was killed', async () => {
    const { user, order, service } = await orderingAccount();
    service.on('POST /order_url', placed(1), (_got, _response, socket) => void socket.pause());
    await order(audio('a'));
    const child = user.start(['order', audio('a'), '--sku', 'TRANS14', '--again']);
    const end = finished(child);
    await until(() => service.got.length === 2, 'the second order');
    child.kill('SIGKILL');
    await end;
    const { code, stderr } = await order(audio('a'), '--skip-ordered', '--retry-unclear');
    expect([code, stderr]).toEqual([0, expect.stringContaining('already ordered')]);
    expect(service.got).toHaveLength(2);
  });

  it('is not ordered again where the first was accepted without its files', async () => {
    const { order, service } = await orderingAccount();
    const accepted = { body: { order: 'n1', audiofiles: [], message: 'ok' } };
    service.on('POST /order_url', accepted, { status: 500 });
    expect((await order(audio('a'))).code).toBe(11);
    expect((await order(audio('a'), '--again')).code).toBe(11);
    const { code, stderr } = await order(audio('a'), '--skip-ordered', '--retry-unclear');
    expect([code, stderr]).toEqual([9, expect.stringContaining('order n1')]);
    expect(service.got).toHaveLength(2);
  });
});

describe('many runs at once with --retry-unclear', () => {
  it.each([
    ['slow', 600],
    ['quick', 0],
  ])(
    'send one order, of which no other orders again what became unclear meanwhile: a %s service',
    async (_, ms) => {
      const { user, service } = await orderingAccount();
      service.on('POST /order_url', (_got, response) => {
        setTimeout(() => response.writeHead(500).end('{}'), ms);
      });
      const line = ['order', audio('a'), '--sku', 'TRANS14', '--skip-ordered', '--retry-unclear'];
      const ends = await Promise.all(Array.from({ length: 6 }, () => user.run(line)));
      expect(ends.map(({ code }) => code).sort()).toEqual([11, 9, 9, 9, 9, 9]);
      expect(service.got).toHaveLength(1);
      expect(statuses(user)).toEqual(['uncertain']);
      // From now on it is unclear from before.
      expect((await user.run(line)).code).toBe(11);
      expect(service.got).toHaveLength(2);
    },
  );
});
