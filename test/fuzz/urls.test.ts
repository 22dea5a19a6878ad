/** URLs of every spelling: the same audio has one identity, another audio another, and no secret stays in what is kept. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatJson } from '../../src/lib/json.ts';
import { audioIdentity, differenceOf } from '../../src/lib/names.ts';
import {
  cutFormSignatures,
  cutJsonSignatures,
  cutSignatures,
  withoutSignature,
} from '../../src/lib/signatures.ts';
import { checkUrl, maskUserinfo } from '../../src/lib/url.ts';
import { runs } from '../support/runs.ts';
import { SECRET, signed, signers } from '../support/signed.ts';

/** Texts that are accepted as URLs: with odd hosts, paths, queries, users and escapes. */
const part = fc.string({
  unit: fc.constantFrom(
    ...[
      'a',
      'B',
      '1',
      '.',
      '..',
      '-',
      '_',
      '~',
      '!',
      '$',
      "'",
      '(',
      ')',
      '*',
      '+',
      ',',
      ';',
      '=',
      ':',
      '@',
      '/',
    ],
    ...[
      '%20',
      '%2F',
      '%2f',
      '%7e',
      '%7E',
      '%25',
      '%',
      '%zz',
      '%C3%BC',
      'ü',
      '日',
      '\\',
      '|',
      '[',
      ']',
      '{',
      '^',
      '`',
      '"',
      '<',
    ],
  ),
  maxLength: 10,
});
const host = fc.oneof(
  fc.domain(),
  fc.constantFrom(
    'e.org.',
    'E.ORG',
    'xn--bcher-kva.example',
    'bücher.example',
    '127.0.0.1',
    '[::1]',
    '0x7f.1',
    'e.org:443',
    'e.org:8443',
  ),
);
const text = fc
  .record({
    scheme: fc.constantFrom('https', 'http', 'HTTPS'),
    user: fc.constantFrom('', 'me@', 'me:pw@', ':pw@', 'a%40b@'),
    host,
    path: part,
    query: fc.option(part),
    fragment: fc.option(part),
  })
  .map(
    ({ scheme, user, host: name, path, query, fragment }) =>
      `${scheme}://${user}${name}/${path}${query === null ? '' : `?${query}`}${fragment === null ? '' : `#${fragment}`}`,
  );

const isAccepted = (url: string): boolean => {
  try {
    checkUrl(url);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ kind: 'usage' });
    return false;
  }
};
const url = text.filter(isAccepted);

describe('a URL that is accepted', () => {
  it('has an identity, which is a URL that is accepted, has itself for one, and leads to the same address', () => {
    fc.assert(
      fc.property(url, (given) => {
        const identity = audioIdentity(given);
        expect(audioIdentity(identity)).toBe(identity);
        expect(isAccepted(identity)).toBe(true);
        expect(identity).not.toContain('#');
        const [one, other] = [new URL(given), new URL(identity)];
        expect([other.protocol, other.port]).toEqual([one.protocol, one.port]);
        expect(other.hostname.replace(/\.+$/, '')).toBe(one.hostname.replace(/(?<=[^.])\.+$/, ''));
        expect(other.password).toBe('');
        expect(bytesOf(other.pathname)).toBe(bytesOf(one.pathname));
        expect(other.pathname.split('/')).toHaveLength(one.pathname.split('/').length);
      }),
      { numRuns: runs(150) },
    );
  });

  it('is the same audio as what is kept of it, and as each of its usual spellings', () => {
    fc.assert(
      fc.property(url, (given) => {
        const identity = audioIdentity(given);
        const parsed = new URL(given);
        const spellings = [
          withoutSignature(given),
          parsed.href,
          given.replace(/#.*$/s, ''),
          `${parsed.href.split('#')[0]}#x`,
        ];
        for (const each of spellings) expect(audioIdentity(each)).toBe(identity);
        for (const each of spellings)
          expect(differenceOf(given, each)).toBe(given === each ? 'nothing' : 'spelling');
      }),
      { numRuns: runs(100) },
    );
  });

  it('keeps its audio under any signature and tracking, and neither the signature nor a password is kept', () => {
    const tracking = fc.constantFrom('', '&utm_source=a', '&fbclid=1', '&UTM_x=%20');
    fc.assert(
      fc.property(url, fc.constantFrom(...signers), tracking, fc.nat(9), (given, signer, tracked, n) => {
        const plain = (given.split('#')[0] ?? '').replace(/\/\/[^/@]*@/, '//');
        const whole = `${signed(plain, n, signer)}${tracked}`;
        fc.pre(isAccepted(whole) && isAccepted(plain));
        expect(audioIdentity(whole)).toBe(audioIdentity(plain));
        const secret = whole.replace('//', `//me:${SECRET}@`);
        // Within a text, characters that a URL should have escaped end it.
        const isPlain = !/["<>\\]/.test(plain);
        for (const kept of [withoutSignature(secret), cutSignatures(secret)])
          expect(kept).not.toContain(SECRET);
        if (isPlain) expect(cutSignatures(`see ${secret} now`)).not.toContain(SECRET);
        expect(maskUserinfo(secret).split('?')[0]).not.toContain(SECRET);
        const field = new URLSearchParams({ originallink: secret, event: 'A' }).toString();
        expect(cutFormSignatures(Buffer.from(field)).toString()).not.toContain(SECRET);
        expect(formatJson(cutJsonSignatures([secret, new Map([['x', secret]])]))).not.toContain(SECRET);
      }),
      { numRuns: runs(60) },
    );
  });

  it('is cut out of a text once: what is cut stays so', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(text, fc.string({ unit: 'binary' })), { maxLength: 4 }), (parts) => {
        const given = parts.join(' ');
        const cut = cutSignatures(given);
        expect(cutSignatures(cut)).toBe(cut);
        const body = Buffer.from(new URLSearchParams({ k: given }).toString());
        const form = cutFormSignatures(body);
        expect(cutFormSignatures(Buffer.from(form)).equals(form)).toBe(true);
      }),
      { numRuns: runs(60) },
    );
  });
});

/** The bytes of a path; what is not escaped may be. */
const bytesOf = (path: string): string =>
  path.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));
