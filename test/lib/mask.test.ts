import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hiderOf, Mask, masked } from '../../src/lib/mask.ts';
import { excessGrowth } from '../support/growth.ts';
import { processorTimeOf } from '../support/processor-time.ts';
import { runs } from '../support/runs.ts';

const printable = fc.string({
  unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
  minLength: 8,
  maxLength: 40,
});
const key = fc.oneof(
  printable,
  fc.stringMatching(/^[A-Za-z0-9+/=_-]{8,40}$/),
  fc
    .string({ unit: 'grapheme', minLength: 8, maxLength: 20 })
    .filter((text) => /^[\x21-\x7e\u00a1-\uffff]+$/.test(text)),
);
const around = fc.string({
  unit: fc.constantFrom('a', 'Z', '0', ' ', '=', '&', '"', '%', '\\', '.'),
  maxLength: 8,
});

const everyByte = (text: string, spell: (byte: string) => string): string =>
  [...Buffer.from(text)].map((byte) => spell(byte.toString(16).padStart(2, '0'))).join('');
const everyUnit = (text: string, spell: (unit: number) => string): string =>
  Array.from({ length: text.length }, (_, at) => spell(text.charCodeAt(at))).join('');

const encodings: Readonly<Record<string, (text: string) => string>> = {
  'as it is': (text) => text,
  'for a URL': encodeURIComponent,
  'for a URL, in small letters': (text) =>
    encodeURIComponent(text).replace(/%../g, (code) => code.toLowerCase()),
  'for a URL, twice': (text) => encodeURIComponent(encodeURIComponent(text)),
  'for a URL, every byte': (text) => everyByte(text, (byte) => `%${byte}`),
  'for a form': (text) => new URLSearchParams({ k: text }).toString().slice(2),
  'in JSON': (text) => JSON.stringify(text).slice(1, -1),
  'in JSON in JSON': (text) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  'in JSON, slashes escaped': (text) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  'in JSON, every character escaped': (text) =>
    everyUnit(text, (unit) => `\\u${unit.toString(16).padStart(4, '0')}`),
  'in HTML': (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
  'in HTML by name': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  'in HTML, hexadecimal': (text) =>
    [...text].map((character) => `&#x${character.codePointAt(0)?.toString(16)};`).join(''),
  'in base64': (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  'in base64 for a URL': (text) => Buffer.from(text).toString('base64url'),
  'in base64, in lines': (text) =>
    Buffer.from(text)
      .toString('base64')
      .replace(/=+$/, '')
      .replace(/.{7}(?=.)/g, '$&\r\n'),
};

describe('the mask', () => {
  it.each(Object.entries(encodings))('hides a key written %s', (_, encode) => {
    fc.assert(
      fc.property(key, around, around, (secret, before, after) => {
        const mask = new Mask();
        mask.add(secret);
        const written = encode(secret);
        const shown = mask.hide(before + written + after);
        expect(shown).toContain('****');
        expect(shown).not.toContain(written);
      }),
      { numRuns: runs(60) },
    );
  });

  it('hides a key with a space in a form', () => {
    const mask = new Mask();
    mask.add('open sesame now');
    expect(mask.hide('p=open+sesame%20now&x')).toBe('p=****&x');
  });

  it('hides a key inside a longer text that is written in base64, wherever it stands', () => {
    fc.assert(
      fc.property(
        printable,
        fc.string({ maxLength: 12 }),
        fc.string({ maxLength: 12 }),
        (secret, before, after) => {
          const mask = new Mask();
          mask.add(secret);
          const shown = mask.hide(Buffer.from(before + secret + after).toString('base64'));
          const [left = '', right] = shown.split('****');
          expect(right).toBeDefined();
          // What is left before it may hold a few bits of its first character, and no more.
          expect(Buffer.from(left, 'base64').length).toBeLessThanOrEqual(Buffer.byteLength(before) + 1);
        },
      ),
    );
  });

  it('leaves a text alone that does not hold the key', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-m]{8,20}$/), fc.stringMatching(/^[n-z ]{0,60}$/), (secret, text) => {
        const mask = new Mask();
        mask.add(secret);
        expect(mask.hide(text)).toBe(text);
      }),
    );
  });

  it('hides several keys, also where one begins with another', () => {
    const mask = new Mask();
    mask.add('abcdefgh');
    mask.add('abcdefghijkl');
    expect(mask.hide('abcdefghijkl abcdefgh')).toBe('**** ****');
  });

  it('hides a very short key only where it stands alone', () => {
    const mask = new Mask();
    mask.add('bal');
    expect(mask.hide('balance api_key=bal&x')).toBe('balance api_key=****&x');
  });

  it('takes no secret for a pattern', () => {
    const mask = new Mask();
    mask.add('.*.*.*.*');
    expect(mask.hide('nothing to hide')).toBe('nothing to hide');
  });

  it('takes time in proportion to a text that is nearly all key', () => {
    const mask = new Mask();
    mask.add('sk+very/secret=key&0123456789');
    const nearly = 'sk+very/secret=key&012345678 ';
    const make = (length: number): string => nearly.repeat(length / nearly.length);
    expect(excessGrowth((text) => mask.hide(text), make)).toBeUndefined();
  });

  it('hides as many secrets as it is given in one pass, each in its own encoding', () => {
    const mask = new Mask();
    const secrets = ['sk+very/secret=key', 'database "password"', 'pässwörd', 'ab1'];
    for (const secret of secrets) mask.add(secret);
    const written = [
      encodeURIComponent(secrets[0] ?? ''),
      JSON.stringify(secrets[1]).slice(1, -1),
      Buffer.from(secrets[2] ?? '').toString('base64url'),
      'ab1',
    ];
    expect(mask.hide(written.join(' '))).toMatch(/^\*{4} \*{4} \*{4}.? \*{4}$/);
  });

  it('shows the end of a long key only', () => {
    expect([masked('0123456789abcdef'), masked('0123456789')]).toEqual(['****cdef', '****']);
  });
});

