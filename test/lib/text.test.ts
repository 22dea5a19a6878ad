import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forCsv, forRow, forTerminal, forTerminalLines, hasHidden, oneLine } from '../../src/lib/text.ts';
import { relativeTime } from '../../src/lib/time.ts';
import { parseCsv } from '../support/csv.ts';
import { runs } from '../support/runs.ts';

const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', '\t', ' ', 'a', '\u001b', '\u009b', '=') }),
  fc.string({ unit: fc.constantFrom('+', '-', '@', '1', '.', 'e', '\u200b', '\u200d', '\u{e0041}', '=') }),
);
const steering = /[\u0000-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/u;

/** What a cell is after it was written as CSV and read again. */
const readBack = (cell: string): string => parseCsv(`${forCsv(cell)},x\r\n`)[0]?.[0] ?? '';

describe('a value', () => {
  it('comes back from CSV as it was, but for what it must not hold and an apostrophe before a formula', () => {
    const row = fc.array(anything, { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
        const text = rows.map((cells) => `${cells.map(forCsv).join(',')}\r\n`).join('');
        const plain = (cell: string): string =>
          cell.replace(/\r\n|[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ');
        parseCsv(text).forEach((cells, y) => {
          expect(cells).toHaveLength(rows[y]?.length ?? 0);
          cells.forEach((cell, x) => {
            const was = plain(rows[y]?.[x] ?? '');
            const shown = forTerminalLines(was).replaceAll('\ufffd', '');
            expect(hasHidden(cell)).toBe(false);
            if (hasHidden(was))
              expect(cell.replaceAll('\ufffd', '').replace(/^'/, '')).toBe(shown.replace(/^'/, ''));
            else expect([was, `'${was}`]).toContain(cell);
          });
        });
      }),
    );
  });

  it.each([
    '=1+1',
    '=cmd|x',
    '@SUM(A1)',
    '+1+1',
    '-1+1',
    '-a',
    '--1',
    '-3,5',
    '\t=1',
    '\r=1',
    '\n=1',
    '\uff1d1',
  ])('that a spreadsheet would run is text in CSV: %j', (cell) => {
    expect(readBack(cell)).toBe(`'${cell.replace(/[\t\r\n]/, ' ')}`);
  });

  it('is on one line in CSV, whatever breaks it holds', () => {
    expect(readBack('a\r\nb\tc\nd\re\u2028f\u2029g')).toBe('a b c d e f g');
    fc.assert(
      fc.property(anything, (text) => {
        expect(forCsv(text)).not.toMatch(/[\r\n\t\u2028\u2029]/);
      }),
    );
  });

  it.each(['-3', '+4.5', '-0.25', '-.5', '-1e5', '+1E-5', '-', '+', 'a=1', '4nX', '1-1', "'=1", '', ' =1'])(
    'that a spreadsheet would not run is as it was in CSV: %j',
    (cell) => {
      expect(readBack(cell)).toBe(cell);
    },
  );

  const hiddenOnes = [
    ...[
      0x061c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f, 0xfeff, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e,
    ],
    ...[0x2060, 0x2061, 0x2062, 0x2063, 0x2064, 0x2066, 0x2067, 0x2068, 0x2069, 0xe0001, 0xe0041, 0xe007f],
    ...[0x00ad, 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180f, 0x3164, 0xffa0, 0xfff9, 0xfffa, 0xfffb],
    ...[0x1d173, 0x1d17a, 0xfe00, 0xfe0e, 0xfe0f, 0xe0100, 0xe01ef],
  ].map((code) => String.fromCodePoint(code));

  it.each(hiddenOnes.map((each) => [each.codePointAt(0)?.toString(16), each]))(
    'shows that there is a hidden character: U+%s',
    (_, each = '') => {
      for (const show of [forTerminal, forRow, forCsv, forTerminalLines])
        expect(show(`1${each}2`)).toBe('1\ufffd2');
      expect(oneLine(`1${each}2`)).toBe('1 2');
    },
  );

  it.each([
    ['an emoji of several people', '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}'],
    ['an emoji with a colour of skin', '\u{1f468}\u{1f3fd}\u200d\u{1f680}'],
    ['an emoji with a variation', '\u{1f3f3}\ufe0f\u200d\u{1f308}'],
    ['an emoji that is text without its selector', '\u2764\ufe0f'],
    ['a keycap', '1\ufe0f\u20e3'],
    ['Mongolian', '\u182d\u180b\u180c\u180d'],
    ['Braille', '\u2801\u2800\u2801'],
    ['music', '\u{1d11e}\u{1d172}\u{1d17b}'],
    ['Persian', '\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645'],
    ['Sinhala', '\u0dc1\u0dca\u200d\u0dbb\u0dd3'],
    ['Malayalam', '\u0d28\u0d4d\u200d'],
  ])('keeps what is needed for %s', (_, text) => {
    for (const show of [forTerminal, forRow, forCsv, oneLine, forTerminalLines])
      expect(show(text)).toBe(text);
  });

  it('is one field on one line of a row', () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(forRow(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      }),
    );
    expect(forRow('a\r\nb\tc\nd')).toBe('a b c d');
  });

  it('never steers a terminal', () => {
    fc.assert(
      fc.property(anything, (text) => {
        expect(forTerminal(text)).not.toMatch(steering);
        expect(forTerminalLines(text).replace(/[\t\n\r]/g, '')).not.toMatch(steering);
      }),
    );
  });

  it('is one line of bounded length in a message', () => {
    fc.assert(
      fc.property(anything, fc.integer({ min: 1, max: 50 }), (text, longest) => {
        const line = oneLine(text, longest);
        expect(line).not.toMatch(steering);
        expect([...line].length).toBeLessThanOrEqual(longest + 1);
      }),
    );
  });

  it('has an ellipsis only where something was cut: an emoji counts once', () => {
    expect(oneLine('\u{1f600}\u{1f600}\u{1f600}', 3)).toBe('\u{1f600}\u{1f600}\u{1f600}');
    expect(oneLine('\u{1f600}\u{1f600}\u{1f600}', 2)).toBe('\u{1f600}\u{1f600}…');
  });
});

