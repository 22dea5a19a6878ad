/** `upgrade` and `refund` of several files: each a purchase of its own, sent at most once, and none hidden by another. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { jsonError } from '../../support/account.ts';
import { finishing } from '../../support/interrupt.ts';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import type { Answer } from '../../support/server.ts';
import { setAll } from '../../support/settings.ts';
import { finished, type User } from '../../support/steno.ts';
import { isShared } from '../../support/store.ts';
import { until } from '../../support/until.ts';

const fine: Answer = { body: { message: 'done' } };
const unclear: Answer = { status: 500, body: { message: 'oops' } };
const refused: Answer = { status: 409, body: { message: 'not in this state' } };

/** An account with files 1, 2 and 3 on order. */
async function ordered(): Promise<OrderingAccount> {
  const account = await orderingAccount();
  expect((await account.order(audio('a'), audio('b'), audio('c'))).code).toBe(0);
  return account;
}

/** What became of each change, by file, in the order of their writing. */
const kept = (user: User): string[] =>
  queryLedger<{ file: string; status: string }>(
    user,
    `SELECT file, status FROM purchases JOIN purchase_items ON purchase_items.purchase = purchases.id
     WHERE kind <> 'order' ORDER BY number`,
  ).map(({ file, status }) => `${file} ${status}`);

const changes = [
  { kind: 'upgrade', flags: ['--sku', 'TSTMP1'], done: 'upgraded' },
  { kind: 'refund', flags: ['--yes'], done: 'refunded' },
] as const;

