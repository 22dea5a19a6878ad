/** `upgrade`, `refund` and money calls of `api`: in the ledger before they are sent, and never twice by accident. */
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { setAll } from '../../support/settings.ts';
import { finished, type User } from '../../support/steno.ts';
import { isShared } from '../../support/store.ts';
import { deadAddress } from '../../support/wire.ts';

interface Kept {
  readonly kind: string;
  readonly via: string;
  readonly status: string;
  readonly skus: string;
  readonly file: string;
}

/** What the ledger keeps of purchases, without the order that began it all. */
const kept = (user: User): Kept[] =>
  queryLedger<Kept>(
    user,
    `SELECT kind, via, status, purchases.skus, file FROM purchases
     JOIN purchase_items ON purchase_items.purchase = purchases.id WHERE number > 1 ORDER BY number, position`,
  );

/** An account with file 1 on order. */
async function ordered(): Promise<OrderingAccount> {
  const account = await orderingAccount();
  expect((await account.order(audio('a'))).code).toBe(0);
  return account;
}

const upgrade = {
  name: 'upgrade',
  route: 'POST /audiofile/1/upgrade',
  line: ['upgrade', '1', '--sku', 'UPGRD2,TSTMP1'],
  row: { kind: 'upgrade', via: '', skus: 'UPGRD2,TSTMP1', file: '1' },
  what: 'of audiofile 1 with',
};

const refund = {
  name: 'refund',
  route: 'POST /audiofile/1/refund',
  line: ['refund', '1', '--yes'],
  row: { kind: 'refund', via: '', skus: '', file: '1' },
  what: 'of audiofile 1',
};

/** The same as a raw call. */
const raw = (call: typeof upgrade, skus: string): typeof upgrade => ({
  ...call,
  name: `api, ${call.name}`,
  line: ['api', ...call.route.split(' '), ...(skus ? [`sku=${skus}`] : [])],
  row: { ...call.row, via: call.route, skus },
});

const calls = [upgrade, refund, raw(upgrade, 'UPGRD2'), raw(refund, '')];

const fine: Answer = { body: { message: 'done' } };
const unclear: Answer = { status: 500, body: { message: 'oops' } };
const refused: Answer = { status: 409, body: { message: 'not in this state' } };

