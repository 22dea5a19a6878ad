/** What `order` takes, refuses and shows of what it was given. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { account } from '../support/account.ts';
import type { Result } from '../support/steno.ts';

const SECRET = '0123abcdSECRET';

async function ordering(manifest = ''): Promise<(...args: string[]) => Promise<Result>> {
  const { user } = await account();
  writeFileSync(join(user.home, 'm'), manifest);
  return (...args) => user.run(['order', ...args, '--sku', 'TRANS14', '--dry-run']);
}

describe('a signature', () => {
  it.each([
    `htps://e.org/a.mp3?Expires=1&Signature=${SECRET}`,
    `https://e.org/a b.mp3?Expires=1&Signature=${SECRET}`,
    `e.org/a.mp3?Signature=${SECRET}`,
    `ftp://ann:${SECRET}@e.org/a.mp3`,
  ])('is not shown where %s is refused', async (url) => {
    const order = await ordering(`${url}\n`);
    for (const args of [[url], ['--from', 'm']]) {
      const { code, stdout, stderr } = await order(...args);
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain('is not an http or https URL');
      expect(stderr).not.toContain(SECRET);
    }
  });
});

describe('a URL', () => {
  it.each(['\u200b', '\u2060', '\u202e'])(
    'with a character that is not visible is refused',
    async (hidden) => {
      const { code, stderr } = await (await ordering())(`https://e.org/a.mp3${hidden}`);
      expect([code, stderr]).toEqual([2, expect.stringContaining('contains an invisible character')]);
    },
  );

  it.each([
    ['with a comma in its query', 'https://e.org/a?x=1,2\n', 'https://e.org/a?x=1,2'],
    ['in quotes', '"https://e.org/a?x=1,2"\n', 'https://e.org/a?x=1,2'],
    ['in quotes, with a comma in its path', '"https://e.org/a,b.mp3"\n', 'https://e.org/a,b.mp3'],
  ])('%s may stand in a plain list', async (_, manifest, url) => {
    const { code, stdout, stderr } = await (await ordering(manifest))('--from', 'm');
    expect([code, stdout.split('\t')[4]], stderr).toEqual([0, url]);
  });

  it.each(['https://e.org/a?x=1,TRANS2\n', 'https://e.org/a?x=1,two words\n', 'https://e.org/a,b\n'])(
    'is not guessed in %j: a header is missing',
    async (manifest) => {
      const { code } = await (await ordering(manifest))('--from', 'm');
      expect(code).toBe(2);
    },
  );

  it('has no key where the cell of a CSV is empty', async () => {
    const order = await ordering('url,key\nhttps://e.org/a.mp3,\nhttps://e.org/b.mp3,k\n');
    const { code, stderr } = await order('--from', 'm');
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^estimate: unknown\n/)]);
  });
});

it.each([['--skip-ordered'], ['--skip-ordered', '--retry-unclear']])(
  '%s needs the ledger',
  async (...flags) => {
    const { service, user } = await account();
    service.never('POST /order_url');
    const line = ['order', 'https://e.org/a.mp3', '--sku', 'TRANS14', '--no-ledger', ...flags];
    const { code, stderr } = await user.run(line);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("--skip-ordered and --no-ledger can't be used together"),
    ]);
  },
);

describe('a signature that the service repeats', () => {
  const value = 'Zm9vYmFyYmF6+cXV4cXV1/eA==';
  const encoded = encodeURIComponent(value);
  const url = `https://e.org/a.mp3?Expires=1700000000&KeyName=k&Signature=${encoded}`;
  const lone = `https://e.org/a.mp3?X-Amz-Signature=${encoded}`;
  it.each([
    ['encoded', encodeURIComponent(url)],
    ['as a path', `/a.mp3?Expires=1700000000&KeyName=k&Signature=${encoded}`],
    ['bare', `SignatureDoesNotMatch ${value}`],
    ['at the end of a long text', `${'x'.repeat(170)} ${value}`],
  ])('%s is neither shown nor kept', async (_, said) => {
    for (const given of [url, lone]) {
      const { service, user } = await account();
      service.on('POST /order_url', { status: 500, body: { message: `can't fetch ${said}` } });
      const { code, stderr } = await user.run(['order', given, '--sku', 'TRANS14']);
      expect(code).toBe(11);
      const listed = await user.run(['attempts', '--json']);
      for (const text of [stderr, listed.stdout.replaceAll(given, '')])
        for (const part of [value.slice(0, 12), encoded.slice(0, 12)]) expect(text).not.toContain(part);
    }
  });
});
