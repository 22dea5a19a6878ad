/** Each parameter of each signature, and each place in a text where one may stand. */
import { describe, expect, it } from 'vitest';
import { audioIdentity, differenceOf } from '../../src/lib/names.ts';
import { cutSignatures, cutValues, signatureValues, withoutSignature } from '../../src/lib/signatures.ts';

const BASE = 'https://media.example/talks/a.mp3';
const linkOf = (names: readonly string[], value = 'v'): string =>
  `${BASE}?${names.map((name) => `${name}=${value}`).join('&')}`;
const same = (url: string): boolean => audioIdentity(url) === audioIdentity(BASE);

const amazon = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature'];
const headers = ['response-content-type', 'response-cache-control', 'response-expires'];

const azure = [
  ...['sr', 'se', 'ss', 'srt', 'si', 'sp', 'st', 'spr', 'sip', 'sdd', 'ses', 'skn'],
  ...['rscc', 'rscd', 'rsce', 'rscl', 'rsct'],
  ...['skoid', 'sktid', 'skt', 'ske', 'sks', 'skv', 'saoid', 'suoid', 'scid', 'sduoid', 'skdutid'],
];
/** As long as a signature. */
const LONG = 'abcdefghijklmnop';

/** As the documents of the services have them: what tells them, and what may be there too. */
const signatures: ReadonlyArray<readonly [string, readonly string[], readonly string[], string?]> = [
  [
    'S3 version 4',
    ['X-Amz-Signature'],
    [...amazon.map((name) => `X-Amz-${name}`), 'X-Amz-Security-Token', 'X-Amz-Meta', 'x-id', ...headers],
  ],
  ['S3 version 2', ['AWSAccessKeyId', 'Signature'], ['Expires', 'x-amz-security-token', ...headers]],
  [
    'Google version 4',
    ['X-Goog-Signature'],
    [...amazon.map((name) => `X-Goog-${name}`), 'X-Goog-Meta', ...headers],
  ],
  ['Google version 2', ['GoogleAccessId', 'Signature'], ['Expires', ...headers]],
  ['Google CDN', ['Expires', 'KeyName', 'Signature'], ['URLPrefix']],
  ['Google Media CDN', ['Edge-Cache-Token'], []],
  ...['sr', 'ss', 'se', 'si', 'sp'].map((one) => [`Azure with ${one}`, ['sig', 'sv', one], azure] as const),
  ...['se', 'si'].flatMap((end) =>
    ['sr', 'ss', 'sp', 'skn'].map(
      (one) => [`Azure without a version, with ${end} and ${one}`, ['sig', end, one], azure, LONG] as const,
    ),
  ),
  ['CloudFront', ['Key-Pair-Id', 'Signature'], ['Expires', 'Policy', 'Hash-Algorithm']],
  ...['Expires', 'Policy', 'KeyName'].map(
    (one) =>
      [
        `any of them, with ${one} and without a key`,
        ['Signature', one],
        ['Expires', 'Policy', 'KeyName', 'URLPrefix', 'Hash-Algorithm', ...headers],
        LONG,
      ] as const,
  ),
];

const cases = signatures.map(
  ([name, required, optional, value = 'v']) => [name, required, optional, value] as const,
);