describe.each(calls)('$name', ({ route, line, row, what }) => {
  it('is on disk before it is sent, and has its outcome after it', async () => {
    const { user, service } = await ordered();
    let atSending: Kept[] = [];
    service.on(route, (_, response) => {
      atSending = kept(user);
      response.end(JSON.stringify({ message: 'done' }));
    });
    const { code, stderr } = await user.run(line);
    expect(code, stderr).toBe(0);
    expect(atSending).toEqual([{ ...row, status: 'sending' }]);
    expect(kept(user)).toEqual([{ ...row, status: 'placed' }]);
  });

  it('without a clear answer exits 11, is in attempts, and is not repeated unless --again', async () => {
    const { user, service } = await ordered();
    service.on(route, unclear, fine, fine);
    const first = await user.run(line);
    expect([first.code, first.stderr]).toEqual([11, expect.stringContaining('steno attempts')]);
    expect(kept(user)).toEqual([{ ...row, status: 'uncertain' }]);
    const [attempt] = JSON.parse((await user.run(['attempts', '--json'])).stdout);
    expect(attempt).toMatchObject({
      ...{ attempt: 2, kind: row.kind, status: 'unclear', audiofiles: ['1'], via: row.via || null },
      skus: row.skus ? row.skus.split(',') : [],
    });
    const again = await user.run([...line, '--json']);
    expect(again.code, again.stderr).toBe(9);
    const error = jsonError(again.stderr);
    expect(error).toMatchObject({ code: 'duplicate', reason: 'unclear', attempt: 2, audiofiles: ['1'] });
    expect(error.message).toContain(what);
    expect(error.message).toMatch(
      new RegExp(` from (?:just now|\\d+s ago) by ${attempt.by.user}@${attempt.by.host}`),
    );
    expect(error.hint).toContain('steno attempts settle 2 --placed');
    expect(error.hint).toContain('steno attempts settle 2 --not-placed');
    expect(error.hint).toContain('--again');
    expect((await user.run([...line, '--again'])).code).toBe(0);
    expect(kept(user).map(({ status }) => status)).toEqual(['uncertain', 'placed']);
    // The earlier one is still not known.
    expect((await user.run(line)).code).toBe(9);
    expect((await user.run(['attempts', 'settle', '2', '--not-placed'])).code).toBe(0);
    expect((await user.run(line)).code).toBe(0);
  });

  it('may be repeated after a clear end', async () => {
    const { user, service } = await ordered();
    service.on(route, refused, fine, fine);
    expect((await user.run(line)).code).toBe(1);
    expect((await user.run(line)).code).toBe(0);
    expect((await user.run(line)).code).toBe(0);
    expect(kept(user).map(({ status }) => status)).toEqual(['refused', 'placed', 'placed']);
  });

  it('that another process is sending exits 9 and says who sends it', async () => {
    const { user, service } = await ordered();
    let answer = (): void => {};
    const sent = new Promise<void>((done) => {
      service.on(route, (_, response) => {
        answer = () => void response.end(JSON.stringify({ message: 'done' }));
        done();
      });
    });
    const child = user.start(line);
    const first = finished(child);
    child.stdin.end();
    await sent;
    const second = await user.run([...line, '--json']);
    answer();
    expect(second.code, second.stderr).toBe(9);
    const { reason, message, attempt } = jsonError(second.stderr);
    expect([reason, attempt]).toEqual(['in_progress', 2]);
    expect(message).toMatch(/is being sent right now by \S+@\S+, pid \d+/);
    expect((await first).code).toBe(0);
  });
});

