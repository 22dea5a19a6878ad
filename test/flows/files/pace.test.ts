/** How often the service is asked while many files are waited for. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { audio, type OrderingAccount, orderingAccount, queryLedger } from '../../support/ledger.ts';
import { finished } from '../../support/steno.ts';
import { until } from '../../support/until.ts';

async function withOpenFiles(count: number): Promise<OrderingAccount> {
  const it = await orderingAccount();
  writeFileSync(
    join(it.user.home, 'urls'),
    Array.from({ length: count }, (_, n) => audio(`n${n}`)).join('\n'),
  );
  await it.order('--from', 'urls', '--quiet');
  for (let id = 1; id <= count; id += 1) it.states.set(String(id), ['Transcribing']);
  it.service.got.length = 0;
  return it;
}

describe.concurrent('wait for many files', () => {
  it('asks no more often for more files, and takes turns', async () => {
    const { user, service, askedFiles } = await withOpenFiles(300);
    const { code } = await user.run(['wait', '--timeout', '14s']);
    expect(code).toBe(6);
    // The first round, a batch every five and a half seconds, and one before the end.
    expect(service.got.length).toBeGreaterThanOrEqual(400);
    expect(service.got.length).toBeLessThanOrEqual(500);
    const counts = new Map<string, number>();
    for (const id of askedFiles()) counts.set(id, (counts.get(id) ?? 0) + 1);
    expect(Math.max(...counts.values())).toBe(2);
  });

  it('asks at once about a file of which another process has news, between two batches', async () => {
    const { user, service, states, askedFiles } = await withOpenFiles(200);
    const waiting = user.start(['wait', '--quiet', '--timeout', '60s']);
    const ended = finished(waiting);
    await until(
      () => service.got.length >= 250,
      () => `${service.got.length} calls`,
    );
    const before = service.got.length;
    states.set('199', ['Delivered']);
    queryLedger(
      user,
      "UPDATE files SET heard_at = '2099-01-01T00:00:00.000Z', hint = 'x' WHERE id = '199' RETURNING id",
    );
    await until(
      () => askedFiles().filter((id) => id === '199').length > 1,
      () => 'no call about 199',
    );
    expect(service.got.length - before).toBeLessThanOrEqual(51);
    waiting.kill('SIGINT');
    await ended;
  });
});

describe.concurrent('file --watch', () => {
  it('asks less and less often', async () => {
    const { user, service } = await withOpenFiles(1);
    expect((await user.run(['file', '1', '--watch', '--timeout', '10s'])).code).toBe(6);
    // After 1, 2.4, 4.4 and 7.1 seconds, and before the end; with an even pause it would be ten.
    expect(service.got.length).toBeLessThanOrEqual(7);
  });
});