describe.each(cases)('a signature of %s', (_, required, optional, value) => {
  it.each(required)('is none without %s, or where it is empty', (left) => {
    const others = required.filter((name) => name !== left);
    const lacking = linkOf(others.length ? others : ['id'], value);
    expect([same(lacking), withoutSignature(lacking)]).toEqual([false, lacking]);
    const empty = `${lacking}&${left}=`;
    expect([same(empty), withoutSignature(empty)]).toEqual([false, empty]);
    const bare = `${lacking}&${left}`;
    expect([same(bare), withoutSignature(bare)]).toEqual([false, bare]);
  });

  it('goes with all of its parameters, and with no other', () => {
    const whole = [...required, ...optional];
    expect([
      same(linkOf(required, value)),
      same(linkOf(whole, value)),
      withoutSignature(linkOf(whole, value)),
    ]).toEqual([...[true, true, BASE]]);
    for (const name of whole) {
      const other = `my${name}`;
      expect(withoutSignature(linkOf([other, ...required], value))).toBe(`${BASE}?${other}=${value}`);
      expect(same(linkOf([other, ...required], value))).toBe(false);
    }
  });

  it('is cut where it is encoded, up to three times, in a text and in a link', () => {
    for (const times of [1, 2, 3]) {
      const link = `${linkOf(required, value)}&id=7#t`;
      const [whole, cut] = [encoded(link, times), encoded(`${BASE}?id=7#t`, times)];
      expect(cutSignatures(`see ${whole}, please`)).toBe(`see ${cut}, please`);
      expect(withoutSignature(`https://e.org/?u=${whole}&x=1`)).toBe(`https://e.org/?u=${cut}&x=1`);
      expect(audioIdentity(`https://e.org/?u=${whole}&x=1`)).toBe(
        audioIdentity(`https://e.org/?u=${cut}&x=1`),
      );
      expect(cutSignatures(encoded(linkOf(required, value), times))).toBe(encoded(BASE, times));
    }
  });

  it('is cut where the link stands in another as it is, or is escaped for a shell', () => {
    const link = linkOf(required, value);
    expect(withoutSignature(`https://e.org/?u=${link}`)).toBe(`https://e.org/?u=${BASE}`);
    expect(audioIdentity(`https://e.org/?u=${link}`)).toBe(`https://e.org/?u=${BASE}`);
    expect(cutSignatures(`curl ${link.replace(/[?&=]/g, '\\$&')} -o a`)).toBe(`curl ${BASE} -o a`);
  });
});

const encoded = (text: string, times: number): string =>
  times === 0 ? text : encodeURIComponent(encoded(text, times - 1));

describe('a parameter that other links have too', () => {
  const short = LONG.slice(1);
  it.each([
    `sig=${LONG}`,
    `Signature=${LONG}`,
    `sig=${LONG}&sv=1`,
    `sig=${LONG}&se=1`,
    `sig=${LONG}&sr=b&sp=r`,
    `sig=${short}&se=1&sr=b`,
    `Signature=${LONG}&se=1&sr=b`,
    `sig=${LONG}&Expires=1`,
    `Signature=${short}&Expires=1`,
    `Signature=${short}&Policy=${LONG}`,
    `Signature=${short}&KeyName=${LONG}`,
    `Expires=${LONG}&Policy=${LONG}&KeyName=${LONG}`,
    `id=${LONG}&Signature=v&Expires=1`,
    'X-Amz-Date=1&X-Amz-Credential=2&X-Amz-Expires=3',
    'X-Amz-Signatures=1',
    'Key-Pair-Id=1&Expires=2',
  ])('is no signature: %s', (query) => {
    const link = `${BASE}?${query}`;
    expect([same(link), withoutSignature(link), cutSignatures(`a ${link} b`)]).toEqual([
      ...[false, link, `a ${link} b`],
    ]);
    const within = encodeURIComponent(link);
    expect(cutSignatures(`a ${within} b`)).toBe(`a ${within} b`);
  });
});

describe('a link in a link', () => {
  const around = (link: string): string => `https://e.org/?u=${link}`;

  it('is told whatever the case of its scheme', () => {
    const link = `HTTPS${BASE.slice('https'.length)}`;
    expect(withoutSignature(around(`${link}?X-Amz-Signature=abc`))).toBe(around(link));
  });

  it('keeps its own first parameter', () => {
    expect(withoutSignature(around(`${BASE}?id=7&X-Amz-Signature=abc`))).toBe(around(`${BASE}?id=7`));
  });
});

it('what is left of a signature of Google goes with the beginning that it is for', () => {
  expect(withoutSignature(linkOf(['Signature', 'Policy', 'URLPrefix'], LONG))).toBe(BASE);
});

