import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseCsv } from '../../support/csv.ts';
import type { NodeUnderTest } from '../node-user.ts';

interface Known {
  readonly audiofile: string;
  readonly invoices: string[];
}

export function changes(node: NodeUnderTest): void {
  it('upgrades a file', async () => {
    const id = await node.order('upgraded');
    expect((await node.user.ok(`upgrade ${id} --sku TSTMP1`)).stdout).toContain(`${id}\t`);
  });

  it('refunds a file with --yes alone, where nobody can be asked', async () => {
    // The sandbox within the process leaves more time before the work begins.
    const user = node.newcomer({ STENO_PROFILE: 'sandbox' });
    const id = await node.order('slow-refund', user);
    await user.exits(2, `refund ${id}`);
    await user.ok(`refund ${id} --yes`);
    expect((await user.ok(`file ${id} --quiet`)).stdout).toBe('Refunded\n');
    await user.exits(1, `refund ${id} --yes`);
  });

  it('tries an upgrade and a refund with --test', async () => {
    await node.user.ok('upgrade 100 --sku TSTMP1 --test');
    await node.user.ok('refund 101 --test --yes');
  });

  it('shows an invoice whose items add up', async () => {
    const user = node.newUser();
    await node.delivered('invoiced', user);
    const [known] = await user.json<Known[]>('files');
    const invoice = known?.invoices[0] ?? '';
    expect((await user.json<{ items: unknown[] }>(`invoice ${invoice}`)).items.length).toBeGreaterThan(0);
    expect(parseCsv((await user.ok(`invoice ${invoice} --csv`)).stdout).length).toBeGreaterThan(1);
    expect((await user.ok(`invoice ${invoice} --quiet`)).stdout).toMatch(/^\d+\.\d\d\n$/);
    await user.exits(4, 'invoice 999999');
  });

  it('reports what was spent, and writes a page', async () => {
    const user = node.newUser();
    await node.delivered('reported', user);
    const report = await user.json<{ totals: Array<{ spent: string }> }>('report');
    expect(JSON.stringify(report.totals)).toMatch(/\d+\.\d\d/);
    await user.ok('report --by sku --csv');
    await user.ok('report --html report.html');
    expect(readFileSync(join(user.home, 'report.html'), 'utf8')).toMatch(
      /^<!doctype html>[\s\S]*<\/html>\s*$/i,
    );
  });

  it('makes raw calls', async () => {
    expect(JSON.parse((await node.user.ok('api GET /prepay_balance')).stdout)).toHaveProperty('balance');
    await node.user.exits(4, 'api GET /nothing');
  });

  it('reads, sets and tests the webhook', async () => {
    const url = 'http://127.0.0.1:9/hook';
    expect((await node.user.ok(`webhook set ${url}`)).stdout).toBe(`${url}\n`);
    expect((await node.user.ok('webhook get')).stdout).toBe(`${url}\n`);
    await node.user.ok('webhook test ORDER_ON_HOLD');
  });
}
