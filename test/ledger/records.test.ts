/** Records of one account from two machines, or from two names of it, as the program brings them together. */
import { describe, expect, it } from 'vitest';
import { audio, orderingAccount, queryLedger } from '../support/ledger.ts';
import { KEY, User } from '../support/steno.ts';

const exportOf = async (user: User, env = {}): Promise<string> =>
  (await user.run(['ledger', 'export'], { env })).stdout;

const importTo = (user: User, text: string, ...args: string[]) =>
  user.run(['ledger', 'import', '-', '--json', ...args], { stdin: text });

/** Two machines that know of the same order without a clear answer. */
async function twoMachines() {
  const { service, user, order } = await orderingAccount();
  service.on('POST /order_url', { status: 500, body: {} });
  expect((await order(audio('a'))).code).toBe(11);
  const other = new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl });
  expect((await importTo(other, await exportOf(user))).code).toBe(0);
  return { service, user, other };
}

const orderAgain = (user: User) => user.run(['order', audio('a'), '--sku', 'TRANS14']);

describe('records that meet', () => {
  it('leave an order placed that was settled as not placed elsewhere, also later', async () => {
    const { service, user, other } = await twoMachines();
    expect((await user.run(['attempts', 'settle', '1', '--placed', 'o1'])).code).toBe(0);
    expect((await other.run(['attempts', 'settle', '1', '--not-placed'])).code).toBe(0);
    expect((await importTo(user, await exportOf(other))).code).toBe(0);
    expect((await importTo(other, await exportOf(user))).code).toBe(0);
    for (const each of [user, other]) {
      const { code, stderr } = await orderAgain(each);
      expect([code, stderr]).toEqual([9, expect.stringContaining('order o1')]);
    }
    expect(service.calls('POST /order_url')).toHaveLength(1);
    expect(await exportOf(other)).toBe(await exportOf(user));
  }, 90_000);

  it('move together where they are those of another profile', async () => {
    const { service, user, order } = await orderingAccount();
    await order(audio('a'));
    service.on('POST /order_url', { status: 500, body: {} });
    expect((await order(audio('b'))).code).toBe(11);
    const lines = await exportOf(user);
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl };
    const other = new User({ ...env, ...(user.env.STENO_LEDGER ? { STENO_ACCOUNT: 'work' } : {}) });
    const work = user.env.STENO_LEDGER ? [] : ['--profile', 'work'];
    await other.run(['--profile', 'work', 'config', 'set', 'base-url', service.baseUrl]);
    const first = await other.run([...work, 'ledger', 'import', '-'], { stdin: lines });
    expect(first.stderr).toContain('--as work');
    const second = await other.run([...work, 'ledger', 'import', '-', '--as', 'work'], { stdin: lines });
    expect([second.code, second.stderr]).toEqual([0, '']);
    for (const table of ['purchases', 'purchase_items', 'item_names', 'files'])
      expect(queryLedger(other, `SELECT DISTINCT profile FROM ${table}`), table).toEqual([
        { profile: 'work' },
      ]);
    const sent = service.calls('POST /order_url').length;
    const unclear = await other.run([...work, 'order', audio('b'), '--sku', 'TRANS14']);
    expect(unclear.code).toBe(9);
    const [, n = ''] = /attempts? (?:settle )?(\d+)/.exec(unclear.stderr) ?? [];
    const shown = JSON.parse((await other.run([...work, 'attempts', '--json'])).stdout);
    expect(shown).toMatchObject([{ attempt: Number(n || 2), urls: [audio('b')] }]);
    expect((await other.run([...work, 'order', audio('a'), '--sku', 'TRANS14'])).code).toBe(9);
    expect(service.calls('POST /order_url')).toHaveLength(sent);
    // Without its name they would fall apart.
    const back = await other.run([...work, 'ledger', 'import', '-'], { stdin: lines });
    expect([back.code, back.stderr]).toEqual([
      2,
      expect.stringMatching(/belong to 'work' in this ledger\nhint: .*--as work; nothing was imported/),
    ]);
  }, 90_000);
});
