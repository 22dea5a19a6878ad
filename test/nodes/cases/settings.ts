import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { SANDBOX_KEY } from '../../../src/sandbox/server.ts';
import { modeOf } from '../../support/files.ts';
import type { NodeUnderTest } from '../node-user.ts';

export function settings(node: NodeUnderTest): void {
  const newcomer = () => node.newcomer({ STENO_BASE_URL: node.baseUrl });

  it('exits 3 without a key, and says how to set one', async () => {
    const { stderr } = await newcomer().exits(3, 'balance');
    expect(stderr).toMatch(/^steno: no API key is set\nhint: .*steno login/);
  });

  it('keeps the key of login where only its user can read it, and shows it masked', async () => {
    const user = newcomer();
    await user.ok('login', { stdin: `${SANDBOX_KEY}\n` });
    const path = (await user.ok('config path')).stdout.trim();
    expect([modeOf(path), modeOf(dirname(path))]).toEqual(['600', '700']);
    expect((await user.ok('whoami')).stdout).toMatch(/^api-key\t\*{4}-key\t/m);
    expect((await user.ok('balance --quiet')).stdout).toMatch(/^\d+\.\d\d\n$/);
  });

  it('forgets the key with logout', async () => {
    const user = newcomer();
    await user.ok('login', { stdin: `${SANDBOX_KEY}\n` });
    await user.ok('logout');
    await user.exits(3, 'balance');
    const path = (await user.ok('config path')).stdout.trim();
    expect(readFileSync(path, 'utf8')).not.toContain(SANDBOX_KEY);
  });

  it('keeps nothing of a login that the service refuses', async () => {
    const user = newcomer();
    await user.exits(3, 'login', { stdin: 'a-wrong-key\n' });
    await user.exits(3, 'balance');
  });

  it('takes the key from a command', async () => {
    const user = newcomer();
    await user.run(['login', '--api-key-command', `printf %s ${SANDBOX_KEY}`]);
    expect((await user.ok('balance --quiet')).stdout).toMatch(/^\d+\.\d\d\n$/);
  });

  it('sets, shows and removes a setting', async () => {
    const user = node.newUser();
    await user.ok('config set timeout 45s');
    expect((await user.ok('config get timeout')).stdout).toBe('45s\n');
    expect((await user.ok('config list')).stdout).toMatch(/^timeout\t45s\t/m);
    await user.ok('config unset timeout');
    expect((await user.ok('config list')).stdout).toMatch(/^timeout\t\tnot set/m);
  });

  it('keeps the settings of profiles apart', async () => {
    const user = newcomer();
    await user.ok('login --profile work', { stdin: `${SANDBOX_KEY}\n` });
    await user.ok('balance --profile work');
    await user.exits(3, 'balance');
  });

  it('exits 3 where the service refuses the key', async () => {
    const { stderr } = await node.newcomer().exits(3, `balance --base-url ${node.baseUrl} --api-key wrong`);
    expect(stderr).toMatch(/^steno: .*HTTP 401/m);
  });
}
