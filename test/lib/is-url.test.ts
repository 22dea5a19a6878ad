import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isUrl } from '../../src/lib/url.ts';
import { orderingAccount } from '../support/ledger.ts';

/** Enough for V8 to compile what reads them. */
const MANY = 20_000;

describe('a URL with a letter of Latin-1 in its host', () => {
  // Texts from JSON: a text that was put together is read another way.
  const urls: string[] = JSON.parse(
    JSON.stringify(Array.from({ length: MANY }, (_, n) => `https://bücher.example/${n}.mp3`)),
  );

  it('is a URL, however often that was asked', () => {
    expect(urls.filter((url) => !isUrl(url))).toEqual([]);
    expect(urls.filter((url) => !isUrl('/a', url))).toEqual([]);
  });

  it('is ordered in each of many rows', async () => {
    const { user } = await orderingAccount();
    const path = join(user.home, 'm.jsonl');
    writeFileSync(path, urls.map((url) => JSON.stringify({ url })).join('\n'));
    const run = await user.run(['order', '--from', path, '--sku', 'TRANS14', '--dry-run']);
    expect([run.code, run.stdout.trim().split('\n').length], run.stderr).toEqual([0, MANY]);
  });

  it('is told by nothing else in src', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const using = files.filter((name) => readFileSync(join('src', name), 'utf8').includes('URL.canParse('));
    expect(using).toEqual([join('lib', 'url.ts')]);
  });
});

describe('any text', () => {
  it('is a URL where new URL makes one of it', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), fc.webPath());
    fc.assert(
      fc.property(text, fc.option(text, { nil: undefined }), (url, base) => {
        const parsed = (() => {
          try {
            return new URL(url, base);
          } catch {
            return undefined;
          }
        })();
        expect(isUrl(url, base)).toBe(parsed !== undefined);
      }),
    );
  });
});