describe.each(changes)('$kind of several files', ({ kind, flags, done }) => {
  const line = (...ids: string[]): string[] => [kind, ...ids, ...flags];
  const route = (id: number): string => `POST /audiofile/${id}/${kind}`;

  it("sends nothing where an id is an order's", async () => {
    const { user, service } = await ordered();
    const before = service.got.length;
    const { code, stdout, stderr } = await user.run(line('1', 'o1'));
    expect([code, stdout, stderr]).toEqual([
      ...[2, ''],
      'steno: o1 is an order, not a file\nhint: list its files: steno files --order o1\n',
    ]);
    expect([service.got.length, kept(user)]).toEqual([before, []]);
  });
  const sent = ({ service }: OrderingAccount): string[] =>
    service.got.flatMap(({ path }) => new RegExp(`^/audiofile/(\\d+)/${kind}$`).exec(path)?.[1] ?? []);

  it.each([
    ['JSON', '[{"audiofile":"1"}]', 'line 1'],
    ['indented JSON', '[\n  {\n    "audiofile": "1"\n  }\n]', 'line 1'],
    ['CSV', '1\n2,Talk', 'line 2'],
    ['a sentence', '1\nfile 2', 'line 2'],
  ])('takes no id from %s, and sends nothing', async (_, text, where) => {
    const account = await ordered();
    for (const id of [1, 2, 3]) account.service.never(route(id), fine);
    writeFileSync(join(account.user.home, 'ids'), text);
    const { code, stderr } = await account.user.run([...line(), '--from', 'ids']);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain(where);
    expect(kept(account.user)).toEqual([]);
  });

  it('ends at one without a clear answer, and names what was not sent: exit 11', async () => {
    const account = await ordered();
    const { service, user } = account;
    service.on(route(1), fine);
    service.on(route(2), unclear);
    service.never(route(3), fine);
    const { code, stdout, stderr } = await user.run([...line('1', '2', '3'), '--json']);
    expect(code, stderr).toBe(11);
    expect(JSON.parse(stdout)).toMatchObject([
      { audiofile: '1', message: 'done' },
      { audiofile: '2', error: { code: 'uncertain', status: 500 } },
      { audiofile: '3', error: { code: 'failed', message: expect.stringContaining('it was not sent') } },
    ]);
    const error = jsonError(stderr);
    expect(error).toMatchObject({
      ...{ code: 'uncertain', hint: expect.stringContaining('steno attempts') },
      failures: [
        { what: '2' },
        { what: 'not sent', message: expect.stringMatching(/^audiofile 3, because/) },
      ],
    });
    expect(kept(user)).toEqual(['1 placed', '2 uncertain']);
    // The unclear one holds up itself alone.
    service.on(route(3), fine);
    const rest = await user.run([...line('2', '3'), '--quiet']);
    expect([rest.code, rest.stdout], rest.stderr).toEqual([10, '3\n']);
    expect(rest.stderr).toContain('may have gone through');
    expect((await user.run(line('2', '2', '2'))).code).toBe(9);
    expect(sent(account)).toEqual(['1', '2', '3']);
  });

  it('goes on after a clear refusal, and lists it: exit 10', async () => {
    const { service, user } = await ordered();
    service.on(route(1), fine);
    service.on(route(2), refused);
    service.on(route(3), fine);
    const { code, stdout, stderr } = await user.run(line('1', '2', '3'));
    expect([code, stdout]).toEqual([10, '1\tdone\n3\tdone\n']);
    expect(stderr).toMatch(/^steno: 2: [^\n]*not in this state[^\n]*\nsteno: 1 of 3 failed\n/);
    expect(kept(user)).toEqual(['1 placed', '2 refused', '3 placed']);
  });

  it('refused for each exits with what refused them', async () => {
    const { service, user } = await ordered();
    for (const id of [1, 2]) service.on(route(id), refused);
    expect((await user.run(line('1', '2'))).code).toBe(1);
  });

  it('ends at once with a wrong key', async () => {
    const account = await ordered();
    const { service, user } = account;
    service.on(route(1), { status: 401, body: { message: 'no such key' } });
    const { code, stderr } = await user.run(line('1', '2', '3'));
    expect([code, stderr]).toEqual([3, expect.stringContaining('not sent: audiofile 2, 3, because')]);
    expect(sent(account)).toEqual(['1']);
    expect(kept(user)).toEqual(['1 refused']);
  });

  it('waits where the service has too much to do, and ends where it asks for long', async () => {
    const account = await ordered();
    const { service, user } = account;
    service.on(route(1), { status: 503, headers: { 'retry-after': '1' } });
    service.on(route(2), { status: 429, headers: { 'retry-after': '3600' } });
    const { code, stderr } = await user.run(line('1', '2', '3'));
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining('not sent: audiofile 3, because the service asks to wait 1h'),
    ]);
    const [first, second] = service.got.slice(-2).map(({ at }) => at) as [number, number];
    expect(second - first).toBeGreaterThanOrEqual(990);
  });

  it('stops between two at Ctrl-C, and says what was sent', async () => {
    const account = await ordered();
    const { service, user } = account;
    let answer = (): void => {};
    service.on(route(1), fine);
    service.on(route(2), (_, response) => {
      answer = () => void response.end(JSON.stringify({ message: 'done' }));
    });
    const child = user.start(line('1', '2', '3'));
    const end = finished(child);
    child.stdin.end();
    await until(() => sent(account).length === 2, 'the second');
    const said = finishing(child);
    child.kill('SIGINT');
    await said;
    answer();
    const { code, stdout, stderr } = await end;
    expect([code, stdout]).toEqual([130, '1\tdone\n2\tdone\n']);
    expect(stderr).toContain(
      `steno: not sent: audiofile 3, because the command was interrupted; run this again with only this id\nsteno: interrupted: ${done}: audiofile 1, 2\n`,
    );
    expect(kept(user)).toEqual(['1 placed', '2 placed']);
  });

  it('killed at the second: the first is known, the second unclear, the third free', async () => {
    const account = await ordered();
    const { service, user } = account;
    service.on(route(1), fine);
    service.on(route(2), () => {});
    service.on(route(3), fine);
    const child = user.start(line('1', '2', '3'));
    const end = finished(child);
    child.stdin.end();
    await until(() => sent(account).length === 2, 'the second');
    child.kill('SIGKILL');
    await end;
    expect(kept(user)).toEqual(['1 placed', '2 sending']);
    // Only its silence tells other machines that it is gone.
    if (isShared)
      queryLedger(
        user,
        "UPDATE purchases SET host = 'elsewhere', seen_at = '2026-01-01T00:00:00.000Z' WHERE status = 'sending'",
      );
    const { code, stderr } = await user.run(line('2', '3'));
    expect([code, stderr]).toEqual([10, expect.stringContaining('was started but has no outcome')]);
    expect(sent(account)).toEqual(['1', '2', '3']);
  });

  it('takes a list, and each id once', async () => {
    const account = await ordered();
    const { service, user } = account;
    for (const id of [1, 2, 3]) service.on(route(id), fine);
    const list = join(user.home, 'ids.txt');
    writeFileSync(list, '# mine\r\n2\tDelivered\tTalk 2\r\n\r\n3\n1\n');
    const { code, stdout, stderr } = await user.run([...line('1', '--from', list), '--quiet']);
    expect([code, stdout], stderr).toEqual([0, '1\n2\n3\n']);
    expect(sent(account)).toEqual(['1', '2', '3']);
    const { stdout: ids } = await user.run(['files', '--quiet']);
    const again = await user.run([...line('--from', '-'), '--json'], { stdin: ids });
    expect(JSON.parse(again.stdout)).toHaveLength(3);
  });

  it('has the JSON of the line, whatever the list holds', async () => {
    const { service, user } = await ordered();
    service.on(route(1), fine);
    const json = async (args: string[], stdin?: string): Promise<unknown> =>
      JSON.parse((await user.run([...args, '--json'], stdin === undefined ? {} : { stdin })).stdout);
    expect(await json(line('1'))).toMatchObject({ audiofile: '1', order: 'o1', answer: { message: 'done' } });
    expect(await json(line('1', '1'))).toMatchObject([{ audiofile: '1' }]);
    expect(await json(line('--from', '-'), '1\n')).toMatchObject([{ audiofile: '1' }]);
    expect(await json(line('--from', '-'), '')).toEqual([]);
  });

  it.each([
    ['no id', [], 'requires an id or --from'],
    ['an id that is none', ['1', 'a/../b'], 'a/../b'],
    ['a test of others', ['100', '1', '--test'], 'only with audiofiles 100 and 101'],
  ])('with %s sends nothing: exit 2', async (_, ids, message) => {
    const account = await ordered();
    const { code, stderr } = await account.user.run(line(...ids));
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(sent(account)).toEqual([]);
  });

  it('asks once on a terminal', async () => {
    const account = await ordered();
    const { service, user } = account;
    const typed = `steno ${kind} 1 2 ${kind === 'upgrade' ? '--sku TSTMP1' : ''}`;
    const no = await user.onTerminal(typed, { stdin: 'n\r' });
    expect([no.code, sent(account)]).toEqual([1, []]);
    expect(no.stdout).toContain('2 files (audiofile 1, 2)');
    for (const id of [1, 2]) service.on(route(id), fine);
    expect((await user.onTerminal(typed, { stdin: 'y\r' })).code).toBe(0);
    expect((await user.onTerminal(`${typed} --yes`)).code).toBe(0);
    expect(sent(account)).toEqual(['1', '2', '1', '2']);
  });
});

