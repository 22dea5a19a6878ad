/** What holds for every URL and every point in time. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { audioIdentity } from '../../src/lib/names.ts';
import { parseSince, parseUntil } from '../../src/lib/time.ts';
import { runs } from '../support/runs.ts';

const url = fc.webUrl({ withQueryParameters: true, withFragments: true });

describe('the identity of a URL', () => {
  it('is the same for every spelling of host, scheme, default port and fragment', () => {
    fc.assert(
      fc.property(url, fc.string(), (text, fragment) => {
        const plain = text.replace(/#.*$/s, '');
        const [, scheme = '', host = '', rest = ''] = /^(https?):\/\/([^/?#:]+)([/?].*)?$/s.exec(plain) ?? [];
        fc.pre(host !== '');
        const port = scheme === 'https' ? ':443' : ':80';
        const key = audioIdentity(plain);
        for (const same of [
          `${plain}#${fragment}`,
          `${scheme.toUpperCase()}://${host}${rest}`,
          `${scheme}://${host.toUpperCase()}${rest}`,
          `${scheme}://${host}${port}${rest}`,
        ])
          expect(audioIdentity(same)).toBe(key);
      }),
    );
  });

  it('is another for another path, query, host, port or scheme', () => {
    fc.assert(
      fc.property(fc.domain(), fc.nat(60_000), fc.stringMatching(/^[a-z0-9]{1,12}$/), (host, port, path) => {
        const spellings = [
          `https://${host}/${path}`,
          `https://${host}/${path}x`,
          `https://${host}/${path}?`.concat('x=1'),
          `https://x.${host}/${path}`,
          `https://${host}:${port + 1000}/${path}`,
          `http://${host}/${path}`,
          `https://${host}/${path.toUpperCase()}-`,
        ];
        expect(new Set(spellings.map(audioIdentity)).size).toBe(spellings.length);
      }),
    );
  });

  it('is an identity of itself, and has no fragment', () => {
    fc.assert(
      fc.property(url, (text) => {
        const key = audioIdentity(text);
        expect(audioIdentity(key)).toBe(key);
        expect(key).not.toContain('#');
      }),
    );
  });
});

describe('a point in time', () => {
  const now = Date.parse('2026-11-15T12:00:00Z');
  const time = fc.date({ min: new Date('1970-01-01'), max: new Date('2199-12-31'), noInvalidDate: true });

  it('is itself as an ISO time, a day is its midnight in UTC', () => {
    fc.assert(
      fc.property(time, (date) => {
        const iso = date.toISOString();
        expect(parseSince(iso, now)).toBe(iso);
        expect(parseSince(iso.replace('T', ' '), now)).toBe(iso);
        expect(parseSince(iso.slice(0, 10), now)).toBe(`${iso.slice(0, 10)}T00:00:00.000Z`);
      }),
    );
  });

  it('is as long before now as a duration says', () => {
    const units = { ms: 1, s: 1e3, m: 60e3, h: 3600e3, d: 86_400e3, '': 1e3 };
    fc.assert(
      fc.property(
        fc.nat(3000),
        fc.constantFrom(...(Object.keys(units) as Array<keyof typeof units>)),
        (count, unit) => {
          expect(parseSince(`${count}${unit}`, now)).toBe(new Date(now - count * units[unit]).toISOString());
        },
      ),
    );
  });

  it('may be called today or yesterday, which are days in UTC', () => {
    const at = Date.parse('2026-11-17T00:30:00Z');
    expect([parseSince('today', at), parseSince('Yesterday', at), parseUntil('yesterday', at)]).toEqual([
      '2026-11-17T00:00:00.000Z',
      '2026-11-16T00:00:00.000Z',
      '2026-11-16T23:59:59.999Z',
    ]);
  });

  it('takes an offset, with or without a colon', () => {
    for (const text of ['2026-11-01T09:30+02:00', '2026-11-01 09:30:00+0200', '2026-11-01t07:30z'])
      expect(parseSince(text, now)).toBe('2026-11-01T07:30:00.000Z');
  });

  it.each([
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-11-01T25:00',
    '2026-11-1',
    '11/01/2026',
    'tomorrow',
    '',
    '-3d',
    '3 days',
    '4000d',
    '1e9',
  ])('is not %j', (text) => {
    expect(() => parseSince(text, now)).toThrow(`'${text}' is not a time`);
  });

  it('is an ISO time or an error, whatever was typed', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d.{0,8}$/)),
        (text) => {
          let found: string;
          try {
            found = parseSince(text, now);
          } catch (error) {
            expect(error).toMatchObject({ kind: 'usage' });
            return;
          }
          expect(new Date(found).toISOString()).toBe(found);
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
