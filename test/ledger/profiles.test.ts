/** Profiles of one machine: names that differ only in case. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../support/ledger.ts';
import type { Result } from '../support/steno.ts';

const local = (): Promise<OrderingAccount> => orderingAccount({ STENO_LEDGER: undefined });

describe('names of profiles that differ only in case', () => {
  it('are one profile, with one set of settings and of orders', async () => {
    const { user, service } = await local();
    await user.run(['config', 'set', 'timeout', '31', '--profile', 'Acme']);
    const timeout = await user.run(['config', 'get', 'timeout', '--profile', 'aCME']);
    expect(timeout.stdout).toBe('31\n');
    const order = (profile: string): Promise<Result> =>
      user.run(['order', audio('x'), '--sku', 'TRANS14', '--profile', profile]);
    expect((await order('Acme')).code).toBe(0);
    for (const name of ['acme', 'ACME']) expect((await order(name)).code).toBe(9);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    expect(queryLedger(user, 'SELECT DISTINCT profile FROM files')).toEqual([{ profile: 'acme' }]);
    const completed = await user.run(['__complete', 'audiofile'], { env: { STENO_PROFILE: 'ACME' } });
    expect(completed.stdout).toContain('1\t');
  });

  it('are refused in a config file that has both', async () => {
    const { user } = await local();
    const folder = user.env.STENO_CONFIG_DIR ?? '';
    mkdirSync(folder, { mode: 0o700 });
    const text = JSON.stringify({ profiles: { acme: { timeout: '1' }, Acme: { timeout: '2' } } });
    writeFileSync(join(folder, 'config.json'), text, { mode: 0o600 });
    const { code, stderr } = await user.run(['whoami', '--profile', 'acme']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/several profiles 'acme'.*\nhint: edit it or move it away; it was not changed/),
    ]);
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe(text);
  });

  it('mean the sandbox in any case', async () => {
    const { user, service } = await local();
    const { code } = await user.run(['order', audio('x'), '--sku', 'TRANS14', '--profile', 'Sandbox']);
    expect([code, service.got]).toEqual([0, []]);
  });

  it('are one account for an import', async () => {
    const { user, order } = await local();
    await order(audio('x'));
    const { stdout } = await user.run(['ledger', 'export']);
    const other = await local();
    const imported = await other.user.run(['ledger', 'import', '-', '--as', 'DEFAULT'], { stdin: stdout });
    expect([imported.code, imported.stderr]).toEqual([0, '']);
    expect((await other.order(audio('x'))).code).toBe(9);
  });
});
