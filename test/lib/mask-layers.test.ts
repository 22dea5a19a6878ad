/** A text under percent escapes, decoded, with the way back to where each character came from. */
import { describe, expect, it } from 'vitest';
import { decodeLayer, joinSpans } from '../../src/lib/mask.ts';

describe('a layer of percent escapes', () => {
  it.each(['', 'abc', 'a%41b', 'a\\b', 'a\\b%', 'a\\b%zz', '%%zz', '%2', '100%'])(
    'is not in %j, or the search reads it by itself',
    (text) => {
      expect(decodeLayer(text)).toBeUndefined();
    },
  );

  it.each([
    ['%2541', '%41'],
    ['%5c41', '\\41'],
    ['%5Cx', '\\x'],
    ['%26amp;', '&amp;'],
    ['a%22b', 'a"b'],
    ['a%2bb', 'a+b'],
    ['a%2Bb', 'a+b'],
    ['a%0ab%0D', 'a\nb\r'],
    ['a%00b', 'ab'],
    ['a\0b', 'ab'],
    ['%%41', '%A'],
    ['\\%41', '\\A'],
    ['%5c%zz%4', '\\%zz%4'],
    ['%e2%82%ac%25', '\u00e2\u0082\u00ac%'],
  ])('is taken off %j, which gives %j', (text, decoded) => {
    expect(decodeLayer(text)?.text).toBe(decoded);
  });

  it('tells where each character came from', () => {
    const text = 'a41%5cb%00%zz%42';
    const layer = decodeLayer(text);
    expect(layer?.text).toBe('a41\\b%zzB');
    const origin = (start: number, end: number): string | undefined => {
      const span = layer?.origin({ start, end });
      return span && text.slice(span.start, span.end);
    };
    expect([origin(0, 1), origin(0, 4), origin(3, 4), origin(4, 5), origin(5, 6), origin(8, 9)]).toEqual([
      ...['a', 'a41%5c', '%5c', 'b', '%', '%42'],
    ]);
    expect(origin(3, 9)).toBe('%5cb%00%zz%42');
  });
});

describe('spans of a text', () => {
  it('are in order and apart, each as wide as those that overlap in it', () => {
    const span = (start: number, end: number) => ({ start, end });
    expect(joinSpans([])).toEqual([]);
    expect(joinSpans([span(5, 6), span(1, 2)])).toEqual([span(1, 2), span(5, 6)]);
    expect(joinSpans([span(1, 3), span(3, 4)])).toEqual([span(1, 3), span(3, 4)]);
    expect(joinSpans([span(1, 4), span(3, 6), span(5, 7), span(8, 9)])).toEqual([span(1, 7), span(8, 9)]);
    expect(joinSpans([span(1, 9), span(3, 4), span(5, 6)])).toEqual([span(1, 9)]);
  });
});
