import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hiderOf, Mask, masked } from '../../src/lib/mask.ts';
import { patternsOf, SecretSearch } from '../../src/lib/mask-search.ts';
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
  'in a program, every byte escaped': (text) => everyByte(text, (byte) => `\\x${byte}`),
  'in HTML': (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`),
  'in HTML by name': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  'in HTML, hexadecimal': (text) =>
    [...text].map((character) => `&#x${character.codePointAt(0)?.toString(16)};`).join(''),
  'in hexadecimal': (text) => Buffer.from(text).toString('hex'),
  'in HEXADECIMAL': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'in base64': (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  'in base64 for a URL': (text) => Buffer.from(text).toString('base64url'),
  'in base64, in lines': (text) =>
    Buffer.from(text)
      .toString('base64')
      .replace(/=+$/, '')
      .replace(/.{7}(?=.)/g, '$&\r\n'),
  'in CSV': (text) => text.replaceAll('"', '""'),
  'in JSON in CSV': (text) => JSON.stringify(text).slice(1, -1).replaceAll('"', '""'),
  'in JSON in HTML': (text) =>
    JSON.stringify(text).slice(1, -1).replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  'in CSV in JSON': (text) => JSON.stringify(text.replaceAll('"', '""')).slice(1, -1),
  'in CSV in HTML': (text) => text.replaceAll('"', '""').replaceAll('&', '&amp;').replaceAll('"', '&quot;'),
  'composed, for a URL': (text) => encodeURIComponent(text.normalize('NFC')),
  'decomposed, for a URL': (text) => encodeURIComponent(text.normalize('NFD')),
  'composed, in base64': (text) => Buffer.from(text.normalize('NFC')).toString('base64').replace(/=+$/, ''),
  'decomposed, in hexadecimal': (text) => Buffer.from(text.normalize('NFD')).toString('hex'),
};

/** One layer less, one character a byte. */
const unescapeBytes = (text: string): string =>
  text.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(Number.parseInt(digits, 16)));

/** At least one letter that Latin-1 has and ASCII has not. */
const accented = fc
  .string({ unit: fc.constantFrom('a', 'k', '7', 'é', 'ü', 'ñ', 'Å'), minLength: 8, maxLength: 20 })
  .map((text) => `${text}é`);
const latin1Encodings: Readonly<Record<string, (bytes: Buffer) => string>> = {
  'for a URL': (bytes) => [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join(''),
  'in base64': (bytes) => bytes.toString('base64').replace(/=+$/, ''),
  'in hexadecimal': (bytes) => bytes.toString('hex'),
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

  it.each(Object.entries(encodings))(
    'hides a key written %s, in up to three layers for a URL',
    (_, encode) => {
      const asForm = (text: string): string => new URLSearchParams({ k: text }).toString().slice(2);
      fc.assert(
        fc.property(key, around, around, (secret, before, after) => {
          const mask = new Mask();
          mask.add(secret);
          const written = encode(secret);
          const once = asForm(before + written + after);
          for (const layered of [
            once,
            asForm(once),
            asForm(asForm(once)),
            everyByte(once, (byte) => `%${byte}`),
          ]) {
            const shown = mask.hide(layered);
            expect(shown).toContain('****');
            for (let text = shown, layer = 0; layer < 4; layer += 1, text = unescapeBytes(text))
              expect(text).not.toContain(Buffer.from(written).toString('latin1'));
          }
        }),
        { numRuns: runs(40) },
      );
    },
  );

  it('leaves all that stands around a key under two escapes, to the byte', () => {
    const mask = new Mask();
    mask.add('ab/cd+ef"gh&ijKLM9');
    const body = '%7B%22k%22%3A%20%22ab%2Fcd%2Bef%5C%22gh%26ijKLM9%22%7D';
    expect(mask.hide(`a=%5c+%00&f=${body}&z=\xff%41`)).toBe(
      'a=%5c+%00&f=%7B%22k%22%3A%20%22****%22%7D&z=\xff%41',
    );
  });

  it('hides a key with NULs between its characters, which a command would get without them', () => {
    const mask = new Mask();
    mask.add('secretkey');
    const spread = [...'secretkey'].join('%00');
    expect(mask.hide(`a=${spread}&b=${decodeURIComponent(spread)}&c=%00`)).toBe('a=****&b=****&c=%00');
  });

  it.each(Object.entries(latin1Encodings))('hides a key of accented letters in Latin-1, %s', (_, encode) => {
    fc.assert(
      fc.property(accented, around, around, fc.constantFrom('NFC', 'NFD'), (letters, before, after, form) => {
        const mask = new Mask();
        mask.add(letters.normalize(form));
        const written = encode(Buffer.from(letters.normalize('NFC'), 'latin1'));
        const shown = mask.hide(before + written + after);
        expect(shown).toContain('****');
        expect(shown).not.toContain(written);
      }),
      { numRuns: runs(60) },
    );
  });

  it('hides a key that ends with a quote and leaves CSV and JSON whole', () => {
    const mask = new Mask();
    mask.add('secret"');
    expect(mask.hide('"say secret"""\r\n')).toBe('"say ****"\r\n');
    expect(mask.hide('{"say":"secret\\""}')).toBe('{"say":"****"}');
  });

  it('hides a key with a quote that was doubled for CSV or escaped for JSON, then escaped again', () => {
    const mask = new Mask();
    mask.add('one"two"three');
    const texts = [
      'one\\"\\"two\\"\\"three',
      'one&quot;&quot;two&#34;&#34;three',
      'one\\u0022\\u0022two%22%22three',
      'one"two"three',
      'one\\&quot;two\\&#34;three',
    ];
    expect(texts.map((text) => mask.hide(`<${text}>`))).toEqual(texts.map(() => '<****>'));
    expect(mask.hide('one two"three')).toBe('one two"three');
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

  it('takes a number of steps that its length and the key bound', () => {
    for (const secret of KEYS) {
      const patterns = patternsOf(secret);
      const places = patterns.reduce((sum, pattern) => sum + pattern.places.length + 1, 0);
      const search = new SecretSearch(patterns);
      const [short, long] = [100_000, 200_000].map((length) => search.find(make(length)).work) as [
        number,
        number,
      ];
      expect(long).toBeLessThan(2.01 * short + 1000);
      expect(long).toBeLessThan(200_000 * 3 * places);
    }
  });

  it('takes a few steps a character with an ordinary key', () => {
    const search = new SecretSearch(patternsOf(KEYS[0] ?? ''));
    expect(search.find(make(200_000)).work).toBeLessThan(200_000 * 6);
  });
});

it('one secret alone is hidden in each text, in all of its encodings, where others stay', () => {
  const hide = hiderOf('first-secret');
  const encoded = Buffer.from('first-secret').toString('hex');
  expect(hide('first-secret and second-secret')).toBe('**** and second-secret');
  expect(hide(`again: ${encoded}`)).toBe('again: ****');
  expect(hide('nothing')).toBe('nothing');
});
