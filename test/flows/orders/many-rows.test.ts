/** A large manifest: what it takes grows little with each row. */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { costReporter, reportedCost } from '../../support/cost.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { BIN, finished, type User } from '../../support/steno.ts';

async function dryRun(user: User, rows: number): Promise<number> {
  const lines = Array.from(
    { length: rows },
    (_, at) => `https://media.example.com/talks/2026/${at}.mp3,TRANS14`,
  );
  writeFileSync(join(user.home, 'm.csv'), `url,sku\r\n${lines.join('\r\n')}\r\n`);
  const args = ['--require', costReporter(user), BIN, 'order', '--from', 'm.csv', '--dry-run', '--quiet'];
  const child = spawn(process.execPath, args, { env: user.env, cwd: user.home });
  const { code, stdout, stderr } = await finished(child);
  expect(code, stderr).toBe(0);
  expect(stdout.split('\n')).toHaveLength(rows + 1);
  return reportedCost(stderr).megabytes;
}

describe('order --from', () => {
  it('takes less than 1.5 kB of memory a row', async () => {
    const { user } = await orderingAccount();
    const [few, many] = [await dryRun(user, 5_000), await dryRun(user, 65_000)];
    expect(many - few).toBeLessThan(90);
  });
});
