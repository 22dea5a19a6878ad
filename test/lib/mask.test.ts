import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Mask, masked } from '../../src/lib/mask.ts';

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
  'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
  'in HEXADECIMAL': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'in base64': (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  'in base64 for a URL': (text) => Buffer.from(text).toString('base64url'),
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
      { numRuns: 60 },
    );
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

  it('is quick on a long text', () => {
    const mask = new Mask();
    mask.add('sk+very/secret=key&0123456789');
    const started = Date.now();
    mask.hide('sk+very/secret=key&012345678 '.repeat(100_000));
    expect(Date.now() - started).toBeLessThan(3000);
  });

  it('shows the end of a long key only', () => {
    expect([masked('0123456789abcdef'), masked('0123456789')]).toEqual(['****cdef', '****']);
  });
});
