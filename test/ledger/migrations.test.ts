/** What a later version adds to the tables of a local ledger; `stores/versions.test.ts` has the shared one. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { migrations } from '../../src/ledger/stores/schema.ts';
import { openDatabase } from '../../src/lib/sqlite.ts';
import { audio, ledgerOf, type OrderingAccount, orderingAccount, queryLedger } from '../support/ledger.ts';

const more = { name: '002-more', sql: "ALTER TABLE files ADD COLUMN more TEXT NOT NULL DEFAULT 'none'" };

async function used(): Promise<OrderingAccount & { readonly path: string }> {
  const account = await orderingAccount({ STENO_LEDGER: undefined });
  expect((await account.order(audio('a'))).code).toBe(0);
  return { ...account, path: ledgerOf(account.user) };
}

const namesIn = async (path: string, known = migrations): Promise<unknown[]> => {
  const db = await openDatabase(path, known);
  const names = db.all<{ name: string }>('SELECT name FROM migrations ORDER BY name');
  db.close();
  return names.map(({ name }) => name);
};

describe('a migration that a later version adds', () => {
  it('is made when the ledger is opened, once, and what was ordered stays', async () => {
    const { path, user } = await used();
    expect(await namesIn(path)).toEqual(['001-facts']);
    for (let n = 0; n < 2; n += 1)
      expect(await namesIn(path, [...migrations, more])).toEqual(['001-facts', '002-more']);
    expect(queryLedger(user, 'SELECT id, more FROM files')).toEqual([{ id: '1', more: 'none' }]);
    expect(queryLedger(user, 'SELECT count(*) AS n FROM item_names WHERE holds = 1')).toEqual([{ n: 1 }]);
  });

  it('is made once by several that open the ledger at the same time', async () => {
    const { path } = await used();
    const names = await Promise.all(Array.from({ length: 5 }, () => namesIn(path, [...migrations, more])));
    expect(names).toEqual(names.map(() => ['001-facts', '002-more']));
  });

  it('leaves the ledger as it was where it fails, and the version before goes on with it', async () => {
    const { path, order, user } = await used();
    const broken = { name: '003-broken', sql: 'CREATE TABLE extra (id TEXT); NONSENSE' };
    await expect(openDatabase(path, [...migrations, more, broken])).rejects.toMatchObject({ kind: 'failed' });
    expect(await namesIn(path)).toEqual(['001-facts']);
    expect((await order(audio('a'))).code).toBe(9);
    expect((await order(audio('b'))).code).toBe(0);
    expect((await user.run(['files', '--quiet'])).stdout).toBe('2\n1\n');
  });

  it('is in a new ledger from the start', async () => {
    const { user } = await orderingAccount({ STENO_LEDGER: undefined });
    expect(await namesIn(ledgerOf(user), [...migrations, more])).toEqual(['001-facts', '002-more']);
  });
});

describe('a ledger of an earlier build', () => {
  it('is refused by name, with a way out, and left as it is', async () => {
    const { path, user, order } = await used();
    queryLedger(user, "UPDATE migrations SET name = '001-ledger'");
    const before = readFileSync(path);
    for (const result of [await order(audio('b')), await user.run(['files'])])
      expect([result.code, result.stderr]).toEqual([
        1,
        expect.stringMatching(/ledger\.db was written by an earlier build of steno.*\nhint: put it aside/),
      ]);
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
