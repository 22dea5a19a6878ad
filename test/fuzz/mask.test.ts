/** Keys of any characters in texts and deliveries: what holds one is shown without it. */
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

describe('the mask', () => {
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