describe('what is hidden', () => {
  /** The same as a regular expression, which takes ten times as long. */
  const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g;
  const hidden =
    /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}])\u200d|(?<!\p{M})\u200d(?!\p{Extended_Pictographic})|(?<![\p{L}\p{M}])\u200c|\u200c(?!\p{L})|[\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]|[\u00ad\u115f\u1160\u3164\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}]|\u034f|\u17b4|\u17b5|(?!\ufe0f|\u180b|\u180c|\u180d)\p{Variation_Selector}|(?<!\p{Extended_Pictographic})\ufe0f(?!\u20e3)|(?<![0-9#*])\ufe0f(?=\u20e3)/gu;
  const show = (text: string): string => text.replace(hidden, '\ufffd');
  const unit = fc.oneof(
    fc.constantFrom(
      '\u200c',
      '\u200d',
      '\u200b',
      '\u202e',
      '\u2028',
      '\ufe0f',
      '\ufe0e',
      '\u20e3',
      '\u00ad',
      '\u034f',
      '\u{e0100}',
      '\u{1d173}',
      '\ud834',
      '\ufeff',
      '\r',
      '\n',
      '\t',
      '\u001b',
      ' ',
    ),
    fc.constantFrom(
      'e',
      '\u0301',
      '\u0645',
      '\u0d4d',
      '\u{1f469}',
      '\u{1f3fd}',
      '\u{e0041}',
      '\udb40',
      '\udc41',
      '\ud83d',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );

  it('is the same in every form of output', () => {
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), (units) => {
        const text = units.join('');
        const lines = text.replace(controls, (each) => (/[\n\t\r]/.test(each) ? each : '\ufffd'));
        expect(forTerminalLines(text)).toBe(show(lines));
        const line = text.replace(/\r\n|[\t\n\r]/g, ' ').replace(controls, '\ufffd');
        expect(forTerminal(text)).toBe(show(line));
        expect(forRow(text)).toBe(show(text.replace(/\r\n/g, ' ').replace(controls, ' ')));
        expect(hasHidden(text)).toBe(show(text) !== text);
        const message = text.replace(controls, ' ').replace(hidden, ' ').replace(/\s+/g, ' ').trim();
        expect(oneLine(text)).toBe(message);
      }),
      { numRuns: runs(5_000) },
    );
  });
});

describe('a relative time', () => {
  const now = Date.parse('2026-01-10T12:00:00Z');

  it.each([
    ['2026-01-10T11:59:59.900Z', 'just now'],
    ['2026-01-10T11:58:00Z', '2m ago'],
    ['2026-01-10T09:00:00Z', '3h ago'],
    ['2026-01-12T12:00:00Z', 'in 2d'],
    ['2024-01-01', '2y ago'],
    ['1700000000', '1700000000'],
    ['', ''],
    ['2026-99-99', '2026-99-99'],
  ])('of %j is %j', (text, shown) => {
    expect(relativeTime(text, now)).toBe(shown);
  });
});