describe('an encoded link', () => {
  const whole = encodeURIComponent(`${BASE}?X-Amz-Signature=abc`);
  const cut = encodeURIComponent(BASE);

  it.each([
    [`(${whole})`, `(${cut})`],
    [`"${whole}"`, `"${cut}"`],
    [`<${whole}>`, `<${cut}>`],
    [`[${whole}]{${whole}}`, `[${cut}]{${cut}}`],
    [`${whole};${whole}|${whole}`, `${cut};${cut}|${cut}`],
    [`\`${whole}\`\\n${whole}\\n`, `\`${cut}\`\\n${cut}\\n`],
    [`note=see+${whole}+and+more&x=1`, `note=see+${cut}+and+more&x=1`],
    [encodeURIComponent(`see ${BASE}?X-Amz-Signature=abc there`), encodeURIComponent(`see ${BASE} there`)],
    [encodeURIComponent(`"${BASE}?X-Amz-Signature=abc" b`), encodeURIComponent(`"${BASE}" b`)],
    [encodeURIComponent(`<${BASE}?X-Amz-Signature=abc> b`), encodeURIComponent(`<${BASE}> b`)],
    [encodeURIComponent(`<${BASE}?X-Amz-Signature=abc<b`), encodeURIComponent(`<${BASE}<b`)],
    ...['\t', '\n', '\r'].map((blank) => [
      encodeURIComponent(`a${blank}${BASE}?X-Amz-Signature=abc${blank}b`),
      encodeURIComponent(`a${blank}${BASE}${blank}b`),
    ]),
    [whole.toLowerCase(), cut.toLowerCase()],
    [whole.replace('%3D', '='), cut],
    [`x ${whole.replace('X-Amz', 'X%2dAmz')}`, `x ${cut}`],
    [`x ${encodeURIComponent(whole.replace('X-Amz', 'X%2DAmz'))}`, `x ${encodeURIComponent(cut)}`],
    [`${whole}%26amp%3BX-Amz-Date%3D1%26amp%3Bid%3D7`, `${cut}%3Fid%3D7`],
    [`${cut}%3Fa%3D1%26X-Amz-Signature%3Dx%26b%3D2`, `${cut}%3Fa%3D1%26b%3D2`],
    [`${cut}%3Fu%3D${cut}%3FX-Amz-Signature%3Dx`, `${cut}%3Fu%3D${cut}`],
    [`${cut}%3Fx-amz-%73ignature%3Dx`, cut],
    [`${cut}%3F%ffsig%3Dx`, `${cut}%3F%ffsig%3Dx`],
  ])('in %s leaves %s', (text, kept) => {
    expect(cutSignatures(text)).toBe(kept);
  });

  it.each([1, 2, 3])('%s times has its own names decoded too', (times) => {
    const link = `${BASE}?X%2DAmz-Signature=abc&id=7`;
    expect(cutSignatures(`a ${encoded(link, times)} b`)).toBe(`a ${encoded(`${BASE}?id=7`, times)} b`);
  });

  it('has no query at all where it is too long to look at', () => {
    const filled = (length: number): string => `sig%3D${'x'.repeat(length - 6)}`;
    expect(cutSignatures(`${cut}%3F${filled(65_536)} b`)).toBe(`${cut}%3F${filled(65_536)} b`);
    expect(cutSignatures(`${cut}%3F${filled(65_537)} b`)).toBe(`${cut} b`);
    const plain = `${cut}%3F${'x'.repeat(70_000)} b`;
    expect(cutSignatures(plain)).toBe(plain);
  });

  it('is left alone where the text is no link, but taken for one', () => {
    expect(withoutSignature(whole)).toBe(whole);
  });

  it('of which the signature differs is the same audio', () => {
    const around = (text: string): string => `https://e.org/?u=${encodeURIComponent(text)}`;
    const [one, other] = ['a', 'b'].map((value) => around(`${BASE}?X-Amz-Signature=${value}`));
    expect(differenceOf(one ?? '', other ?? '')).toBe('signature');
  });
});