describe('a list without a terminal', () => {
  it('is refunded only with --yes', async () => {
    const { user, service } = await ordered();
    const { code, stderr } = await user.run(['refund', '--from', '-'], { stdin: '1\n2\n' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('steno refund --from - --yes')]);
    expect(service.got).toHaveLength(1);
  });
});

describe('upgrades under a budget', () => {
  const upgrade = ['upgrade', '1', '2', '3', '--sku', 'TSTMP1'];

  /** Each upgrade is estimated at 5.00. */
  async function priced(budget: string): Promise<OrderingAccount> {
    const account = await ordered();
    const { user, service } = account;
    for (const id of [1, 2, 3])
      service.on(`GET /audiofile/${id}`, {
        body: { audiofile: { id, statename: 'Transcribing', duration: '10' } },
      });
    await user.run(['file', '1', '2', '3']);
    queryLedger(user, 'UPDATE purchase_items SET estimate = 0');
    setAll(user, { budget, 'price.TSTMP1': '0.50' });
    return account;
  }

  it('that together cost more than is left are not sent', async () => {
    const { user } = await priced('14/month');
    const { code, stderr } = await user.run(upgrade);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('the estimate of 15.00 exceeds what is left'),
    ]);
    expect(kept(user)).toEqual([]);
  });

  it('that another process leaves too little for end there', async () => {
    const { user, service } = await priced('15/month');
    service.on('POST /audiofile/1/upgrade', (_, response) => {
      queryLedger(user, "UPDATE purchase_items SET estimate = 4000000 WHERE file = '3'");
      response.end(JSON.stringify({ message: 'done' }));
    });
    service.on('POST /audiofile/2/upgrade', fine);
    const { code, stderr } = await user.run(upgrade);
    expect([code, stderr]).toEqual([10, expect.stringContaining('exceeds what is left of the budget')]);
    expect(kept(user)).toEqual(['1 placed', '2 placed']);
  });

  it('are asked about with their cost and what is left', async () => {
    const { user, service } = await priced('20/month');
    for (const id of [1, 2, 3]) service.on(`POST /audiofile/${id}/upgrade`, fine);
    const { code, stdout } = await user.onTerminal(`steno ${upgrade.join(' ')}`, {
      stdin: 'y\r',
      columns: 200,
    });
    expect(stdout).toContain(
      'Upgrade 3 files (audiofile 1, 2, 3) with TSTMP1 (estimated cost 15.00 USD, 20.00 USD left of the budget of 20.00/month)? [y/N]',
    );
    expect(code).toBe(0);
    expect(queryLedger(user, 'SELECT sum(estimate) AS sum FROM purchase_items')).toEqual([
      { sum: 15_000_000 },
    ]);
  });
});
