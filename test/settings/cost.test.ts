/** The settings of money: price.<SKU>, budget and currency, and the upload command. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { User } from '../support/steno.ts';

async function config(user: User, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await user.run(['config', ...args]);
  expect(code, stderr).toBe(0);
  return stdout;
}

describe('price.<SKU>', () => {
  it('is set, read, listed and removed, each SKU by itself', async () => {
    const user = new User();
    await config(user, 'set', 'price.TRANS14', '0.86');
    await config(user, 'set', 'price.TSTMP1', '0.25 EUR');
    expect(await config(user, 'get', 'price.TRANS14')).toBe('0.86\n');
    expect(JSON.parse(await config(user, 'get', 'price.TSTMP1', '--json'))).toEqual({
      setting: 'price.TSTMP1',
      value: '0.25 EUR',
      source: 'profile default',
    });
    const prices = async (): Promise<string[]> =>
      (await config(user, 'list')).split('\n').filter((line) => line.startsWith('price.'));
    expect(await prices()).toEqual([
      'price.TRANS14\t0.86\tprofile default',
      'price.TSTMP1\t0.25 EUR\tprofile default',
    ]);
    await config(user, 'unset', 'price.TRANS14');
    expect(await prices()).toEqual(['price.TSTMP1\t0.25 EUR\tprofile default']);
    const gone = await user.run(['config', 'get', 'price.TRANS14']);
    expect([gone.code, gone.stderr]).toEqual([1, 'steno: price.TRANS14 is not set\n']);
  });

  it('belongs to a profile', async () => {
    const user = new User();
    await config(user, 'set', 'price.TRANS14', '1', '--profile', 'other');
    expect((await user.run(['config', 'get', 'price.TRANS14'])).code).toBe(1);
    expect(await config(user, 'get', 'price.TRANS14', '--profile', 'other')).toBe('1\n');
  });

  it.each(['', '0', '0.00', '-1', 'cheap', '1,5', '1/minute', '1 dollar', '$', 'Infinity'])(
    'is an amount above zero, not %j',
    async (value) => {
      const user = new User();
      const { code, stderr } = await user.run(['config', 'set', 'price.TRANS14', '--', value]);
      expect(code).toBe(2);
      expect(stderr).toBe(
        `steno: the price must be an amount above zero, not '${value}'\nhint: write the price per minute, like 0.86\n`,
      );
      expect((await user.run(['config', 'get', 'price.TRANS14'])).code).toBe(1);
    },
  );

  it.each(['price.', 'price.<SKU>', 'price.A B', 'price.trans14', 'prices.TRANS14'])(
    'names a SKU: %s',
    async (name) => {
      const { code, stderr } = await new User().run(['config', 'set', name, '1']);
      expect(code).toBe(2);
      expect(stderr).toContain(`'${name}'`);
    },
  );

  it('may be of a SKU that the API document does not list', async () => {
    const user = new User();
    await config(user, 'set', 'price.NEW99', '1');
    expect(await config(user, 'get', 'price.NEW99')).toBe('1\n');
  });
});

describe('budget and currency', () => {
  it.each([
    ['budget', '200/month'],
    ['budget', '$50 / week'],
    ['budget', '1,000 EUR/year'],
    ['budget', '0/day'],
    ['currency', 'EUR'],
    ['currency', 'usd'],
  ])('take %s %s', async (name, value) => {
    const user = new User();
    await config(user, 'set', name, value);
    expect(await config(user, 'get', name)).toBe(`${value}\n`);
    await config(user, 'unset', name);
    expect((await user.run(['config', 'get', name])).code).toBe(1);
  });

  it.each([
    ['budget', '200', 'is not a budget'],
    ['budget', '/month', 'is not a budget'],
    ['budget', '200/decade', 'is not a budget'],
    ['budget', '-5/month', 'is not a budget'],
    ['budget', 'much/month', 'is not a budget'],
    ['budget', '', 'is not a budget'],
    ['currency', 'dollars', 'is not a currency'],
    ['currency', '$', 'is not a currency'],
    ['currency', '', 'is not a currency'],
    ['upload-command', ' ', 'the command is empty'],
  ])('refuse %s %j', async (name, value, why) => {
    const { code, stderr } = await new User().run(['config', 'set', name, '--', value]);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
    expect(stderr.match(/^steno: /gm)).toHaveLength(1);
  });

  it.each([
    ['budget', 'much', "'much' is not a budget (budget from profile default)"],
    ['currency', 'dollars', "'dollars' is not a currency (currency from profile default)"],
    [
      'price.TRANS14',
      'free',
      "the price must be an amount above zero, not 'free' (price.TRANS14 from profile default)",
    ],
  ])('that were spoilt by hand stop an order: %s', async (name, value, why) => {
    const user = new User({ STENO_API_KEY: 'key-of-the-user', STENO_BASE_URL: 'http://127.0.0.1:9/API4' });
    mkdirSync(join(user.home, 'config'));
    const text = JSON.stringify({ profiles: { default: { [name]: value } } });
    writeFileSync(join(user.home, 'config', 'config.json'), text, { mode: 0o600 });
    const { code, stderr } = await user.run(['order', 'https://e.org/a.mp3', '--sku', 'TRANS14']);
    expect([code, stderr.split('\n')[0]]).toEqual([2, `steno: ${why}`]);
  });
});

describe('upload-command', () => {
  it('is shown as a whole by get, and by its first word in a list: people write secrets into it', async () => {
    const user = new User();
    const command =
      'curl -u me:secret -T "$1" https://h.example/ >&2 && echo "https://h.example/$(basename "$1")"';
    await config(user, 'set', 'upload-command', command);
    expect(await config(user, 'get', 'upload-command')).toBe(`${command}\n`);
    const listed = await config(user, 'list');
    expect(listed).toContain('upload-command\tcurl …\tprofile default\n');
    expect(listed).not.toContain('secret');
  });
});
