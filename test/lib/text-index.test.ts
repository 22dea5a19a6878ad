/** Texts are found by their places, as a Map would find them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TextIndex } from '../../src/lib/text-index.ts';
import { runs } from '../support/runs.ts';

describe('an index of texts', () => {
  it('finds what a Map finds, whatever the texts', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 2000 }), fc.array(fc.string()), (texts, others) => {
        const kept = [...new Set(texts)];
        const index = new TextIndex((place) => [kept[place] as string]);
        for (const [place, text] of kept.entries()) index.add(text, place);
        for (const text of [...kept, ...others]) {
          const place = kept.indexOf(text);
          expect(index.find(text)).toBe(place < 0 ? undefined : place);
        }
      }),
      { numRuns: runs(20) },
    );
  });

  it('tells texts apart that share a slot, among very many', () => {
    const text = (at: number): string => `url https://example.com/talks/${at}.mp3`;
    const index = new TextIndex((place) => [text(place)]);
    for (let at = 0; at < 50_000; at += 1) index.add(text(at), at);
    for (let at = 0; at < 50_000; at += 7) expect(index.find(text(at))).toBe(at);
    expect(index.find(text(50_000))).toBeUndefined();
  });
});