describe('a tracking parameter', () => {
  const names = [
    ...[
      'gclid',
      'gclsrc',
      'dclid',
      'gbraid',
      'wbraid',
      'gad_source',
      'gad_campaignid',
      'srsltid',
      '_ga',
      '_gl',
    ],
    ...['fbclid', 'igshid', 'igsh', 'msclkid', 'yclid', 'ttclid', 'twclid', 'li_fat_id', 'epik', 'sccid'],
    ...['rdt_cid', 'mc_cid', 'mc_eid', 'mkt_tok', '_hsenc', '_hsmi', '__hstc', '__hssc', '__hsfp'],
    ...[
      'hsctatracking',
      'vero_id',
      'vero_conv',
      'oly_enc_id',
      'oly_anon_id',
      's_kwcid',
      'ef_id',
      '_openstat',
    ],
    ...['wickedid', '_kx', 'dm_i', '_gac', 'irclickid', 'guccounter'],
    ...['guce_referrer', 'guce_referrer_sig', 'pk_campaign', 'pk_keyword', 'pk_kwd', 'utm_x', 'utm_id'],
    ...['mtm', 'matomo', 'piwik'].flatMap((brand) =>
      ['campaign', 'keyword', 'kwd', 'source', 'medium', 'content', 'cid', 'group', 'placement'].map(
        (what) => `${brand}_${what}`,
      ),
    ),
  ];
  it.each(names)('%s tells nothing of the audio, but a name that holds it may', (name) => {
    expect(same(`${BASE}?${name}=1`)).toBe(true);
    expect(same(`${BASE}?${name}`)).toBe(true);
    expect(same(`${BASE}?${name.toUpperCase()}=1`)).toBe(true);
    expect(same(`${BASE}?my${name}=1`)).toBe(false);
    expect(differenceOf(`${BASE}?${name}=1`, BASE)).toBe('tracking parameters');
  });

  it.each(['', 'id', 'session', 'x'])('is not %j', (name) => {
    expect(same(`${BASE}?${name}=1`)).toBe(false);
  });
});

describe('the identity of a link', () => {
  // Ledgers hold it, and other versions of this program compare it.
  it.each([
    ['https://E.org./a.mp3?utm_x=1#t', 'https://e.org/a.mp3'],
    ['https://u:p@e.org:8443/%7ea|b?b=%2f&a=1', 'https://u@e.org:8443/~a%7Cb?b=%2F&a=1'],
    ['http://e.org:80', 'http://e.org/'],
  ])('of %s is %s', (url, identity) => {
    expect(audioIdentity(url)).toBe(identity);
  });
});

describe('a link as it is kept', () => {
  const query = 'Expires=1&KeyName=A&Signature=B';

  it.each([
    [`${BASE}#?${query}`, `${BASE}#?${query}`],
    [`${BASE}?${query}#a#b?c`, `${BASE}#a#b?c`],
    [`${BASE}?a=1&${query}?x=1`, `${BASE}?a=1`],
    [`${BASE}?a=1?b&${query}`, `${BASE}?a=1?b`],
    [`${BASE}?=x&${query}`, `${BASE}?=x`],
    [`${BASE}?a=b=c&${query}`, `${BASE}?a=b=c`],
    [`${BASE}?&&${query}`, BASE],
    [`${BASE}?a=1&&b=2&c=3`, `${BASE}?a=1&&b=2&c=3`],
    [`${BASE}?${query}&sig=v&sv=v&sr=v&se=v`, BASE],
    ['https://e.org/x://a:b@c.mp3', 'https://e.org/x://a:b@c.mp3'],
    [`${BASE}?expires=1&keyname=A&signature==`, BASE],
    ['https://u:p@e.org/a.mp3', 'https://u@e.org/a.mp3'],
    [`https://u:p@e.org/a.mp3?a=1&${query}`, 'https://u@e.org/a.mp3?a=1'],
    ['https://e.org/a:b@c.mp3', 'https://e.org/a:b@c.mp3'],
    ['https://e.org/a.mp3?x=u:p@h', 'https://e.org/a.mp3?x=u:p@h'],
    ['HTTPS://u:p@e.org/', 'HTTPS://u@e.org/'],
    [`not a URL?${query}`, `not a URL?${query}`],
    [`?${query}`, `?${query}`],
    [`#?${query}`, `#?${query}`],
    ['u:p@e.org', 'u:p@e.org'],
    ['//u:p@e.org', '//u:p@e.org'],
    ['', ''],
  ])('%s is %s', (text, kept) => {
    expect(withoutSignature(text)).toBe(kept);
  });

  it('has no parameters at all where there are too many to look at', () => {
    const filled = (length: number): string => `?a=1&b=2&c=${'x'.repeat(length - 11)}`;
    expect(withoutSignature(BASE + filled(65_536))).toBe(BASE + filled(65_536));
    expect(withoutSignature(`${BASE}${filled(65_537)}#t`)).toBe(`${BASE}#t`);
    expect(withoutSignature(`${BASE}?a=1&b=${'x'.repeat(70_000)}`)).toHaveLength(BASE.length + 70_007);
    for (const text of [
      `${BASE}?b=2#${'a=1&'.repeat(20_000)}`,
      `${BASE}?b=${'x'.repeat(70_000)}#c=1&d=2`,
      `https://e.org/${'a=1&'.repeat(20_000)}`,
    ])
      expect(withoutSignature(text)).toBe(text);
  });
});

