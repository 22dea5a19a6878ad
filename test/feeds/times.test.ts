/** Dates and durations as feeds spell them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFeedDate, parseFeedDuration } from '../../src/feeds/times.ts';
import { runs } from '../support/runs.ts';

describe('a date', () => {
  it.each([
    ['Tue, 03 Nov 2026 09:30:00 -0500', '2026-11-03T14:30:00.000Z'],
    ['Tue, 3 Nov 2026 09:30:00 GMT', '2026-11-03T09:30:00.000Z'],
    ['03 Nov 2026 09:30 UT', '2026-11-03T09:30:00.000Z'],
    ['3 Nov 26 09:30:15 Z', '2026-11-03T09:30:15.000Z'],
    ['Fri, 31 Dec 99 23:59:59 GMT', '1999-12-31T23:59:59.000Z'],
    ['Tuesday, 03 November 2026 09:30:00 EST', '2026-11-03T14:30:00.000Z'],
    ['Tue, 03 Sept. 2026 09:30:00 PDT', '2026-09-03T16:30:00.000Z'],
    ['Tue 03 Nov 2026 09:30:00 CEST', '2026-11-03T07:30:00.000Z'],
    ['Tue, 03 Nov 2026 09:30:00 +02:00', '2026-11-03T07:30:00.000Z'],
    ['Tue, 03 Nov 2026 09:30:00 GMT+2', '2026-11-03T07:30:00.000Z'],
    ['Tue, 03 Nov 2026 09:30:00 UTC-0330', '2026-11-03T13:00:00.000Z'],
    ['Tue, 03 Nov 2026 09:30:00 +0545 (Nepal)', '2026-11-03T03:45:00.000Z'],
    ['Tue, 03 Nov 2026 09:30:00', '2026-11-03T09:30:00.000Z'],
    ['Tue, 03 Nov 2026 09:30:00 XYZ', '2026-11-03T09:30:00.000Z'],
    ['Tue, 03 Nov 2026', '2026-11-03T00:00:00.000Z'],
    ['03-Nov-2026 09:30:00 GMT', '2026-11-03T09:30:00.000Z'],
    // The day of the week is wrong: the date counts.
    ['Sun, 03 Nov 2026 09:30:00 GMT', '2026-11-03T09:30:00.000Z'],
    ['2026-11-03T09:30:00Z', '2026-11-03T09:30:00.000Z'],
    ['2026-11-03T09:30:00.250+01:00', '2026-11-03T08:30:00.250Z'],
    ['2026-11-03 09:30', '2026-11-03T09:30:00.000Z'],
    ['2026-11-03', '2026-11-03T00:00:00.000Z'],
    ['  2026-11-03t09:30:00-0500\n', '2026-11-03T14:30:00.000Z'],
  ])('%s', (text, expected) => {
    expect(parseFeedDate(text)).toBe(expected);
  });

  it.each([
    ...['', 'yesterday', 'Tue', '03 Nov', '2026', '31 Feb 2026 00:00:00 GMT', '2026-02-30', '2026-13-01'],
    ...['03 Foo 2026 09:30:00 GMT', '03 Nov 2026 25:00:00 GMT', '03 Nov 2026 09:61:00 GMT', '0 Nov 2026'],
    ...['03 Nov 1900 00:00:00 GMT', '03 Nov 9999 00:00:00 GMT', '03 Nov 2026 09:30:00 +9900'],
    ...[
      '03 Nov 2026 09:30:00 at noon',
      '1730626200',
      '0000-00-00T00:00:00Z',
      `2026-11-03${' '.repeat(500)}x`,
    ],
  ])('is not known: %s', (text) => {
    expect(parseFeedDate(text)).toBeUndefined();
  });

  it('is the same moment in every spelling', () => {
    const moments = fc.date({
      min: new Date('1970-01-02'),
      max: new Date('2199-12-30'),
      noInvalidDate: true,
    });
    const offsets = fc.integer({ min: -11 * 60, max: 13 * 60 });
    fc.assert(
      fc.property(moments, offsets, (moment, offset) => {
        const whole = new Date(Math.floor(moment.getTime() / 1000) * 1000);
        const local = new Date(whole.getTime() + offset * 60_000);
        const sign = offset < 0 ? '-' : '+';
        const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60];
        const zone = `${sign}${String(hours).padStart(2, '0')}${String(minutes).padStart(2, '0')}`;
        expect(parseFeedDate(local.toUTCString().replace('GMT', zone))).toBe(whole.toISOString());
        expect(parseFeedDate(local.toISOString().replace('.000Z', zone))).toBe(whole.toISOString());
      }),
    );
  });

  it('is a moment or nothing, for any text', () => {
    const parts = fc.constantFrom(
      'Tue',
      ',',
      ' ',
      '03',
      'Nov',
      '2026',
      ':',
      '-',
      '+',
      '09',
      'GMT',
      'T',
      'Z',
      '(',
      '.',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(parts).map((all) => all.join('')),
          fc.string(),
        ),
        (text) => {
          const date = parseFeedDate(text);
          if (date !== undefined) expect(new Date(date).toISOString()).toBe(date);
        },
      ),
      { numRuns: runs(1_000) },
    );
  });
});

describe('a duration', () => {
  it.each([
    ['3723', 3723],
    ['3723.5', 3723.5],
    ['62:03', 3723],
    ['1:02:03', 3723],
    ['01:02:03', 3723],
    ['01:02:03.250', 3723.25],
    ['0:45', 45],
    ['00:00:45', 45],
    ['125:10', 7510],
    [' 5:07 ', 307],
    ['PT1H2M3S', 3723],
    ['1h 2m 3s', 3723],
    ['62 min', 3720],
    ['45 seconds', 45],
    ['1 hr, 2 mins', 3720],
  ])('%s is %d s', (text, seconds) => {
    expect(parseFeedDuration(text)).toBe(seconds);
  });

  it.each([
    ...['', '0', '00:00:00', 'PT', 'unknown', '-5', '1:60', '1:99:00', '1:2:3:4', ':30', '12:', '1e3', '1,5'],
    ...['99999999', '1000:00:00', 'about an hour', `1${' '.repeat(500)}m`, 'NaN', '٣'],
  ])('is not known: %s', (text) => {
    expect(parseFeedDuration(text)).toBeUndefined();
  });

  it('is the same in seconds, minutes and hours', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 604_800 }), (seconds) => {
        const two = (value: number): string => String(value).padStart(2, '0');
        const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60), seconds % 60];
        expect(parseFeedDuration(String(seconds))).toBe(seconds);
        expect(parseFeedDuration(`${minutes}:${two(rest)}`)).toBe(seconds);
        expect(parseFeedDuration(`${hours}:${two(minutes % 60)}:${two(rest)}`)).toBe(seconds);
      }),
    );
  });
});
