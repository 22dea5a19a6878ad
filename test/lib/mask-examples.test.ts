/** The mask by example, to the character: what goes, and what stays around it. */
import { describe, expect, it } from 'vitest';
import { Mask, masked } from '../../src/lib/mask.ts';

function hide(text: string, ...secrets: string[]): string {
  const mask = new Mask();
  for (const secret of secrets) mask.add(secret);
  return mask.hide(text);
}

const hex = (text: string, encoding: BufferEncoding = 'utf8'): string =>
  Buffer.from(text, encoding).toString('hex');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const every = (text: string, spell: (unit: string) => string): string =>
  text
    .split('')
    .map((each) => spell(each.charCodeAt(0).toString(16)))
    .join('');

const KEY = `a"b/c'd+e&f%g\\h<i>j k`;

describe('a key of signs', () => {
  it.each([
    ['as it is', KEY],
    ['for a URL', encodeURIComponent(KEY)],
    ['for a URL, in small letters', encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase())],
    ['for a URL, twice', encodeURIComponent(encodeURIComponent(KEY))],
    ['for a form', new URLSearchParams({ k: KEY }).toString().slice(2)],
    ['in JSON', JSON.stringify(KEY).slice(1, -1)],
    ['in JSON, slashes escaped', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(KEY)).slice(3, -3)],
    ['in JSON for a URL', encodeURIComponent(JSON.stringify(KEY).slice(1, -1))],
    ['as \\u', every(KEY, (unit) => `\\u${unit.padStart(4, '0')}`)],
    ['as \\U in capitals', every(KEY, (unit) => `\\u${unit.padStart(4, '0').toUpperCase()}`)],
    ['as \\x', every(KEY, (unit) => `\\x${unit.padStart(2, '0')}`)],
    ['in HTML by number', every(KEY, (unit) => `&#${Number.parseInt(unit, 16)};`)],
    ['in HTML by hexadecimal number', every(KEY, (unit) => `&#x${unit};`)],
    ['in HTML by a number with zeros', every(KEY, (unit) => `&#X000${unit.toUpperCase()};`)],
    [
      'in HTML by name',
      KEY.replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&apos;'),
    ],
    ['in HTML twice', KEY.replaceAll('&', '&amp;amp;').replaceAll('<', '&amp;lt;')],
  ])('is hidden %s, and nothing else', (_, written) => {
    expect(hide(`x ${written} y`, KEY).replace(/\n /, ' ')).toBe('x **** y');
    expect(hide(`x=${written}&y ${written}`, KEY).replace(/\n$/, '')).toMatch(/^x=\*{4}\n?&y \*{4}$/);
    expect(hide(written.slice(0, -1), KEY)).toBe(written.slice(0, -1));
    expect(hide(written.slice(1), KEY)).toBe(written.slice(1));
  });
});

describe('a key in base64', () => {
  const secret = 'very/secret+key?>';

  it.each([0, 1, 2, 3])('is hidden %i characters after the beginning', (offset) => {
    const before = 'ab0'.slice(0, offset);
    const shown = hide(base64(`${before}${secret}xyz`), secret);
    expect(shown).toMatch(/^.{0,4}\*{4}.{3,7}$/);
    expect(hide(base64(`${before}${secret}xyz`).replaceAll('+', '-').replaceAll('/', '_'), secret)).toBe(
      shown.replaceAll('+', '-').replaceAll('/', '_'),
    );
    expect(hide(base64(`${before}${secret}xyz`).replaceAll('+', ' '), secret)).toMatch(/\*{4}/);
    expect(hide(base64(`${before}${secret}xyz`).replace(/.{5}/g, '$&\r\n'), secret)).toMatch(/\*{4}/);
  });

  it('is another text where it stands by itself', () => {
    expect(hide(`${base64('another text')} ${hex('another text')}`, secret)).toBe(
      `${base64('another text')} ${hex('another text')}`,
    );
  });
});

describe('a key of letters beyond ASCII', () => {
  const secret = 'pässwörd€😀';
  it.each([
    ['composed', secret.normalize('NFC')],
    ['decomposed', secret.normalize('NFD')],
    ['for a URL', encodeURIComponent(secret)],
    ['as \\u', every(secret, (unit) => `\\u${unit.padStart(4, '0')}`)],
    ['in HTML', [...secret].map((each) => `&#${each.codePointAt(0)};`).join('')],
    ['in hexadecimal HTML', [...secret].map((each) => `&#x${each.codePointAt(0)?.toString(16)};`).join('')],
    ['as bytes of UTF-8', Buffer.from(secret).toString('latin1')],
  ])('is hidden %s', (_, written) => {
    for (const form of ['NFC', 'NFD'] as const)
      expect(hide(`x ${written} y`, secret.normalize(form))).toMatch(/^x \*{4} y$/);
  });

  it('is hidden where it begins with a character of two units', () => {
    expect(hide('x &#128512;bcdef y 😀bcdef z &#128513;bcdef', '😀bcdef')).toBe(
      'x **** y **** z &#128513;bcdef',
    );
    expect(hide('x ab&#128512; y', 'abc&#128512;')).toBe('x ab&#128512; y');
  });
});