describe('settling an upgrade or a refund', () => {
  const unclearRefund = async (): Promise<OrderingAccount> => {
    const account = await ordered();
    account.service.on('POST /audiofile/1/refund', unclear);
    expect((await account.user.run(['refund', '1', '--yes'])).code).toBe(11);
    return account;
  };
  const state = (user: User): unknown =>
    queryLedger(user, "SELECT state, ended, upgrades FROM files WHERE id = '1'")[0];

  it('--placed needs no order id, and the file shows it at once', async () => {
    const { user } = await unclearRefund();
    const settled = await user.run(['attempts', 'settle', '2', '--placed', '--json']);
    expect(settled.code, settled.stderr).toBe(0);
    expect(JSON.parse(settled.stdout)).toEqual({
      ...{ attempt: 2, status: 'placed', order: null, audiofiles: ['1'] },
    });
    expect(state(user)).toEqual({ state: 'Refunded', ended: 'unfinished', upgrades: '' });
    const again = await user.run(['attempts', 'settle', '2', '--not-placed']);
    expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('settle 2 --reopen')]);
  });

  it.each([
    ['an order id', ['--placed', '4nX'], 'has no order id'],
    ['--file', ['--placed', '--file', '1'], '--file is for orders'],
    ['both', ['--placed', '--not-placed'], "can't be used together"],
    ['--reopen, where nobody has settled it', ['--reopen'], 'nobody has settled attempt 2'],
  ])('with %s exits 2', async (_, flags, message) => {
    const { user } = await unclearRefund();
    const { code, stderr } = await user.run(['attempts', 'settle', '2', ...flags]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(kept(user)[0]?.status).toBe('uncertain');
  });

  it('--reopen takes it back: its end is not known again, and the file is asked about', async () => {
    const { user, states, service } = await unclearRefund();
    await user.run(['attempts', 'settle', '2', '--placed']);
    const reopened = await user.run(['attempts', 'settle', '2', '--reopen']);
    expect([reopened.code, reopened.stdout], reopened.stderr).toEqual([0, '2\tunclear\t\t1\n']);
    expect(state(user)).toMatchObject({ state: '', ended: '' });
    expect((await user.run(['refund', '1', '--yes'])).code).toBe(9);
    states.set('1', ['Transcribing']);
    await user.run(['sync']);
    expect(state(user)).toMatchObject({ state: 'Transcribing', ended: '' });
    expect(service.got.filter(({ path }) => path.endsWith('/refund'))).toHaveLength(1);
  });

  it('--reopen of an upgrade takes its SKUs back, and no others', async () => {
    const { user, service } = await ordered();
    service.on('POST /audiofile/1/upgrade', fine, unclear);
    expect((await user.run(['upgrade', '1', '--sku', 'TSTMP1'])).code).toBe(0);
    expect((await user.run(['upgrade', '1', '--sku', 'UPGRD2'])).code).toBe(11);
    await user.run(['attempts', 'settle', '3', '--placed']);
    expect(state(user)).toMatchObject({ upgrades: 'TSTMP1,UPGRD2' });
    expect((await user.run(['attempts', 'settle', '3', '--reopen'])).code).toBe(0);
    expect(state(user)).toMatchObject({ upgrades: 'TSTMP1' });
  });

  it('an order needs its id', async () => {
    const { user, service } = await orderingAccount();
    service.on('POST /order_url', unclear);
    await user.run(['order', audio('a'), '--sku', 'TRANS14']);
    const { code, stderr } = await user.run(['attempts', 'settle', '1', '--placed']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('settle 1 --placed <order>')]);
    expect((await user.run(['attempts', 'settle', '1', '--placed', '4nX'])).code).toBe(0);
    const reopened = await user.run(['attempts', 'settle', '1', '--reopen', '--json']);
    expect(JSON.parse(reopened.stdout)).toMatchObject({ status: 'unclear', order: null });
  });

  it('what the service named is not settled as not placed, and the way out is named', async () => {
    const { user, service } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'o1', audiofiles: [1], message: 'ok' } });
    await user.run(['order', audio('a'), audio('b'), '--sku', 'TRANS14']);
    const { code, stderr } = await user.run(['attempts', 'settle', '1', '--not-placed']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('the service named order o1')]);
    expect(stderr).toContain('steno attempts settle 1 --placed o1 --file <id>');
  });
});

describe('api POST /order_url', () => {
  const line = ['api', 'POST', '/order_url', `url=${audio('a')}`, 'sku=TRANS14', 'notes=mind the gap'];

  it('prints the answer as it came, and keeps order and files', async () => {
    const { user, order } = await orderingAccount();
    const { code, stdout, stderr } = await user.run(line);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ order: 'o1', audiofiles: [1], message: 'ok' });
    expect(queryLedger(user, 'SELECT via, status, order_id, skus, notes FROM purchases')).toEqual([
      {
        ...{ via: 'POST /order_url', status: 'placed', order_id: 'o1', skus: 'TRANS14' },
        notes: 'mind the gap',
      },
    ]);
    expect(JSON.parse((await user.run(['files', '--json'])).stdout)).toMatchObject([
      { audiofile: '1', order: 'o1', url: audio('a'), skus: ['TRANS14'] },
    ]);
    expect((await order(audio('a'))).code).toBe(9);
  });

  it('of a URL that is on order exits 9, unless --again', async () => {
    const { user, order, service } = await orderingAccount();
    await order(audio('a'), audio('b'));
    const { code, stderr } = await user.run([
      ...['api', 'POST', '/order_url', `url=${audio('c')}`, `url=${audio('b')}?utm_source=x`, 'sku=TRANS2'],
      '--json',
    ]);
    expect(code).toBe(9);
    expect(jsonError(stderr)).toMatchObject({
      reason: 'ordered',
      order: 'o1',
      audiofiles: ['2'],
      attempt: 1,
    });
    expect(service.got).toHaveLength(1);
    expect((await user.run([...line, '--again'])).code).toBe(0);
  });

  it.each([
    ['a status that says nothing', { status: 502, body: 'bad gateway' }, ''],
    ['an answer that names no order', { body: { message: 'thanks' } }, 'thanks'],
    ['no JSON', { body: 'thanks' }, ''],
  ])('answered with %s exits 11, and holds the URL', async (_, answer: Answer, printed) => {
    const { user, service, order } = await orderingAccount();
    service.on('POST /order_url', answer);
    const { code, stdout, stderr } = await user.run(line);
    expect(code, stderr).toBe(11);
    expect(stdout).toContain(printed);
    expect(queryLedger(user, 'SELECT status FROM purchases')).toEqual([{ status: 'uncertain' }]);
    for (const again of [await order(audio('a')), await user.run(line)])
      expect([again.code, again.stderr]).toEqual([9, expect.stringContaining('may have gone through')]);
  });

  it('accepted without a file for each URL exits 11 and says how to name them', async () => {
    const { user, service } = await orderingAccount();
    service.on('POST /order_url', { body: { order: 'o1', audiofiles: [1], message: 'ok' } });
    const { code, stderr } = await user.run([...line, `url=${audio('b')}`]);
    expect([code, stderr]).toEqual([
      11,
      expect.stringContaining('steno attempts settle 1 --placed o1 --file <id>'),
    ]);
  });

  it('as a test holds nothing', async () => {
    const { user } = await orderingAccount();
    for (const _ of [1, 2]) expect((await user.run([...line, 'test=true'])).code).toBe(0);
    expect(queryLedger(user, 'SELECT test FROM purchases')).toEqual([{ test: 1 }, { test: 1 }]);
    expect((await user.run(line)).code).toBe(0);
  });
});

