import { expect, it } from 'vitest';
import { account } from '../support/account.ts';

it('a refund that is only tried is hinted at as such', async () => {
  const { user } = await account();
  expect((await user.run(['refund', '101', '--test'])).stderr).toContain('steno refund 101 --test --yes');
});
