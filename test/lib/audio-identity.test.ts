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

  it('counts as signed only with its signature, and with another parameter where others have that name', () => {
    const parameters = query('5').split('&');
    const secret = parameters.find((each) => /^(X-\w+-Signature|Signature|sig)=/.test(each)) ?? '';
    const alone = `${BASE}?${secret}`;
    const isEnough = secret.startsWith('X-');
    expect(audioIdentity(alone) === audioIdentity(BASE)).toBe(isEnough);
    expect(withoutSignature(alone)).toBe(isEnough ? BASE : alone);
    const unsigned = `${BASE}?${parameters.filter((each) => each !== secret).join('&')}`;
    expect(audioIdentity(unsigned)).not.toBe(audioIdentity(BASE));
    const empty = `${BASE}?${parameters.map((each) => (each === secret ? each.replace(/=.*/, '=') : each)).join('&')}`;
    expect(audioIdentity(empty)).not.toBe(audioIdentity(BASE));
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

  it.each([
    'utm_source=a&utm_medium=b&utm_campaign=c',
    'UTM_Source=a',
    'fbclid=x',
    'gclid=x',
    'msclkid=x&mc_cid=1&mc_eid=2',
    '_hsenc=a&_hsmi=b',
    'igshid=1',
    'piwik_campaign=a&piwik_kwd=b',
    'matomo_source=a&mtm_cid=1',
    'pk_campaign=1&pk_kwd=2',
    '_gac=1&irclickid=2',
    'guccounter=1&guce_referrer=a&guce_referrer_sig=b',
  ])('is found behind the tracking parameters %s', (query) => {
    expect(audioIdentity(`${BASE}?${query}`)).toBe(audioIdentity(BASE));
    expect(audioIdentity(`${BASE}?id=1&${query}`)).toBe(audioIdentity(`${BASE}?id=1`));
    expect(differenceOf(`${BASE}?${query}`, BASE)).toBe('tracking parameters');
    expect(withoutSignature(`${BASE}?${query}`)).toBe(`${BASE}?${query}`);
  });
});

describe('the same audio', () => {
  const s3 =
    'X-Amz-Algorithm=A&X-Amz-Credential=B&X-Amz-Date=C&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature=D';
  const google =
    'X-Goog-Algorithm=A&X-Goog-Credential=B&X-Goog-Date=C&X-Goog-Expires=60&X-Goog-SignedHeaders=host&X-Goog-Signature=D';
  it.each([
    `${s3}&response-content-disposition=attachment&response-content-type=audio%2Fmpeg`,
    'AWSAccessKeyId=A&Expires=1&Signature=B&response-content-disposition=inline',
    `${google}&response-content-disposition=inline`,
    'GoogleAccessId=A&Expires=1&Signature=B&response-content-type=audio',
    'Expires=1&KeyName=A&Signature=B',
    'sv=1&sr=b&sig=A&se=2&sp=r&rscc=a&rscd=b&rsce=c&rscl=d&rsct=e',
  ])('is found behind the signed link %s', (query) => {
    expect(audioIdentity(`${BASE}?${query}`)).toBe(audioIdentity(BASE));
    expect(withoutSignature(`${BASE}?id=1&${query}`)).toBe(`${BASE}?id=1`);
  });

  it('is told by what only a signed link may leave out', () => {
    for (const query of ['response-content-type=audio', 'rsct=e', 'KeyName=A&Expires=1'])
      expect(audioIdentity(`${BASE}?${query}`)).not.toBe(audioIdentity(BASE));
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
  const signature = fc.constantFrom(...Object.values(signed));

  it('the identity is one of itself', () => {
    fc.assert(fc.property(url, (text) => audioIdentity(audioIdentity(text)) === audioIdentity(text)));
  });

  it('any signature leaves the identity as it is, wherever it stands among the parameters', () => {
    fc.assert(
      fc.property(url, signature, fc.boolean(), (text, query, before) => {
        const parsed = new URL(text);
        parsed.hash = '';
        const plain = parsed.href;
        const [head = '', rest = ''] = plain.split(/\?(.*)/s);
        const parts = [rest, query('42')].filter(Boolean);
        const one = `${head}?${(before ? parts.reverse() : parts).join('&')}`;
        expect(audioIdentity(one)).toBe(audioIdentity(plain));
        expect(withoutSignature(one)).not.toContain('sec42');
        expect(audioIdentity(withoutSignature(one))).toBe(audioIdentity(one));
      }),
    );
  });

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

describe('time', () => {
  it.each([
    ['parameters', (n: number) => `https://e.org/x?${'a=1&'.repeat(n)}`],
    ['separators', (n: number) => `https://e.org/x?${'&'.repeat(n)}`],
    ['colons before an at', (n: number) => `https://${':'.repeat(n)}`],
    ['beginnings of links', (n: number) => 'https://'.repeat(n)],
    ['backslashes', (n: number) => `https://e.org/?${'\\'.repeat(n)}`],
    ['escapes', (n: number) => `https://e.org/${'%'.repeat(n)}`],
    ['encoded queries', (n: number) => `x ${'%3Fsig%3D1'.repeat(n / 4)}`],
    ['encoded parameters', (n: number) => `x %3F${'sig%3D1%26'.repeat(n / 4)}`],
    ['escapes of escapes', (n: number) => `x %${'25'.repeat(n)}%${'%25'.repeat(n)}`],
    ['links within links', (n: number) => `https://e.org/?${'u=https://e.org/?'.repeat(n / 8)}`],
  ])('grows with the length of the text: %s', (_, make) => {
    const seconds = (n: number): number => {
      const text = make(n);
      const start = process.cpuUsage();
      cutSignatures(text);
      if (URL.canParse(text)) audioIdentity(text);
      const { user, system } = process.cpuUsage(start);
      return (user + system) / 1e6;
    };
    seconds(1_000);
    // Quadratic work would take sixty-four times as long, and many seconds.
    const [short, long] = [seconds(25_000), seconds(200_000)];
    expect(long).toBeLessThan(Math.max(0.5, short * 32));
  });
});

describe('more links than anyone sends', () => {
  const link = 'https://h.example/a.mp3?sig=SECRET&sv=1&sr=b&se=2';

  it('lose their signatures too: beyond a thousand all of their parameters', () => {
    const cut = cutSignatures(`${`${link}&x=1 `.repeat(1_500)}${link} https://me:SECRET@h.example/end`);
    expect(cut).not.toContain('SECRET');
    expect(cut.split('https://h.example/a.mp3?x=1 ')).toHaveLength(1_001);
    expect(cut.split('https://h.example/a.mp3 ')).toHaveLength(502);
    expect(cut.endsWith(' https://me@h.example/end')).toBe(true);
  });

  it('and one of more than 64 KiB loses its whole query', () => {
    const long = `${link}&${'x=1&'.repeat(20_000)}`;
    expect(withoutSignature(`${long}#part`)).toBe('https://h.example/a.mp3#part');
    expect(cutSignatures(`see ${long} there`)).toBe('see https://h.example/a.mp3 there');
    const plain = `https://h.example/a.mp3?${'x'.repeat(100_000)}`;
    expect(withoutSignature(plain)).toBe(plain);
  });
});