describe('the duplicates of order, for programs', () => {
  it('name the order, the files and the attempt', async () => {
    const { order } = await orderingAccount();
    await order(audio('a'), audio('b'));
    const { code, stderr } = await order(audio('a'), audio('b'), '--json');
    expect(code).toBe(9);
    expect(jsonError(stderr)).toMatchObject({
      ...{ reason: 'ordered', order: 'o1', audiofiles: ['1', '2'], attempt: 1 },
    });
  });

  it('say what is unclear, without an order', async () => {
    const { order, service } = await orderingAccount();
    service.on('POST /order_url', unclear);
    await order(audio('a'));
    const { stderr } = await order(audio('a'), '--json');
    expect(jsonError(stderr)).toMatchObject({ reason: 'unclear', order: null, audiofiles: [], attempt: 1 });
  });

  it('stand at each row of a list, and at its end', async () => {
    const { user, service, order } = await orderingAccount();
    service.on('POST /order_url', unclear);
    await order(audio('a'));
    const line = ['order', '--from', '-', '--sku', 'TRANS14', '--json'];
    const { code, stderr } = await user.run(line, { stdin: `${audio('a')}\n` });
    expect(code).toBe(9);
    expect(jsonError(stderr)).toMatchObject({
      ...{ reason: 'unclear', attempt: 1, failures: [{ reason: 'unclear', attempt: 1 }] },
    });
  });
});

describe('a test', () => {
  it.each([
    ['upgrade', ['upgrade', '100', '--sku', 'TSTMP1', '--test']],
    ['refund', ['refund', '100', '--yes', '--test']],
    ['api', ['api', 'POST', '/audiofile/100/refund', 'test=true']],
  ])('%s is kept as one, and changes no file', async (name, line) => {
    const { user, service } = await ordered();
    const call = name === 'upgrade' ? 'upgrade' : 'refund';
    service.on(`POST /audiofile/100/${call}`, unclear, fine);
    expect((await user.run(line)).code).toBe(11);
    expect((await user.run(line)).code).toBe(0);
    expect(queryLedger(user, 'SELECT test, status FROM purchases WHERE number > 1 ORDER BY number')).toEqual([
      { test: 1, status: 'uncertain' },
      { test: 1, status: 'placed' },
    ]);
    expect(JSON.parse((await user.run(['attempts', '--json'])).stdout)).toEqual([]);
  });
});