describe('a text with links', () => {
  const query = 'Expires=1&KeyName=A&Signature=B';
  const link = `${BASE}?${query}`;

  it.each([
    [`(${link})`, `(${BASE})`],
    [`[a](${link}) 'x'`, `[a](${BASE}) 'x'`],
    [`'${link}'`, `'${BASE}'`],
    [`\`${link}\`|`, `\`${BASE}\`|`],
    [`{[(${link})]}^`, `{[(${BASE})]}^`],
    [`see ${link.toUpperCase()} `, `see ${BASE.toUpperCase()} `],
    [`see HTTPS://e.org/a?${query} `, 'see HTTPS://e.org/a '],
    [`see ${link.replaceAll('&', '&AMP;')} `, `see ${BASE} `],
    [`see ${link.replaceAll('/', '\\/').replaceAll('&', '\\u0026')} `, `see ${BASE} `],
    ['see https://u:p@e.org/a, please', 'see https://u@e.org/a, please'],
    ['see https:\\/\\/e.org\\/a?x=1 ', 'see https:\\/\\/e.org\\/a?x=1 '],
    ['see https:\\/\\/e.org\\/a?a=1&amp;b=2&amp;c=3) ', 'see https:\\/\\/e.org\\/a?a=1&amp;b=2&amp;c=3) '],
    [`see https://e.org/a?x=1?${query} `, 'see https://e.org/a?x=1?Expires=1&KeyName=A&Signature=B '],
    ['see https://me@e.org/x\\/y?a=1 ', 'see https://me@e.org/x\\/y?a=1 '],
    [`${BASE}?a=<1>&${query}`, `${BASE}?a=<1>`],
    [`HTTPS://e.org/?a="b"&${query}`, 'HTTPS://e.org/?a="b"'],
    [`see xhttps://e.org/a?${query} `, `see xhttps://e.org/a?${query} `],
    [`see ${link} and ${link}`, `see ${BASE} and ${BASE}`],
    [')]', ')]'],
    ['x https://)]', 'x https://)]'],
  ])('%s is kept as %s', (text, kept) => {
    expect(cutSignatures(text)).toBe(kept);
  });

  it('loses all parameters of those after the thousandth that may be signed', () => {
    const many = (count: number): string => ` ${BASE}?a=1&b=2&c=3`.repeat(count);
    expect(cutSignatures(many(1_000))).toBe(many(1_000));
    expect(cutSignatures(many(1_001))).toBe(`${many(1_000)} ${BASE}`);
    expect(cutSignatures(`${many(1_000)} ${BASE}?a=1&b=2&c=3?d=4&e=5&f=6`)).toBe(`${many(1_000)} ${BASE}`);
    const plain = ` ${BASE}?a=1&b=2 https://e.org/a=1/b=2/c=3`.repeat(1_100);
    expect(cutSignatures(plain + many(1))).toBe(plain + many(1));
  });
});

