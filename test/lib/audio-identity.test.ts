/** What counts as the same audio, for every URL, and what is cut from a URL before it is kept. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { audioIdentity, differenceOf } from '../../src/lib/names.ts';
import { cutSignatures, withoutSignature } from '../../src/lib/signatures.ts';

const BASE = 'https://media.example/talks/a.mp3';

/** Complete parameter sets as the services write them; `n` makes a fresh one. */
const signed: Readonly<Record<string, (n: string) => string>> = {
  'S3 version 4': (n) =>
    `X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIA%2F20261115%2Feu-west-1%2Fs3%2Faws4_request&X-Amz-Date=2026${n}T000000Z&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Security-Token=tok${n}&x-id=GetObject&X-Amz-Signature=sec${n}`,
  'S3 version 2': (n) => `AWSAccessKeyId=AKIA&Signature=sec${n}%3D&Expires=17${n}`,
  'Google version 4': (n) =>
    `X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=a%40b&X-Goog-Date=2026${n}T000000Z&X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature=sec${n}`,
  'Google version 2': (n) => `GoogleAccessId=a%40b.example&Expires=17${n}&Signature=sec${n}`,
  'Azure service': (n) => `sv=2024-11-04&st=2026&se=2026${n}&sr=b&sp=r&spr=https&sig=sec${n}%3D`,
  'Azure account': (n) => `sv=2024-11-04&ss=b&srt=o&sp=r&se=2026${n}&sig=sec${n}`,
  'Azure user delegation': (n) =>
    `skoid=o&sktid=t&skt=2026&ske=2026&sks=b&skv=2024&sv=2024-11-04&sr=b&se=2026${n}&sp=r&sig=sec${n}`,
  'Azure stored policy': (n) => `si=readers&sv=2024-11-04&sr=c&sig=sec${n}`,
  'CloudFront canned': (n) => `Expires=17${n}&Signature=sec${n}__&Key-Pair-Id=K1`,
  'CloudFront custom': (n) => `Policy=pol${n}&Signature=sec${n}__&Key-Pair-Id=K1`,
};

describe.each(Object.entries(signed))('a fresh %s link', (_, query) => {
  it('is the same audio, on any host, with other parameters around it', () => {
    const [first, second] = [`${BASE}?${query('1001')}`, `${BASE}?${query('1002')}`];
    expect(audioIdentity(first)).toBe(audioIdentity(second));
    expect(audioIdentity(first)).toBe(audioIdentity(BASE));
    expect(audioIdentity(`${BASE}?versionId=7&${query('1')}`)).toBe(audioIdentity(`${BASE}?versionId=7`));
    expect(audioIdentity(`${BASE}?versionId=7&${query('1')}`)).not.toBe(audioIdentity(first));
    expect(differenceOf(first, second)).toBe('signature');
  });

  it('is kept and shown without its signature', () => {
    expect(withoutSignature(`${BASE}?a=1&${query('77')}&b=2#t`)).toBe(`${BASE}?a=1&b=2#t`);
    expect(withoutSignature(`${BASE}?${query('77')}`)).toBe(BASE);
    for (const text of [
      `can't fetch ${BASE}?${query('77')}: gone`,
      `<a href="${BASE}?${query('77').replaceAll('&', '&amp;')}">`,
      JSON.stringify({ url: `${BASE}?${query('77')}` }).replaceAll('&', '\\u0026'),
      JSON.stringify({ url: `${BASE}?${query('77')}` }).replaceAll('/', '\\/'),
    ]) {
      expect(cutSignatures(text)).not.toContain('sec77');
      expect(cutSignatures(text)).toContain('a.mp3');
    }
  });
});

