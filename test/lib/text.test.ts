import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forCsv, forRow, forTerminal, forTerminalLines, oneLine } from '../../src/lib/text.ts';
import { relativeTime } from '../../src/ui/time.ts';
import { parseCsv } from '../support/csv.ts';

const anything = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('"', ',', '\r', '\n', '\t', ' ', 'a', '\u001b', '\u009b', '=') }),
);
const steering = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

describe('a value', () => {
  it('comes back from CSV as it was, but for control characters', () => {
    const row = fc.array(anything, { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 4 }), (rows) => {
        const text = rows.map((cells) => `${cells.map(forCsv).join(',')}\r\n`).join('');
        const plain = rows.map((cells) =>
          cells.map((cell) => cell.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, ' ')),
        );
        expect(parseCsv(text)).toEqual(plain);
      }),
    );
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
