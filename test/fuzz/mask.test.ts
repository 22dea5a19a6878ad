/** A key that is written in several ways at once: each character in its own, the whole in layers, and in other letters. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Mask } from '../../src/lib/mask.ts';
import { cleanDelivery } from '../../src/listen/inbox.ts';
import { FORM } from '../support/listener.ts';
import { runs } from '../support/runs.ts';

const key = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9+/=_-]{8,40}$/),
  fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    minLength: 8,
    maxLength: 40,
  }),
  fc.string({
    unit: fc.constantFrom('a', 'b', '%', '\\', '&', '"', '+', '2', '5', 'u', '#', ';'),
    minLength: 8,
    maxLength: 20,
  }),
);
const around = fc.string({
  unit: fc.constantFrom('a', '0', ' ', '=', '"', '%', '\\', '&', '.', '#', ';', 'u'),
  maxLength: 6,
});

const hex = (character: string, digits: number): string =>
  character.charCodeAt(0).toString(16).padStart(digits, '0');

/** Ways to write one character of ASCII. */
const spellings: ReadonlyArray<(character: string) => string> = [
  (character) => character,
  (character) => `%${hex(character, 2)}`,
  (character) => `%${hex(character, 2).toUpperCase()}`,
  (character) => `%25${hex(character, 2)}`,
  (character) => `\\u${hex(character, 4)}`,
  (character) => `\\\\u${hex(character, 4).toUpperCase()}`,
  (character) => `\\x${hex(character, 2)}`,
  (character) => `&#${character.charCodeAt(0)};`,
  (character) => `&#x${hex(character, 1)};`,
  (character) => `&#X${hex(character, 4)};`,
  (character) => `&amp;#${character.charCodeAt(0)};`,
];
const mixed = fc.array(fc.nat(spellings.length - 1), { minLength: 1, maxLength: 40 });

const hidden = (secret: string, text: string): string => {
  const mask = new Mask();
  mask.add(secret);
  return mask.hide(text);
};

/** What is written around a text that comes through a form, a log or a page. */
const layers: Readonly<Record<string, (text: string) => string>> = {
  form: (text) => new URLSearchParams({ k: text }).toString().slice(2),
  percent: encodeURIComponent,
  JSON: (text) => JSON.stringify(text).slice(1, -1),
  CSV: (text) => text.replaceAll('"', '""'),
  HTML: (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
};

describe('the mask', () => {
  it('hides a key of which each character is written in another way', () => {
    fc.assert(
      fc.property(key, mixed, around, around, (secret, ways, before, after) => {
        const written = [...secret]
          .map((character, at) => spellings[ways[at % ways.length] ?? 0]?.(character) ?? '')
          .join('');
        expect(hidden(secret, `${before} ${written} ${after}`)).toContain('****');
      }),
      { numRuns: runs(100) },
    );
  });

  it.each(Object.entries(layers))('hides it in a text that was then written for %s', (name, layer) => {
    const inner = Object.entries(layers).filter(([other]) => other !== name);
    fc.assert(
      fc.property(key, fc.constantFrom(...inner), around, around, (secret, [, first], before, after) => {
        const written = layer(`${before} ${first(secret)} ${after}`);
        expect(hidden(secret, written)).toContain('****');
      }),
      { numRuns: runs(60) },
    );
  });

  it.each(['utf16le', 'utf16be'])(
    'hides a key in the bytes of %s, and what stands around it stays',
    (coding) => {
      fc.assert(
        fc.property(key, around, around, (secret, before, after) => {
          const bytes = Buffer.from(`${before} ${secret} ${after}`, 'utf16le');
          const text = (coding === 'utf16be' ? bytes.swap16() : bytes).toString('latin1');
          const shown = hidden(secret, text);
          expect(shown).toContain('****');
          expect(shown.replaceAll('\0', '')).not.toContain(secret);
        }),
        { numRuns: runs(60) },
      );
    },
  );

  it('says the same twice, and of a text that was masked', () => {
    fc.assert(
      fc.property(key, fc.array(fc.oneof(around, fc.string()), { maxLength: 6 }), (secret, parts) => {
        const mask = new Mask();
        mask.add(secret);
        const text = parts.join(secret);
        const once = mask.hide(text);
        expect(mask.hide(text)).toBe(once);
        expect(once.includes(secret) && !'****'.includes(secret)).toBe(false);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('a delivery', () => {
  const field = fc.tuple(fc.stringMatching(/^[a-z_]{1,8}$/), fc.string({ unit: 'binary', maxLength: 10 }));
  const form = fc.array(field, { maxLength: 5 });
  const clean = (body: Buffer, hide: (text: string) => string) =>
    cleanDelivery({ body, contentType: FORM, remote: '', receivedAt: '', via: '' }, hide);

  it('that holds the key is kept and forwarded without it', () => {
    fc.assert(
      fc.property(key, form, form, (secret, before, after) => {
        const mask = new Mask();
        mask.add(secret);
        const body = Buffer.from(
          new URLSearchParams([...before, ['note', `x ${secret}`], ...after]).toString(),
        );
        const { kept, forwarded = kept.body } = clean(body, mask.hide);
        for (const each of [kept.body, forwarded]) {
          expect(each.includes('****')).toBe(true);
          expect(new URLSearchParams(each.toString()).getAll('note').join()).not.toContain(`x ${secret}`);
        }
      }),
      { numRuns: runs() },
    );
  });

  it('that holds no key stays as it is, to the byte', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z]{30}$/), fc.uint8Array({ maxLength: 200 }), (secret, bytes) => {
        const mask = new Mask();
        mask.add(secret);
        const body = Buffer.from(bytes);
        const { kept, forwarded } = clean(body, mask.hide);
        expect([kept.body === body, forwarded]).toEqual([true, undefined]);
      }),
      { numRuns: runs() },
    );
  });
});