describe('without the ledger', () => {
  const upgrade = ['upgrade', '1', '--sku', 'TSTMP1', '--no-ledger'];

  it.skipIf(isShared)('an upgrade is sent, and nothing is kept', async () => {
    const { user, service } = await ordered();
    service.on('POST /audiofile/1/upgrade', fine);
    expect((await user.run(upgrade)).code).toBe(0);
    expect(kept(user)).toEqual([]);
  });

  it.each([
    ['upgrade', upgrade],
    ['refund', ['refund', '1', '--yes', '--no-ledger']],
    ['api', ['api', 'POST', '/audiofile/1/refund', '--no-ledger']],
  ])(
    '%s is refused where a shared one is set, unless --again; one out of reach is exit 7',
    async (name, line) => {
      const { user, service } = await orderingAccount({
        STENO_LEDGER: `postgres://steno@${new URL(await deadAddress()).host}/steno?sslmode=disable&connect_timeout=1`,
      });
      const { code, stderr } = await user.run(line);
      expect([code, stderr]).toEqual([2, expect.stringContaining('--no-ledger would hide')]);
      expect((await user.run(line.filter((word) => word !== '--no-ledger'))).code).toBe(7);
      expect(service.got).toEqual([]);
      service.on(`POST /audiofile/1/${name === 'upgrade' ? 'upgrade' : 'refund'}`, fine);
      expect((await user.run([...line, '--again'])).code).toBe(0);
    },
  );

  it('under a budget nothing that costs money is sent', async () => {
    const { user, service } = await ordered();
    setAll(user, { budget: '100/month' });
    const raw = ['api', 'POST', '/order_url', `url=${audio('b')}`, 'sku=TRANS14', '--no-ledger', '--again'];
    for (const line of [[...upgrade, '--again'], raw]) {
      const { code, stderr } = await user.run(line);
      expect([code, stderr]).toEqual([2, expect.stringContaining('--no-ledger')]);
    }
    service.on('POST /audiofile/1/refund', fine);
    expect((await user.run(['refund', '1', '--yes', '--no-ledger', '--again'])).code).toBe(0);
  });

  it('nor under a budget that the ledger itself has', async () => {
    const { user, order } = await ordered();
    queryLedger(user, "INSERT INTO budgets (profile, budget) VALUES ('default', '100/month')");
    for (const { code, stderr } of [
      await user.run([...upgrade, '--again']),
      await order(audio('b'), '--no-ledger', '--again'),
    ])
      expect([code, stderr]).toEqual([2, expect.stringContaining('steno budget unset')]);
  });
});

describe('under a budget', () => {
  it('upgrades and raw calls count, and one that is too much is not sent', async () => {
    const { user, service } = await ordered();
    service.on('GET /audiofile/1', {
      body: { audiofile: { id: 1, statename: 'Transcribing', duration: '10' } },
    });
    await user.run(['file', '1']);
    queryLedger(user, 'UPDATE purchase_items SET estimate = 0');
    setAll(user, { budget: '8/month', 'price.TSTMP1': '0.50', 'price.CAPTION1': '0.50' });
    service.on('POST /audiofile/1/upgrade', fine);
    expect((await user.run(['upgrade', '1', '--sku', 'TSTMP1'])).code).toBe(0);
    for (const line of [
      ['upgrade', '1', '--sku', 'CAPTION1'],
      ['api', 'POST', '/audiofile/1/upgrade', 'sku=CAPTION1'],
      ['api', 'POST', '/order_url', `url=${audio('c')}`, 'sku=TRANS14'],
    ]) {
      const { code, stderr } = await user.run(line);
      expect([code, stderr]).toEqual([2, expect.stringContaining('the budget of')]);
    }
    expect(queryLedger(user, 'SELECT sum(estimate) AS sum FROM purchase_items')).toEqual([
      { sum: 5_000_000 },
    ]);
  });
});