describe('the same audio', () => {
  it.each([
    ['escapes in small letters', 'https://e.org/%c3%bc.mp3', 'https://e.org/%C3%BC.mp3'],
    ['characters that are not ASCII', 'https://e.org/ü.mp3', 'https://e.org/%c3%bc.mp3'],
    ['an escaped slash', 'https://e.org/a%2fb.mp3', 'https://e.org/a%2Fb.mp3'],
    ['an escaped unreserved character', 'https://e.org/%7eann/%61.mp3', 'https://e.org/~ann/a.mp3'],
    ['the dot at the end of a host', 'https://e.org./x.mp3', 'https://e.org/x.mp3'],
    ['an empty query', 'https://e.org/x.mp3?', 'https://e.org/x.mp3'],
    ['a query of separators', 'https://e.org/x.mp3?&&', 'https://e.org/x.mp3'],
    ['the default port', 'https://e.org:443/x.mp3', 'https://e.org/x.mp3'],
    ['the port and the dot', 'http://e.org.:80/x.mp3', 'http://e.org/x.mp3'],
    ['the case of scheme and host', 'HTTPS://E.Org/x.mp3', 'https://e.org/x.mp3'],
    ['a fragment', 'https://e.org/x.mp3#t=5', 'https://e.org/x.mp3'],
    ['dot segments', 'https://e.org/a/./b/%2e%2e/x.mp3', 'https://e.org/a/x.mp3'],
    ['an international host', 'https://bücher.example/x.mp3', 'https://xn--bcher-kva.example/x.mp3'],
    [
      'characters that must be escaped',
      'https://e.org/a|b{c}.mp3?x=[1]',
      'https://e.org/a%7Cb%7bc%7D.mp3?x=%5B1%5d',
    ],
    ['an empty path', 'https://e.org', 'https://e.org/'],
    ['escapes in the query', 'https://e.org/x?t=%c3%bc%7e', 'https://e.org/x?t=%C3%BC~'],
  ])('is found under %s', (_, one, other) => {
    expect(audioIdentity(one)).toBe(audioIdentity(other));
    expect(differenceOf(one, other)).toBe('spelling');
  });
});

describe('another audio', () => {
  it.each([
    ['the path', 'https://e.org/a.mp3', 'https://e.org/b.mp3'],
    ['the case of the path', 'https://e.org/a.mp3', 'https://e.org/A.mp3'],
    ['an escaped and a plain slash', 'https://e.org/a%2Fb.mp3', 'https://e.org/a/b.mp3'],
    ['a parameter', 'https://e.org/x?id=1', 'https://e.org/x?id=2'],
    ['a parameter without its value', 'https://e.org/x?id', 'https://e.org/x?id='],
    ['an escaped and a plain separator', 'https://e.org/x?a=1%26b=2', 'https://e.org/x?a=1&b=2'],
    ['the port', 'https://e.org:8443/x', 'https://e.org/x'],
    ['the host', 'https://a.e.org/x', 'https://e.org/x'],
    ['sig alone', 'https://e.org/x?sig=1', 'https://e.org/x?sig=2'],
    ['Expires alone', 'https://e.org/x?Expires=1', 'https://e.org/x?Expires=2'],
    ['a key and no signature', 'https://e.org/x?AWSAccessKeyId=1&Expires=1', 'https://e.org/x'],
    ['the user', 'https://ann@e.org/x', 'https://bob@e.org/x'],
    ['a plus and an escaped blank', 'https://e.org/x?q=a+b', 'https://e.org/x?q=a%20b'],
  ])('is told by %s', (_, one, other) => {
    expect(audioIdentity(one)).not.toBe(audioIdentity(other));
  });
});

describe('a password in a URL', () => {
  it('is neither kept nor part of the identity', () => {
    expect(withoutSignature('https://ann:secret@e.org/x.mp3')).toBe('https://ann@e.org/x.mp3');
    expect(audioIdentity('https://ann:secret@e.org/x.mp3')).toBe(
      audioIdentity('https://ann:other@e.org/x.mp3'),
    );
    expect(cutSignatures('see https://ann:secret@e.org/x.mp3!')).toBe('see https://ann@e.org/x.mp3!');
  });
});

describe('for every URL', () => {
  const url = fc.webUrl({ withQueryParameters: true, withFragments: true });

  it('every character may be escaped, in either case', () => {
    const escaped = (text: string, upper: boolean): string =>
      text.replace(/[A-Za-z0-9._~-]/g, (letter) => {
        const code = letter.charCodeAt(0).toString(16);
        return `%${upper ? code.toUpperCase() : code}`;
      });
    fc.assert(
      fc.property(fc.webPath(), fc.boolean(), (path, upper) => {
        // A dot segment is resolved before escapes are compared.
        fc.pre(!/(^|\/)\.{1,2}(\/|$)/.test(path));
        const plain = `https://e.org/${path.replace(/%[0-9a-f]{2}/gi, '')}`;
        const other = `https://e.org/${escaped(path.replace(/%[0-9a-f]{2}/gi, ''), upper)}`;
        expect(audioIdentity(other)).toBe(audioIdentity(plain));
      }),
    );
  });

  it('a text of any kind goes through, and what has no signature stays as it is', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof cutSignatures(text) === 'string'));
    fc.assert(
      fc.property(url, (text) => {
        fc.pre(!new URL(text).password);
        expect(withoutSignature(text)).toBe(text);
        expect(cutSignatures(`a ${text} b`)).toBe(`a ${text} b`);
      }),
    );
  });
});