const KEYS = [
  'sk+very/secret=key&0123456789',
  `${'a'.repeat(24)}b`,
  `${'\\'.repeat(12)}x`,
  `${'%'.repeat(12)}x`,
  `${'&'.repeat(12)}"`,
  'pässwörd€😀\\"&%',
  'ab1',
];

/** Texts that make a search go back again and again, if it can; each is made as long as one likes. */
const hostile: Readonly<Record<string, (length: number) => string>> = {
  backslashes: (length) => '\\'.repeat(length),
  'escaped u': (length) => '\\\\u0061'.repeat(length / 7),
  'a percent sign, escaped again and again': (length) => `%${'25'.repeat(length / 2)}`,
  'many percent signs': (length) => '%25'.repeat(length / 3),
  'an ampersand, escaped again and again': (length) => `&${'amp;'.repeat(length / 4)}`,
  'many ampersands': (length) => '&amp;'.repeat(length / 5),
  'a number of zeros': (length) => `&#${'0'.repeat(length)}`,
  'numbers of zeros without an end': (length) => '&#x000'.repeat(length / 6),
  'what the key begins with': (length) => 'a'.repeat(length),
  'all but the end of the key': (length) => 'sk+very/secret=key&012345678'.repeat(length / 28),
  base64: (length) => Buffer.from('a'.repeat((length * 3) / 4)).toString('base64'),
  hexadecimal: (length) => '61'.repeat(length / 2),
  quotes: (length) => '"'.repeat(length),
  'line breaks': (length) => `c2sr${'\n'.repeat(length)}`,
  'percent escapes of escapes': (length) => '%5C%2526%22'.repeat(length / 12),
  'all at once': (length) => '\\%25&amp;#"\\u0025+/'.repeat(length / 20),
};

describe.each(Object.entries(hostile))('a long text of %s', (_, make) => {
  it('takes time in proportion to its length, whatever the key', () => {
    for (const secret of KEYS) {
      const mask = new Mask();
      mask.add(secret);
      const hide = (length: number): number => processorTimeOf(() => void mask.hide(make(length)));
      hide(1000);
      // Short texts: a search that goes back would need minutes for long ones.
      const [short, long] = [hide(8_000), hide(64_000)];
      expect(long).toBeLessThan(Math.max(24 * short, 500));
    }
  });
});

it('one secret alone is hidden in each text, where others stay', () => {
  const hide = hiderOf('first-secret');
  const encoded = Buffer.from('first-secret').toString('base64');
  expect(hide('first-secret and second-secret')).toBe('**** and second-secret');
  expect(hide(`again: ${encoded}`)).toBe('again: ****');
  expect(hide('nothing')).toBe('nothing');
});
