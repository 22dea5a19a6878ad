/** `--skip-ordered --retry-ended`: what ended without a transcript is ordered again, once, and nothing else is. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';

const RETRY = ['--from', 'm.txt', '--skip-ordered', '--retry-ended'];

/** A list of these audios, each ordered and in this state. */
async function ended(
  states: Readonly<Record<string, string>>,
): Promise<OrderingAccount & { sent(): unknown[] }> {
  const account = await orderingAccount();
  const { user, service, order } = account;
  const names = Object.keys(states);
  writeFileSync(join(user.home, 'm.txt'), `${names.map(audio).join('\n')}\n`);
  expect((await order('--from', 'm.txt')).code).toBe(0);
  for (const [at, state] of Object.values(states).entries()) account.states.set(String(at + 1), [state]);
  await user.run(['files', '--refresh']);
  const before = service.calls('POST /order_url').length;
  return {
    ...account,
    sent: () =>
      service
        .calls('POST /order_url')
        .slice(before)
        .map(({ body }) => body?.url),
  };
}

describe('--retry-ended', () => {
  it('orders what ended as Error, Order Cancelled or Refunded, and only that', async () => {
    const { order, sent } = await ended({
      ...{ a: 'Error', b: 'Delivered', c: 'Order Cancelled', d: 'Transcribing', e: 'Refunded', f: 'On Hold' },
    });
    expect((await order('--from', 'm.txt', '--skip-ordered')).code).toBe(0);
    expect(sent()).toEqual([]);
    const { code, stderr } = await order(...RETRY);
    expect(code, stderr).toBe(0);
    expect(sent()).toEqual([['a', 'c', 'e'].map(audio)]);
    expect(stderr).toContain('Skipped 3 of 6: already ordered');
    // They are on order again.
    expect((await order(...RETRY)).code).toBe(0);
    expect((await order(audio('a'))).code).toBe(9);
    expect(sent()).toHaveLength(1);
  });

  it('orders it again however its link is written, and again if that ends so too', async () => {
    const { order, sent, states, user } = await ended({ a: 'Error' });
    const line = [
      `${audio('a').replace('https://', 'HTTPS://')}?utm_source=x`,
      '--skip-ordered',
      '--retry-ended',
    ];
    expect((await order(...line)).code).toBe(0);
    states.set('2', ['Error']);
    await user.run(['files', '--refresh']);
    expect((await order(...line)).code).toBe(0);
    expect(sent()).toHaveLength(2);
  });

  it('asks the service first: what is under way again is not bought', async () => {
    const { order, sent, states, service } = await ended({ a: 'Error', b: 'Refunded', c: 'Order Cancelled' });
    states.set('1', ['Transcribing']);
    service.allow('GET /audiofile/3', { status: 404, body: {} });
    const { code, stdout, stderr } = await order(...RETRY, '--json');
    expect(code, stderr).toBe(0);
    expect(sent()).toEqual([['b', 'c'].map(audio)]);
    expect(JSON.parse(stdout)).toMatchObject([
      { url: audio('b'), audiofile: '4' },
      { url: audio('c'), audiofile: '5' },
      { audiofile: '1', state: 'Transcribing', left_out: 'ordered' },
    ]);
  });

  it('buys nothing while the service does not say what became of it', async () => {
    const { order, sent, service } = await ended({ a: 'Error' });
    service.allow('GET /audiofile/1', { status: 400, body: { message: 'hm' } });
    expect((await order(...RETRY)).code).toBe(1);
    expect(sent()).toEqual([]);
  });

  it('is for one of many processes', async () => {
    const { order, sent } = await ended({ a: 'Error', b: 'Refunded' });
    const codes = (await Promise.all([1, 2, 3, 4].map(() => order(...RETRY)))).map(({ code }) => code);
    expect(codes).toEqual([0, 0, 0, 0]);
    expect(sent().flat().sort()).toEqual(['a', 'b'].map(audio));
  });

  it('holds what then has no clear answer, and gives it back after a refusal', async () => {
    const { order, sent, service, user } = await ended({ a: 'Error' });
    service.allow('POST /order_url', { status: 500 }, { status: 400 });
    expect((await order(...RETRY)).code).toBe(11);
    const { code, stderr } = await order(...RETRY);
    expect(code).toBe(9);
    expect(stderr).toContain('it may have gone through');
    expect((await user.run(['attempts', 'settle', '2', '--not-placed'])).code).toBe(0);
    expect((await order(...RETRY)).code).toBe(1);
    expect(sent()).toHaveLength(2);
    expect(queryLedger(user, 'SELECT status FROM purchases ORDER BY number')).toEqual(
      ['placed', 'refused', 'refused'].map((status) => ({ status })),
    );
    expect((await order(audio('a'))).code).toBe(9);
  });
});
