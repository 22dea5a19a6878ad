import { expect, it } from 'vitest';
import { account } from '../support/account.ts';

it.each([
  ['25', '25.00 USD'],
  ['"25.5"', '25.50 USD'],
  ['"$1,234.50"', '1234.50 USD'],
  ['0.125', '0.125 USD'],
  ['12345678901234567890.10', '12345678901234567890.10 USD'],
  ['"12 points"', '12 points'],
])('a balance of %s is %s for people, and as it came for scripts', async (sent, shown) => {
  const { service, user } = await account();
  service.on('GET /prepay_balance', { body: `{"balance":${sent}}` });
  const plain = sent.replaceAll('"', '');
  const [people, rows, quiet, json] = [
    await user.onTerminal('steno balance'),
    await user.run(['balance']),
    await user.run(['balance', '--quiet']),
    await user.run(['balance', '--json']),
  ];
  expect(people.stdout.split('\r\n').some((line) => line.trim() === shown)).toBe(true);
  expect([rows.stdout, quiet.stdout]).toEqual([`${plain}\n`, `${plain}\n`]);
  const dense = json.stdout.replaceAll(/\s/g, '');
  expect(dense).toMatch(/^\{"balance":(-?[\d.]+|null),"currency":("[A-Z]{3}"|null),/);
  expect(dense).toContain(`"answer":{"balance":${sent.replaceAll(/\s/g, '')}}}`);
});
