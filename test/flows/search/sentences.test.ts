/** The sentences of a transcript, over captions and within paragraphs. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sentencesOf } from '../../../src/flows/search/sentences.ts';
import type { Segment } from '../../../src/transcripts/model.ts';

const inVtt = (...segments: Segment[]) => sentencesOf({ format: 'vtt', segments, faults: [] });
const inTxt = (text: string) => sentencesOf({ format: 'txt', segments: [{ line: 5, text }], faults: [] });
const texts = (all: ReadonlyArray<{ readonly text: string }>): string[] => all.map(({ text }) => text);

describe('sentences', () => {
  it.each([
    ['One. Two! Three? Four', ['One.', 'Two!', 'Three?', 'Four']],
    [
      'Dr. Smith and J. Doe paid 3.5 million. Really?!',
      ['Dr. Smith and J. Doe paid 3.5 million.', 'Really?!'],
    ],
    ['He said "No." Then he left…', ['He said "No."', 'Then he left…']],
    ['今日は。東京です！', ['今日は。', '東京です！']],
    ['  \n ', []],
    ['Meet at 5 p.m. on Monday, e.g. here. Fine', ['Meet at 5 p.m. on Monday, e.g. here.', 'Fine']],
    [
      'It [?] Jackdaw came (?) twice. "Really?" she said... and left.',
      ['It [?] Jackdaw came (?) twice.', '"Really?" she said... and left.'],
    ],
    ['It costs approx. 5. No. 6 is free.', ['It costs approx. 5.', 'No. 6 is free.']],
  ])('end where they end: %s', (text, expected) => {
    expect(texts(inTxt(text))).toEqual(expected);
  });

  it('know their line', () => {
    expect(inTxt('One.\nTwo goes\non. Three.\n\nFour.').map(({ line }) => line)).toEqual([5, 6, 7, 9]);
  });

  it('run over captions, with the time of the first and the end of the last', () => {
    const found = inVtt(
      { line: 4, start: 0, end: 2000, speaker: 'Ada', text: 'Yes. The annual' },
      { line: 8, start: 2000, end: 4000, speaker: 'Ada', text: 'report is\nout. And' },
      { line: 12, start: 4100, end: 5000, speaker: 'Bob', text: 'so what?' },
    );
    expect(found).toEqual([
      { line: 4, start: 0, end: 2000, speaker: 'Ada', text: 'Yes.' },
      { line: 4, start: 0, end: 4000, speaker: 'Ada', text: 'The annual report is out.' },
      { line: 9, start: 2000, end: 4000, speaker: 'Ada', text: 'And' },
      { line: 12, start: 4100, end: 5000, speaker: 'Bob', text: 'so what?' },
    ]);
  });

  it('of a caption without a name are spoken by the last speaker', () => {
    const found = inVtt(
      { line: 1, start: 0, end: 1000, text: 'Music.' },
      { line: 4, start: 1000, end: 2000, speaker: 'Ada', text: 'Yes.' },
      { line: 7, start: 9000, end: 9900, text: 'No.' },
    );
    expect(found.map(({ speaker }) => speaker)).toEqual([undefined, 'Ada', 'Ada']);
  });

  it('go on in a caption that begins with a small letter, whatever the last one ends with', () => {
    const found = inVtt(
      { line: 1, start: 0, end: 1000, text: 'We meet at 5 p.m.' },
      { line: 4, start: 1000, end: 2000, text: 'on Monday. Yes?' },
      { line: 7, start: 2000, end: 3000, text: 'No.' },
    );
    expect(texts(found)).toEqual(['We meet at 5 p.m. on Monday.', 'Yes?', 'No.']);
  });

  it('end at a long pause', () => {
    const found = inVtt(
      { line: 1, start: 0, end: 1000, text: 'one' },
      { line: 4, start: 9000, end: 9500, text: 'two' },
    );
    expect(texts(found)).toEqual(['one', 'two']);
  });

  it('are cut where there is no full stop, and lose no word', () => {
    const long = 'word '.repeat(1000).trim();
    expect(texts(inTxt(long)).join(' ')).toBe(long);
    expect(Math.max(...inTxt(long).map(({ text }) => text.length))).toBeLessThanOrEqual(400);
    const endless = '😀'.repeat(5000);
    expect(texts(inTxt(endless)).join('')).toBe(endless);
  });

  it.each([
    ['!'.repeat(500_000)],
    ['."'.repeat(250_000)],
    ['a'.repeat(1_000_000)],
    [`${' '.repeat(500_000)}x`],
  ])('take no longer for an odd text', (text) => {
    const begun = performance.now();
    inTxt(text);
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  it('keep every word', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme', maxLength: 60 }), { maxLength: 80 }), (lines) => {
        const segments = lines.map((text, at) => ({
          line: at + 1,
          start: at * 1000,
          end: at * 1000 + 900,
          text,
        }));
        const all = inVtt(...segments);
        const said = lines.join('').replace(/\s+/g, '');
        expect(texts(all).join('').replace(/\s+/g, '')).toBe(said);
      }),
    );
  });
});
