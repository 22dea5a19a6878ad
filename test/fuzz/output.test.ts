/** What other programs read back: rows and CSV of any cells, names of files on any system, durations and amounts. */
import { posix, win32 } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkTemplate, fileName, Names } from '../../src/flows/transcripts/name.ts';
import { StenoError } from '../../src/lib/errors.ts';
import { compareAmounts, parseMoney } from '../../src/lib/money.ts';
import { forRow } from '../../src/lib/text.ts';
import { durationText, formatDuration, parseDuration } from '../../src/lib/time.ts';
import { csvTable, tabSeparated } from '../../src/ui/output.ts';
import { runs } from '../support/runs.ts';
import { hostileText } from './answers.ts';

describe('rows of any cells', () => {
  const table = fc.integer({ min: 1, max: 5 }).chain((width) =>
    fc.record({
      columns: fc.constant(Array.from({ length: width }, (_, n) => ({ name: `column_${n}` }))),
      rows: fc.array(fc.array(hostileText, { minLength: width, maxLength: width }), { maxLength: 5 }),
    }),
  );
  /** What may be lost: a character that steers or shows nothing, and the apostrophe before a formula. */
  const plain = (cell: string): string => Buffer.from(forRow(cell)).toString();

  it('have as many fields on each line, and come back from tabs', () => {
    fc.assert(
      fc.property(table, ({ columns, rows }) => {
        const text = tabSeparated(rows);
        const read = text
          .split('\n')
          .slice(0, -1)
          .map((line) => line.split('\t'));
        expect(read.map((row) => row.length)).toEqual(rows.map(() => columns.length));
        expect(read).toEqual(rows.map((row) => row.map(forRow)));
        expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/);
      }),
      { numRuns: runs(100) },
    );
  });

  it('come back from CSV by another parser, under their header', () => {
    fc.assert(
      fc.property(table, (given) => {
        // As bytes, which half of a surrogate pair does not survive.
        const bytes = Buffer.from(csvTable(given));
        const [header, ...read] = parse(bytes, { record_delimiter: '\r\n' }) as string[][];
        expect(header).toEqual(given.columns.map(({ name }) => name));
        expect(read).toHaveLength(given.rows.length);
        read.forEach((row, y) => {
          row.forEach((cell, x) => {
            const was = plain(given.rows[y]?.[x] ?? '');
            expect([was, `'${was}`]).toContain(cell);
          });
        });
        const lines = bytes.toString().split('\r\n');
        expect(lines).toHaveLength(given.rows.length + 2);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('a file name', () => {
  const part = fc.constantFrom(
    '{id}',
    '{title}',
    '{order}',
    '{guid}',
    '{date}',
    '{ext}',
    '/',
    '\\',
    '.',
    '..',
    ' ',
    'a',
    '-',
    '~',
    '{',
    '}',
  );
  const template = fc.array(part, { minLength: 1, maxLength: 8 }).map((all) => all.join(''));
  const data = fc.record({
    id: hostileText,
    title: hostileText,
    order: hostileText,
    guid: hostileText,
    date: hostileText,
    ext: fc.constant('txt'),
  });

  const several = fc.uniqueArray(data, { minLength: 1, maxLength: 4, selector: ({ id }) => id });

  it('stays in its folder on every system, whatever template is accepted and whatever the data holds', async () => {
    await fc.assert(
      fc.asyncProperty(template, several, async (shape, files) => {
        try {
          checkTemplate(shape);
        } catch (error) {
          expect(error).toBeInstanceOf(StenoError);
          return;
        }
        const names = new Names();
        const claimed = await Promise.all(files.map((each) => names.claim(fileName(shape, each), each)));
        expect(new Set(claimed.map((name) => name.normalize('NFC').toLowerCase())).size).toBe(files.length);
        for (const name of claimed) {
          expect(posix.resolve('/folder', name).startsWith('/folder/')).toBe(true);
          expect(win32.resolve('C:\\folder', name).startsWith('C:\\folder\\')).toBe(true);
          for (const step of name.split('/')) {
            expect(step).not.toMatch(
              /^(con|prn|aux|nul|com\d|lpt\d)\s*(\.|$)|[\\:*?"<>|\u0000-\u001f]|[. ]$|^$/i,
            );
            expect(Buffer.byteLength(step)).toBeLessThanOrEqual(255 - 40);
          }
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('a duration', () => {
  const units = { ms: 1n, s: 1_000n, m: 60_000n, h: 3_600_000n, d: 86_400_000n } as const;

  it('comes back as it was written, in the largest unit', () => {
    fc.assert(
      fc.property(fc.nat(3_650 * 86_400_000), (milliseconds) => {
        expect(parseDuration(formatDuration(milliseconds))).toBe(milliseconds);
        expect(durationText(milliseconds)).toMatch(/^\d+ (ms|s|min|h|d)( \d+ (s|min|h))?$/);
      }),
      { numRuns: runs(100) },
    );
  });

  it('is as long as its digits say, to the millisecond, or is refused', () => {
    const digits = fc.tuple(fc.nat(4_000), fc.option(fc.stringMatching(/^\d{1,3}$/)));
    fc.assert(
      fc.property(
        digits,
        fc.constantFrom(...(Object.keys(units) as Array<keyof typeof units>)),
        ([whole, part], unit) => {
          const text = `${whole}${part === null ? '' : `.${part}`}${unit}`;
          const scale = 10n ** BigInt(part?.length ?? 0);
          const doubled = (2n * BigInt(`${whole}${part ?? ''}`) * units[unit]) / scale;
          const exact = (doubled + 1n) / 2n;
          if (exact > 3_650n * 86_400_000n) expect(() => parseDuration(text)).toThrow('is not a duration');
          else expect(Math.abs(parseDuration(text) - Number(exact))).toBeLessThanOrEqual(1);
        },
      ),
      { numRuns: runs(100) },
    );
  });
});

describe('amounts', () => {
  const amount = fc
    .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.nat(20))
    .map(([digits, places]) => {
      const all = String(digits < 0n ? -digits : digits).padStart(places + 1, '0');
      const whole = all.slice(0, all.length - places);
      const text = `${digits < 0n ? '-' : ''}${whole}${places ? `.${all.slice(-places)}` : ''}`;
      return { text, digits, places };
    });

  it('compare as whole numbers do, however many digits they have', () => {
    fc.assert(
      fc.property(amount, amount, (one, other) => {
        const [left, right] = [
          one.digits * 10n ** BigInt(other.places),
          other.digits * 10n ** BigInt(one.places),
        ];
        const expected = Number(left > right) - Number(left < right);
        expect(Math.sign(compareAmounts(one.text, other.text) ?? Number.NaN)).toBe(expected);
        expect(
          Math.sign(
            compareAmounts(`$${one.text.replace('-', '')}`, `${other.text.replace('-', '')} USD`) ??
              Number.NaN,
          ),
        ).toBe(Math.sign(Number(abs(left) - abs(right))));
        expect(parseMoney(one.text)?.amount.compare(parseMoney(one.text)?.amount as never)).toBe(0);
      }),
      { numRuns: runs(100) },
    );
  });
});

const abs = (number: bigint): bigint => (number < 0n ? -number : number);
