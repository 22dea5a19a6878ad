/** Each parameter of each signature, and each place in a text where one may stand. */
import { describe, expect, it } from 'vitest';
import {
  audioIdentity,
  cutSignatures,
  cutValues,
  differenceOf,
  signatureValues,
  withoutSignature,
} from '../../src/lib/audio-identity.ts';

const BASE = 'https://media.example/talks/a.mp3';
const linkOf = (names: readonly string[]): string => `${BASE}?${names.map((name) => `${name}=v`).join('&')}`;
const same = (url: string): boolean => audioIdentity(url) === audioIdentity(BASE);

const amazon = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Signature'];
const headers = ['response-content-type', 'response-cache-control', 'response-expires'];

/** As the documents of the services have them: what must be there, and what may be. */
const signatures: ReadonlyArray<readonly [string, readonly string[], readonly string[]]> = [
  [
    'S3 version 4',
    amazon.map((name) => `X-Amz-${name}`),
    ['X-Amz-Security-Token', 'X-Amz-Meta', 'x-id', ...headers],
  ],
  ['S3 version 2', ['AWSAccessKeyId', 'Expires', 'Signature'], ['x-amz-security-token', ...headers]],
  ['Google version 4', amazon.map((name) => `X-Goog-${name}`), ['X-Goog-Meta', ...headers]],
  ['Google version 2', ['GoogleAccessId', 'Expires', 'Signature'], headers],
  ['Google CDN', ['Expires', 'KeyName', 'Signature'], []],
  [
    'Azure service',
    ['sig', 'sv', 'sr', 'se'],
    [
      ...['ss', 'srt', 'si', 'sp', 'st', 'spr', 'sip', 'sdd', 'ses', 'rscc', 'rscd', 'rsce', 'rscl', 'rsct'],
      ...['skoid', 'sktid', 'skt', 'ske', 'sks', 'skv', 'saoid', 'suoid', 'scid', 'sduoid', 'skdutid'],
    ],
  ],
  ['Azure account, stored policy', ['sig', 'sv', 'ss', 'si'], []],
  ['CloudFront canned', ['Key-Pair-Id', 'Signature', 'Expires'], ['Hash-Algorithm']],
  ['CloudFront custom', ['Key-Pair-Id', 'Signature', 'Policy'], ['Hash-Algorithm']],
];

describe.each(signatures)('a signature of %s', (_, required, optional) => {
  it.each(required)('is none without %s, or where it is empty', (left) => {
    const others = required.filter((name) => name !== left);
    const lacking = linkOf(others);
    expect([same(lacking), withoutSignature(lacking)]).toEqual([false, lacking]);
    const empty = `${lacking}&${left}=`;
    expect([same(empty), withoutSignature(empty)]).toEqual([false, empty]);
    const bare = `${lacking}&${left}`;
    expect([same(bare), withoutSignature(bare)]).toEqual([false, bare]);
  });

  it('goes with all of its parameters, and with no other', () => {
    const whole = [...required, ...optional];
    expect([same(linkOf(required)), same(linkOf(whole)), withoutSignature(linkOf(whole))]).toEqual([
      ...[true, true, BASE],
    ]);
    for (const name of whole) {
      const other = `my${name}`;
      expect(withoutSignature(linkOf([other, ...required]))).toBe(`${BASE}?${other}=v`);
      expect(same(linkOf([other, ...required]))).toBe(false);
    }
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
    ...['utm_x', 'mtm_x', 'matomo_x', 'piwik_x', 'pk_x', 'guce_x'],
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

  it.each(['X-Amz-Signature', 'x-amz-security-token', 'X-Goog-Signature', 'Signature', 'sig'])(
    'are those of %s, in each encoding, the longest first',
    (name) => {
      const once = encodeURIComponent(secret);
      expect(values(`a=1&${name}=${secret}#x`)).toEqual([encodeURIComponent(once), once, secret]);
      expect(values(`${name}=${once}`)).toEqual([encodeURIComponent(once), once, secret]);
      expect(values(`${name}=a%2fbcdefghijklmn`)).toEqual([
        ...['a%252fbcdefghijklmn', 'a%252Fbcdefghijklmn', 'a%2fbcdefghijklmn', 'a%2Fbcdefghijklmn'],
      ]);
    },
  );

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
