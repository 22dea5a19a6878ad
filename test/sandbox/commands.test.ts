/** Every command that talks to the service, against the one inside: what a newcomer does on the first day. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formats } from '../../src/catalog/formats.ts';
import { type Result, User } from '../support/steno.ts';

async function ok(user: User, line: string): Promise<Result> {
  const result = await user.run(['--sandbox', ...line.split(' ')]);
  expect([line, result.code, result.stderr]).toEqual([line, 0, expect.any(String)]);
  return result;
}

describe.concurrent('with --sandbox', () => {
  it('a file is ordered, followed, downloaded in all formats and paid for', async () => {
    const user = new User();
    const before = (await ok(user, 'balance --quiet')).stdout.trim();
    const id = (
      await ok(user, 'order https://example.com/talk.mp3 --sku TRANS14 --name Ada --quiet')
    ).stdout.trim();
    expect(id).toMatch(/^\d+$/);
    expect((await ok(user, `file ${id}`)).stdout.split('\t')[0]).toBe(id);
    expect((await ok(user, `upgrade ${id} --sku TSTMP1`)).stdout).toContain(id);
    expect((await ok(user, `wait ${id} --timeout 25s`)).stdout).toContain('\tDelivered\t');
    const exts = formats.map(({ ext }) => ext);
    await ok(user, `transcript ${id} --format ${exts.join(',')} -o all/`);
    expect(readdirSync(join(user.home, 'all')).sort()).toEqual(exts.map((ext) => `${id}.${ext}`).sort());
    expect(readFileSync(join(user.home, 'all', `${id}.txt`), 'utf8')).toContain('Ada');
    expect((await ok(user, `transcript ${id} --deprecated-path -o -`)).stdout).toContain('Ada');
    expect((await ok(user, `transcript ${id} --test --format srt -o -`)).stdout).toMatch(/fake/i);
    const [known] = JSON.parse((await ok(user, 'files --json')).stdout);
    expect(known).toMatchObject({
      audiofile: id,
      state: 'Delivered',
      ended: 'delivered',
      skus: ['TRANS14', 'TSTMP1'],
    });
    const invoice = JSON.parse((await ok(user, `invoice ${known.invoices[0]} --json`)).stdout);
    expect(invoice.items.length).toBeGreaterThan(0);
    expect(Number((await ok(user, 'balance --quiet')).stdout)).toBeLessThan(Number(before));
  });

  it('a refund brings the money back, and only while no work was done', async () => {
    const user = new User();
    const before = (await ok(user, 'balance --quiet')).stdout;
    const id = (await ok(user, 'order https://example.com/slow.mp3 --sku TRANS2 --quiet')).stdout.trim();
    expect((await ok(user, 'balance --quiet')).stdout).not.toBe(before);
    await ok(user, `refund ${id} --yes`);
    expect((await ok(user, 'balance --quiet')).stdout).toBe(before);
    expect((await ok(user, `file ${id} --quiet`)).stdout).toBe('Refunded\n');
    expect((await user.run(['--sandbox', 'refund', id, '--yes'])).code).toBe(1);
  });

  it('sync fetches what is new, once', async () => {
    const user = new User();
    await ok(user, 'order https://example.com/a.mp3 https://example.com/b.mp3 --sku EMSR02');
    await ok(user, 'wait --timeout 25s');
    expect((await ok(user, 'sync --download t --quiet')).stdout.trim().split('\n')).toHaveLength(2);
    expect((await ok(user, 'sync --download t --quiet')).stdout).toBe('');
  });

  it('webhook, raw calls, settings and the test files answer', async () => {
    const user = new User();
    expect((await ok(user, 'webhook get')).stdout).toBe('');
    expect((await ok(user, 'webhook set http://127.0.0.1:9/hook')).stdout).toBe('http://127.0.0.1:9/hook\n');
    expect((await ok(user, 'webhook get')).stdout).toBe('http://127.0.0.1:9/hook\n');
    expect((await ok(user, 'webhook test ORDER_ON_HOLD')).stdout).toBe('http://127.0.0.1:9/hook\n');
    expect(JSON.parse((await ok(user, 'api GET /prepay_balance')).stdout)).toHaveProperty('balance');
    await ok(user, 'upgrade 100 --sku TSTMP1 --test');
    await ok(user, 'refund 101 --test --yes');
    expect((await ok(user, 'order https://example.com/t.mp3 --sku TRANS14 --test --json')).stdout).toContain(
      'test_message',
    );
    expect((await ok(user, 'whoami --csv')).stdout).toContain('api-key,****');
    expect((await ok(user, 'events')).stdout).toBe('');
  });

  it('the profile named sandbox is the same, and leaves no process behind', async () => {
    const user = new User({ STENO_PROFILE: 'sandbox' });
    expect(
      (await user.run(['order', 'https://example.com/p.mp3', '--sku', 'TRANS14', '--quiet'])).stdout,
    ).toBe('1001\n');
    expect((await ok(user, 'file 1001')).stdout).toContain('https://example.com/p.mp3');
  });

  it('the sandbox starts afresh with its ledger', async () => {
    const user = new User({ STENO_PROFILE: 'sandbox' });
    const line = ['order', 'https://e.com/one.mp3', '--sku', 'TRANS14', '--quiet'];
    expect((await user.run(line)).stdout).toBe('1001\n');
    expect((await user.run(line)).code).toBe(9);
    expect((await user.run(['sandbox', 'reset'])).code).toBe(0);
    expect((await user.run(['files'])).stdout).toBe('');
    expect((await user.run(line)).stdout).toBe('1001\n');
  });
});
