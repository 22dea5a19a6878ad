import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { casesInSlice, parseSlice } from './slices.ts';

const names = fc.string();
const cases = fc.uniqueArray(fc.string(), { maxLength: 40 });
const counts = fc.integer({ min: 1, max: 12 });
const slices = counts.chain((of) => fc.integer({ min: 1, max: of }).map((number) => ({ number, of })));

describe('a slice of cases', () => {
  it('is the same each time, in their order', () => {
    fc.assert(
      fc.property(cases, names, slices, (all, name, slice) => {
        const found = casesInSlice(all, name, slice);
        expect(casesInSlice(all, name, slice)).toEqual(found);
        expect(all.filter((each) => found.includes(each))).toEqual(found);
      }),
    );
  });

  it('has at least one of them, and no more than its share', () => {
    fc.assert(
      fc.property(cases, names, slices, (all, name, slice) => {
        const { length } = casesInSlice(all, name, slice);
        expect(length).toBeGreaterThanOrEqual(Math.min(1, all.length));
        expect(length).toBeLessThanOrEqual(Math.ceil(all.length / Math.min(slice.of, all.length || 1)));
      }),
    );
  });

  it('is, with the others, all of them', () => {
    fc.assert(
      fc.property(cases, names, counts, (all, name, of) => {
        const numbers = Array.from({ length: of }, (_, at) => at + 1);
        const found = numbers.flatMap((number) => casesInSlice(all, name, { number, of }));
        expect(new Set(found)).toEqual(new Set(all));
      }),
    );
  });

  it('is all of them where no slice is asked for', () => {
    expect(casesInSlice([1, 2, 3], 'name', undefined)).toEqual([1, 2, 3]);
  });
});

describe('STENO_SLICE', () => {
  it('names a slice and how many there are', () => {
    expect(parseSlice('2/6')).toEqual({ number: 2, of: 6 });
    expect(parseSlice('6/6')).toEqual({ number: 6, of: 6 });
  });

  it.each(['', '2', '0/6', '7/6', '2/0', '-1/6', '2/6/1', 'a/b'])("is not '%s'", (text) => {
    expect(() => parseSlice(text)).toThrow(`STENO_SLICE is like 2/6, not '${text}'`);
  });
});