describe('the secret values of a link', () => {
  const secret = 'abcdefgh/ijklmn=';
  const values = (query: string): string[] => signatureValues(`${BASE}?${query}`);

  it.each([
    'X-Amz-Signature',
    'x-amz-security-token',
    'X-Goog-Signature',
    'Edge-Cache-Token',
    'Signature',
    'sig',
  ])('are those of %s, in each encoding, the longest first', (name) => {
    const once = encodeURIComponent(secret);
    expect(values(`a=1&${name}=${secret}#x`)).toEqual([encodeURIComponent(once), once, secret]);
    expect(values(`${name}=${once}`)).toEqual([encodeURIComponent(once), once, secret]);
    expect(values(`${name}=a%2fbcdefghijklmn`)).toEqual([
      ...['a%252fbcdefghijklmn', 'a%252Fbcdefghijklmn', 'a%2fbcdefghijklmn', 'a%2Fbcdefghijklmn'],
    ]);
  });

  it('are none of other parameters, of a fragment, or where they are short', () => {
    expect(values(`token=${secret}`)).toEqual([]);
    expect(values(`a=1#sig=${secret}`)).toEqual([]);
    expect(values('sig=abcdefghijklmno')).toEqual([]);
    expect(values('sig=abcdefghijklmnop')).toEqual(['abcdefghijklmnop']);
    expect(values('sig&x-amz-security-token')).toEqual([]);
    expect(values(`s?ig=${secret}`)).toEqual([]);
    expect(signatureValues(BASE)).toEqual([]);
    expect(values(`x=${'y'.repeat(65_536)}&sig=${secret}`)).toEqual([]);
    expect(values(`sig=%ff${secret}`)).toContain(`%ff${secret}`);
  });

  it('go out of a text, also where it is cut off within one', () => {
    expect(cutValues(`a ${secret} b ${secret}`, [secret])).toBe('a … b …');
    expect(cutValues(`a ${secret.slice(0, 9)}… (cut)`, [secret])).toBe('a … (cut)');
    expect(cutValues(`a ${secret.slice(0, 8)}…`, [secret])).toBe('a …');
    expect(cutValues(`ab ${secret.slice(0, 10)}…`, [secret])).toBe('ab …');
    expect(cutValues(`abc ${secret.slice(0, 10)}…`, [secret])).toBe('abc …');
    expect(cutValues(`a ${secret.slice(0, 7)}…`, [secret])).toBe(`a ${secret.slice(0, 7)}…`);
    expect(cutValues(`… a ${secret.slice(0, 12)}…`, [secret])).toBe('… a …');
    expect(cutValues(`${secret.slice(0, 12)}…`, [secret])).toBe('…');
    expect(cutValues(`${secret.slice(0, 12)} …`, [secret])).toBe(`${secret.slice(0, 12)} …`);
    expect(cutValues(`x${secret.slice(1, 12)}…`, [secret])).toBe(`x${secret.slice(1, 12)}…`);
    expect(cutValues('a', [secret, 'b'])).toBe('a');
    expect(cutValues(`a ${secret} bcdefghijkl…`, [secret, 'bcdefghijklmnopqr'])).toBe('a … …');
  });
});

describe('the difference of two links', () => {
  it.each([
    [BASE, BASE, 'nothing'],
    [BASE, `${BASE}#t`, 'spelling'],
    [BASE, `${BASE}?Expires=1&KeyName=A&Signature=B`, 'signature'],
    [BASE, `${BASE}?utm_x=1`, 'tracking parameters'],
    [`${BASE}?utm_x=1&Expires=1&KeyName=A&Signature=B`, BASE, 'tracking parameters'],
  ])('%s and %s is %s', (one, other, difference) => {
    expect(differenceOf(one, other)).toBe(difference);
  });
});