describe('what stands around a key', () => {
  it.each([
    ['secretkey', 'secretkeysecretkey', '********'],
    ['secretkey', 'secretsecretkeykey', 'secret****key'],
    ['secretkey', 'ssecretkey', 's****'],
    ['aaaaab', 'aaaaaaaaab', 'aaaa****'],
    ['secretkey', 'SECRETKEY', 'SECRETKEY'],
    ['secretkey', 'secret\nkey secret\r\nkey', 'secret\nkey secret\r\nkey'],
    ['secretkey', '\\secretkey\\', '\\****\\'],
    ['secretkey', '\\\\\\u0073ecretkey', '****'],
    ['secretkey', '%2573ecretkey%25', '****%25'],
    ['secretkey', '&amp;#115;ecretkey&amp;', '****&amp;'],
    ['secretkey', '%7', '%7'],
    ['secretkey', '%zzsecretkey%', '%zz****%'],
    ['secretkey', '&#115ecretkey', '&#115ecretkey'],
    ['secretkey', '&#99999999999;secretkey&#x;', '&#99999999999;****&#x;'],
    ['secretkey', '\\u00secretkey', '\\u00****'],
    ['secretkey', '\\xsecretkey', '\\x****'],
    ['secret key', 'secret+key secret%20key secret key', '**** **** ****'],
    ['secret+key', 'secret+key secret key', '**** secret key'],
    ['secret\\key', 'secret\\\\\\\\key', '****'],
    ['%secret%', '%25secret%25 %secret%', '**** ****'],
    ['&secret&', '&amp;secret&amp; &secret&', '**** ****'],
  ])('%s in %s is shown as %s', (secret, text, shown) => {
    expect(hide(text, secret)).toBe(shown);
  });

  it.each([
    ['ab1', 'ab1 xab1 ab1x -ab1 ab1- _ab1 (ab1) ab1', '**** xab1 ab1x -ab1 ab1- _ab1 (****) ****'],
    ['ab1', `${hex('ab1')} ${base64('ab1')}`, `${hex('ab1')} ${base64('ab1')}`],
    ['ab1', '%61b1 x%61b1 \\u0061b1', '**** x%61b1 ****'],
    ['abcd', 'abcd abcde', '**** abcde'],
    ['abcde', 'xabcdex', 'x****x'],
  ])('the short key %s in %s is shown as %s', (secret, text, shown) => {
    expect(hide(text, secret)).toBe(shown);
  });

  it('is all there is without a key, or with an empty one', () => {
    expect([hide('text'), hide('text', '')]).toEqual(['text', 'text']);
  });
});

describe('several keys', () => {
  it('are hidden, also one that is added later, or that stands in another', () => {
    const mask = new Mask();
    mask.add('first-key');
    expect(mask.hide('first-key second-key')).toBe('**** second-key');
    mask.add('second-key');
    mask.add('second-key');
    mask.add('');
    expect(mask.hide('first-key second-key')).toBe('**** ****');
    expect(hide('xx-abcdef-yy', 'abcdef', 'xx-abcdef-yy')).toBe('****');
    expect(hide('xx-abcdef-yz', 'abcdef', 'xx-abcdef-yy')).toBe('xx-****-yz');
    expect(hide('first-key%20%255c second-key', 'first-key', 'second-key')).toBe('****%20%255c ****');
  });

  it('are hidden in a field that is escaped for a URL, beside those that are not', () => {
    const body = encodeURIComponent(JSON.stringify({ k: 'a"secret' }));
    expect(hide(`open-key&f=${body}`, 'a"secret', 'open-key')).toBe('****&f=%7B%22k%22%3A%22****%22%7D');
    expect(hide(`f=${encodeURIComponent(body)}`, 'a"secret')).toBe(
      'f=%257B%2522k%2522%253A%2522****%2522%257D',
    );
  });
});

describe('a key as people may see it', () => {
  it('shows its end where it is long', () => {
    expect([masked('0123456789abcdef'), masked('0123456789abcde'), masked('')]).toEqual([
      ...['****cdef', '****', '****'],
    ]);
  });
});

it('a key that looks like an escape is hidden as it is, beside one that is escaped', () => {
  const key = 'a%41secret%42z';
  expect(hide(`x ${key} y ${encodeURIComponent(key)} z`, key)).toBe('x **** y **** z');
});
