/** An id of the service may be any text: it can be asked about, and one that can't be stops no other. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Account, account } from '../../support/account.ts';
import { Listener } from '../../support/listener.ts';

const odd = [
  'AF/2026/17',
  '50%',
  'a b',
  '日本',
  `"q'`,
  'a,b',
  '#7',
  'a?b=1',
  'c:\\x',
  '...',
  `${'x'.repeat(900)}`,
];

/** Orders one URL for each id, and answers about each file. */
async function ordered(ids: readonly string[], state = 'Delivered'): Promise<Account> {
  const it = await account();
  it.service.on('POST /order_url', { body: { order: 'o/1', audiofiles: ids, message: 'ok' } });
  for (const id of ids) {
    const path = `/audiofile/${encodeURIComponent(id)}`;
    it.service.allow(`GET ${path}`, { body: { audiofile: { id, statename: state, title: 'T' } } });
    it.service.allow(`POST ${path}/transcript.txt`, { body: `text of ${id.slice(0, 20)}` });
  }
  const urls = ids.map((_, at) => `https://e.org/${at}.mp3`);
  const { code, stderr } = await it.user.run(['order', ...urls, '--sku', 'TRANS14']);
  expect(code, stderr).toBe(0);
  return it;
}

describe('any id of the service', () => {
  it('is percent-encoded into the path by files --refresh, file and wait', async () => {
    const { user, service } = await ordered(odd);
    const refreshed = await user.run(['files', '--refresh', '--json']);
    expect(refreshed.code, refreshed.stderr).toBe(0);
    const rows = JSON.parse(refreshed.stdout) as Array<{ audiofile: string }>;
    expect(rows.map(({ audiofile }) => audiofile).sort()).toEqual([...odd].sort());
    expect(service.got.map(({ path }) => path)).toContain('/audiofile/AF%2F2026%2F17');
    for (const line of [
      ['file', ...odd],
      ['wait', ...odd],
      ['wait', '--order', 'o/1'],
    ]) {
      const { code, stderr } = await user.run(line);
      expect(code, stderr).toBe(0);
    }
  });

  it('makes one name below the folder of a transcript', async () => {
    const { user } = await ordered(odd);
    const saved = await user.run(['transcript', ...odd, '-o', 'got']);
    expect(saved.code, saved.stderr).toBe(0);
    expect(readdirSync(join(user.home, 'got'))).toHaveLength(odd.length);
  });

  it('is synced and downloaded', async () => {
    const { user } = await ordered(odd);
    const { code, stderr } = await user.run(['sync', '--download', 'got']);
    expect(code, stderr).toBe(0);
    expect(readdirSync(join(user.home, 'got'))).toHaveLength(odd.length);
    expect(existsSync(join(user.home, 'got', 'AF'))).toBe(false);
  });
});

describe("an id that can't be asked about", () => {
  const ids = ['..', '7', 'a/../b', 'x\u0007y', '8'];

  it.each([
    ['sync', ['sync', '--download', 'got']],
    ['wait', ['wait', '--interval', '1s', '--timeout', '30s']],
    ['files --refresh', ['files', '--refresh']],
  ])('stops no other in %s, and is reported alone: exit 10', async (_, line) => {
    const { user, service } = await ordered(ids);
    const { code, stderr } = await user.run(line);
    expect(code, stderr).toBe(10);
    const asked = service.got.map(({ path }) => path).filter((path) => path.startsWith('/audiofile'));
    expect([...new Set(asked)].filter((path) => !path.includes('transcript')).sort()).toEqual([
      '/audiofile/7',
      '/audiofile/8',
    ]);
    expect(stderr).toMatch(/3 of \d failed/);
    expect(stderr.match(/ is not an id/g)).toHaveLength(3);
  });

  it('stops no event of another in listen', async () => {
    const { user } = await ordered(ids);
    const listener = await Listener.start(user, ['--download', 'got', '--count', '2']);
    const complete = (audiofile: string): string =>
      `event=TRANSCRIPT_COMPLETE&webhook_version=1&order=o1&audiofile=${audiofile}`;
    await listener.post(complete('..'));
    await listener.post(complete('7'));
    const { code, stderr } = await listener.ended;
    expect(code, stderr).toBe(0);
    expect(readdirSync(join(user.home, 'got'))).toEqual(['7.txt']);
  });
});
