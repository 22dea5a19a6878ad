/** With 100,000 files in the ledger everything stays as quick and as small as with few. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Cost, costReporter, reportedCost } from '../support/cost.ts';
import { audio, fill, type OrderingAccount, orderingAccount } from '../support/ledger.ts';
import { BIN, finished } from '../support/steno.ts';

const MANY = 100_000;
let small: OrderingAccount;
let large: OrderingAccount;

beforeAll(async () => {
  [small, large] = await Promise.all([orderingAccount(), orderingAccount()]);
  for (const { user } of [small, large]) await user.run(['files']);
  fill(small.user, 100);
  fill(large.user, MANY);
}, 60_000);

interface Run extends Cost {
  readonly stdout: string;
  readonly code: number | null;
}

/** Runs steno behind a pipe and tells what it took. */
async function run({ user }: OrderingAccount, args: string): Promise<Run> {
  const line = `"${process.execPath}" --require "${costReporter(user)}" "${BIN}" ${args}`;
  const { stdout, stderr, code } = await finished(
    spawn('sh', ['-c', line], { env: user.env, cwd: user.home }),
  );
  return { ...reportedCost(stderr), stdout, code };
}

/** Does the same with few files and with many; it must cost about the same. */
async function asCheap(args: string, more = 150): Promise<Run> {
  const few = await run(small, args);
  const many = await run(large, args);
  expect(few.milliseconds).toBeGreaterThan(10);
  expect(many.milliseconds, args).toBeLessThan(few.milliseconds * 1.5 + more);
  return many;
}

describe('a ledger of 100,000 files', () => {
  it('prints its first page without reading them all', async () => {
    const { stdout } = await asCheap('files --limit 100 --quiet');
    expect(stdout).toMatch(/^1100000\n1099999\n1099998\n/);
    await asCheap('files --limit 50 --order O77 --json');
    await asCheap('files --limit 50 --state Delivered --csv');
  });

  it('ends quietly when its reader has seen enough', async () => {
    for (const form of ['', '--json', '--csv', '--quiet']) {
      const line = `"${process.execPath}" "${BIN}" files ${form} | head -1; echo "\${PIPESTATUS[0]}" >&2`;
      const start = performance.now();
      const child = spawn('bash', ['-c', line], { cwd: large.user.home, env: large.user.env });
      const { stdout, stderr } = await finished(child);
      expect([form, stdout.trimEnd().split('\n').length, stderr]).toEqual([form, 1, '0\n']);
      // Far less than it takes to list them all.
      expect(performance.now() - start).toBeLessThan(5000);
    }
  });

  it('is one table on a terminal, with one header', async () => {
    const { stdout } = await large.user.onTerminal('steno files --limit 450 --no-color');
    expect(stdout.match(/TITLE/g)).toHaveLength(1);
    expect(stdout.match(/Delivered/g)).toHaveLength(450);
  });

  it('is listed whole, in flat memory', async () => {
    // Ten times as many rows: what a page takes, and what the collector lets lie, is in both.
    const few = await run(large, 'files --csv --limit 10000');
    const many = await run(large, 'files --csv');
    expect(many.stdout.split('\r\n')).toHaveLength(MANY + 2);
    expect(few.megabytes).toBeGreaterThan(10);
    expect(many.megabytes).toBeLessThan(few.megabytes + 60);
    const { stdout } = await large.user.run(['files', '--json', '--limit', '5000']);
    expect(JSON.parse(stdout)).toHaveLength(5000);
  });

  it('takes an order as cheaply, and knows at once what is on order', async () => {
    const known = await asCheap('order https://bulk.example/O77 --sku TRANS14');
    expect(known.code).toBe(9);
    const taken = await asCheap(`order ${audio('new')} --sku TRANS14`);
    expect(taken.code).toBe(0);
    large.service.got.length = 0;
    const refreshed = await asCheap('files --refresh --limit 1 --quiet');
    expect(refreshed.stdout).toBe('1\n');
    expect(large.askedFiles()).toEqual(['1']);
  });

  it.each([
    ['audiofile', '10999', '1099900\tDelivered Talk 99900\n'],
    ['order', 'O9999', 'O9999\tTRANS14 2026-01-01T00:00:00.000Z Talk 9999\n'],
    ['invoice', 'V99', 'V99000\tTalk 99000\n'],
    ['invoice', '', 'V100000\tTalk 100000\n'],
    ['audiofile', '', ''],
    ['order', '', ''],
  ])('completes %s %j as cheaply', async (kind, prefix, first) => {
    const { stdout, code } = await asCheap(`__complete ${kind} ${prefix}`, 40);
    expect([code, stdout.slice(0, first.length)]).toEqual([0, first]);
    expect(stdout.trimEnd().split('\n').length).toBeLessThanOrEqual(50);
  });
});

describe('a manifest of many rows in one order', () => {
  it('is ordered, and found to be on order, in time that grows with its length', async () => {
    const cost = async (rows: number): Promise<number[]> => {
      const account = await orderingAccount();
      writeFileSync(
        join(account.user.home, 'm'),
        Array.from({ length: rows }, (_, n) => `${audio(`n${n}`)}\n`).join(''),
      );
      const line = 'order --from m --sku TRANS14 --skip-ordered --per-order 1000000 --quiet';
      const first = await run(account, line);
      expect([first.code, first.stdout.split('\n').length]).toEqual([0, rows + 1]);
      // Half of it is new, between what is on order.
      writeFileSync(
        join(account.user.home, 'm'),
        Array.from({ length: rows }, (_, n) => `${audio(n % 2 ? `n${n}` : `new${n}`)}\n`).join(''),
      );
      const second = await run(account, line);
      expect([second.code, second.stdout.split('\n').length]).toEqual([0, rows / 2 + 1]);
      const third = await run(account, line);
      expect([third.code, third.stdout]).toEqual([0, '']);
      return [first, second, third].map(({ milliseconds }) => milliseconds);
    };
    const few = await cost(4_000);
    const many = await cost(40_000);
    few.forEach((milliseconds, at) => {
      expect(milliseconds).toBeGreaterThan(10);
      // Quadratic work would take a hundred times as long.
      expect(many[at]).toBeLessThan(milliseconds * 20);
    });
  }, 180_000);
});
