/** What the command line makes of words that name no command. */
import { expect, it } from 'vitest';
import { User } from '../support/steno.ts';

it('global flags alone show every command', async () => {
  const user = new User();
  const whole = (await user.run([])).stdout;
  for (const flag of ['--json', '--quiet', '--timeout=5s'])
    expect((await user.run([flag])).stdout).toBe(whole);
});

it('help on what is not there is a mistake', async () => {
  const { code, stderr } = await new User().run(['help', 'ordr']);
  expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean order?')]);
});
