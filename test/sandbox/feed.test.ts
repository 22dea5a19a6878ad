/** The sandbox's podcast, with lengths and invoices that make an estimate, without any account. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parseFeed } from '../../src/feeds/feed.ts';
import { open, send } from '../support/sandbox.ts';
import { User } from '../support/steno.ts';

it('says the same of an episode in its feed and in its service', async () => {
  const client = await open();
  const url = new URL('/feed.xml', client.sandbox.baseUrl).href;
  const { text, headers } = await send(url);
  expect(headers['content-type']).toContain('application/rss+xml');
  const feed = await parseFeed({
    bytes: Buffer.from(text),
    url,
    addresses: [url],
    where: 'the feed',
    signal: new AbortController().signal,
  });
  expect(feed.episodes).toHaveLength(5);
  const urls = feed.episodes.map(({ url }) => url);
  const { data: placed } = await client.post('/order_url', { url: urls, sku: 'TRANS14' });
  for (const [at, id] of (placed.audiofiles as number[]).entries()) {
    const { data } = await client.get(`/audiofile/${id}`);
    const { title, seconds = 0 } = feed.episodes[at] ?? {};
    expect(data.audiofile ?? data).toMatchObject({ title, duration: seconds / 60 });
  }
});

it('is ordered, named after its episodes, and estimated after one earlier order', async () => {
  const user = new User();
  const steno = (...args: string[]) => user.run(['--sandbox', ...args]);
  const latest = (count: number, ...args: string[]) =>
    steno('order', '--feed', 'sample', '--latest', String(count), '--sku', 'TRANS14', ...args);
  const unknown = await latest(3, '--dry-run');
  expect([unknown.code, unknown.stderr]).toEqual([0, expect.stringContaining('estimate: unknown')]);
  const name = ['--download', 'out', '--name-as', '{date} {title} {guid}.{ext}'];
  const ordered = await latest(1, ...name, '--timeout', '25s');
  expect(ordered.code, ordered.stderr).toBe(0);
  expect(readdirSync(join(user.home, 'out'))).toEqual([
    '2026-10-30 How bees find their way home sandbox-hour-5.txt',
  ]);
  // 18 and 31 minutes at 0.86; the first one is on order.
  const estimated = await latest(3, '--dry-run', '--skip-ordered');
  expect(estimated.stderr).toContain('42.14');
  expect(estimated.stderr).toMatch(/TRANS14 at 0\.86\/min \(from 1 \w+ invoice\)/);
  const over = await latest(3, '--skip-ordered', '--max-cost', '42.13');
  expect([over.code, over.stdout]).toEqual([2, '']);
  const report = await steno('report', '--json');
  expect(JSON.parse(report.stdout).totals).toMatchObject([{ spent: 20.64, minutes: 24, files: 1 }]);
});
