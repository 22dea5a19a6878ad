/** The names of accounts fold case: two spellings of one buy nothing twice. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { orderingAccount, queryLedger } from '../support/ledger.ts';

it('profiles whose names differ in case share their orders', async () => {
  const { user, service, order } = await orderingAccount();
  mkdirSync(join(user.home, 'config'), { recursive: true, mode: 0o700 });
  const profiles = { acme: { currency: 'USD' } };
  writeFileSync(join(user.home, 'config', 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
  const url = 'https://e.org/a.mp3';
  expect((await order(url, '--profile', 'acme')).code).toBe(0);
  expect((await order(url, '--profile', 'Acme')).code).toBe(9);
  expect(service.calls('POST /order_url')).toHaveLength(1);
  expect(queryLedger(user, 'SELECT DISTINCT profile FROM purchases')).toEqual([{ profile: 'acme' }]);
});
