/** Captions that fit: two lines of so many characters, one after the other, every word of them. */
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { type Cue, fitCues as fitting, joined, cuesOf as timed } from '../../src/transcripts/fit.ts';
import type { Segment, TranscriptText } from '../../src/transcripts/model.ts';
import { runs } from '../support/runs.ts';

const MIN_MS = 5000 / 6;

const fitCues = (...given: Parameters<typeof fitting>): Cue[] => [...fitting(...given)];
const cuesOf = (text: TranscriptText, path: string, duration?: number): Cue[] =>
  timed(text, { path, duration });

const cue = (start: number, end: number, text: string, speaker?: string): Cue => ({
  start,
  end,
  speaker,
  text,
});

const transcript = (format: TranscriptText['format'], segments: ReadonlyArray<Partial<Segment>>) => ({
  format,
  segments: segments.map((each, at) => ({ line: at + 1, text: 'x', ...each })),
  faults: [],
});

const words = (cues: ReadonlyArray<{ readonly text: string }>): string =>
  cues.map(({ text }) => text.replace(/\s+/g, ' ')).join(' ');

const linesOf = (cues: readonly Cue[]): string[] => cues.flatMap(({ text }) => text.split('\n'));

const word = fc.stringMatching(/^[a-zA-Z]{1,14}[,.;!?]?$/);
const text = fc.array(word, { minLength: 1, maxLength: 60 }).map((each) => each.join(' '));

/** Cues that start one after the other; some overlap, some are shorter than can be read. */
const sources = fc
  .array(
    fc.record({
      text,
      gap: fc.integer({ min: -500, max: 2000 }),
      length: fc.integer({ min: 1, max: 20_000 }),
      speaker: fc.constantFrom(undefined, 'Ada', 'Bo'),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((all) => {
    let at = 1000;
    return all.map(({ gap, length, ...each }) => {
      const start = Math.max(at - length + 1, at + gap, 0);
      at = start + length;
      return { ...each, start, end: start + length };
    });
  })
  .map((all) => all.sort((one, other) => one.start - other.start));

describe('a cue that does not fit', () => {
  it('is split at the end of a sentence, and its time is shared by characters', () => {
    const said =
      'We walked to the lighthouse on Sunday in the rain. The wind was the point, because you could see the islands.';
    expect(fitCues([cue(1000, 11_000, said)], 42)).toEqual([
      cue(1000, 5630, 'We walked to the lighthouse\non Sunday in the rain.'),
      cue(5630, 11_000, 'The wind was the point,\nbecause you could see the islands.'),
    ]);
  });

  it('is split at the end of a clause where the sentence is too long', () => {
    const said =
      'When we came to the little bridge behind the mill, which nobody remembers any more, the water was very high';
    const texts = fitCues([cue(0, 9000, said)], 42).map((each) => each.text);
    expect(texts).toEqual([
      'When we came to the little bridge\nbehind the mill,',
      'which nobody remembers any more,\nthe water was very high',
    ]);
  });

  it('is never broken after an abbreviation', () => {
    const said =
      'Yesterday in the evening I met Mr. Smith, and he told me about Dr. Jones and about all of her work';
    for (const line of linesOf(fitCues([cue(0, 9000, said)], 32))) expect(line).not.toMatch(/(?:Mr|Dr)\.$/);
  });

  it('keeps a word that is longer than a line whole', () => {
    const said = `see https://example.com/${'a'.repeat(60)} now`;
    expect(words(fitCues([cue(0, 5000, said)], 20))).toBe(said);
  });

  it('is broken between words where a script has no blanks, and gets none', () => {
    const said =
      '今日は天気がとても良いので、私たちは公園へ散歩に行きました。そして友達に会って、一緒にお茶を飲みました。';
    const fitted = fitCues([cue(0, 12_000, said)], 13);
    expect(fitted.map((each) => each.text.replaceAll('\n', '')).join('')).toBe(said);
    for (const line of linesOf(fitted)) {
      expect([...line].length).toBeLessThanOrEqual(13);
      expect(line).not.toMatch(/^[、。]/);
    }
  });

  it('is as wide as a line: Chinese and Japanese characters count as two', () => {
    const said =
      '今天天气很好，我们去公园散步。然后大家一起回家吃饭，晚上看了一部电影，最后很早就睡觉了。'.repeat(3);
    for (const line of linesOf(fitCues([cue(0, 60_000, said)], 42)))
      expect(stringWidth(line)).toBeLessThanOrEqual(42);
  });

  it('keeps the blanks of every script, and gets none, whatever line or cue they end', () => {
    const part = fc.constantFrom(
      '今天',
      '散步',
      '，',
      '。',
      'hello',
      'AI',
      '3',
      '月',
      'สวัสดี',
      '\u3000',
      '𠀀',
      '한국',
    );
    const phrase = fc
      .array(part, { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join('').trim() || '花');
    const phrases = fc.array(phrase, { minLength: 1, maxLength: 12 }).map((all) => all.join(' '));
    fc.assert(
      fc.property(phrases, fc.integer({ min: 8, max: 42 }), fc.boolean(), (said, lineLength, isNamed) => {
        const fitted = fitCues([cue(0, 60_000, said, isNamed ? 'Ada' : undefined)], lineLength, isNamed);
        expect(joined(linesOf(fitted))).toBe(said);
        expect(fitCues(fitted, lineLength, isNamed)).toEqual(fitted);
      }),
      { numRuns: runs(300) },
    );
  });

  it('takes silence after it where it is too short to be split', () => {
    const said = 'one two three four five six seven eight nine ten eleven twelve';
    const fitted = fitCues([cue(0, 300, said), cue(9000, 10_000, 'end')], 10);
    for (const { start, end } of fitted) expect(end - start).toBeGreaterThanOrEqual(MIN_MS);
  });
});

describe('a cue that is too short', () => {
  it('is lengthened into the silence after it, as far as the next one', () => {
    expect(fitCues([cue(0, 200, 'Yes.'), cue(5000, 6000, 'No.')], 42)[0]).toEqual(cue(0, 834, 'Yes.'));
    expect(fitCues([cue(0, 200, 'Yes.', 'Ada'), cue(600, 2000, 'No.', 'Bo')], 42)[0]).toMatchObject({
      end: 600,
    });
  });

  it('is not lengthened past the end of the audio, nor is one that is split', () => {
    expect(fitCues([cue(0, 200, 'Yes.')], 42, false, 500)).toEqual([cue(0, 500, 'Yes.')]);
    expect(fitCues([cue(0, 200, 'Yes.')], 42, false, 100)).toEqual([cue(0, 200, 'Yes.')]);
    const said = 'one two three four five six seven eight nine ten eleven twelve';
    expect(fitCues([cue(0, 300, said), cue(9000, 9900, 'end')], 10, false, 1000).at(-2)?.end).toBe(1000);
  });

  it('is merged with one of the same speaker, and never with another', () => {
    const [yes, sure] = [cue(0, 400, 'Yes.', 'Ada'), cue(400, 2000, 'I am sure of it.', 'Ada')];
    expect(fitCues([yes, sure], 42)).toEqual([cue(0, 2000, 'Yes. I am sure of it.', 'Ada')]);
    const other = { ...sure, speaker: 'Bo' };
    expect(fitCues([yes, other], 42)).toEqual([yes, other]);
    const nobody = { ...sure, speaker: undefined };
    expect(fitCues([yes, nobody], 42)).toEqual([yes, nobody]);
  });

  it('stays where nothing else is possible', () => {
    const long = 'a line that fills all of its room for now\nand another line that fills all of its own';
    const all = [cue(0, 400, 'Yes.'), cue(400, 4000, long)];
    expect(fitCues(all, 42)).toEqual(all);
  });
});

describe('a name that is shown', () => {
  const said = 'It is a quiet Wednesday in the old town,\nand I can hear a bird.';

  it('has room in the first line, if that needs no other cues', () => {
    const one = cue(0, 4000, said, 'Speaker 1');
    expect(fitCues([one], 42)).toEqual([one]);
    expect(fitCues([one], 42, true)).toEqual([
      { ...one, text: 'It is a quiet Wednesday\nin the old town, and I can hear a bird.' },
    ]);
    const full = { ...one, text: `${'word '.repeat(8)}end\n${'word '.repeat(8)}end` };
    expect(fitCues([full], 43, true)).toEqual([full]);
  });

  it('is read too: it has its share of the time', () => {
    const said = 'A swallow. It comes every morning at about thirty-one minutes past seven.';
    const [one, other] = fitCues([cue(0, 7500, said, 'Grace Hopper')], 42, true);
    expect([one?.text, one?.end, other?.end]).toEqual(['A swallow.', 1800, 7500]);
    const turns = [
      { start: 0, end: 3000, speaker: 'Grace Hopper', text: 'Hi.' },
      { start: 0, end: 3000, speaker: 'Bo', text: 'Good morning, Grace, how are you?' },
    ];
    const shared = (showsNames: boolean) =>
      timed(transcript('vtt', turns), { path: 'a.vtt', showsNames })[0]?.end;
    expect([shared(false), shared(true)]).toEqual([834, 944]);
  });

  it('counts in full where cues are merged, so that no line gets longer', () => {
    const name = 'Aleksandra Wojciechowska-Kowalska';
    const all = [
      cue(0, 400, 'Yes, I do.', name),
      cue(400, 3000, 'I have said so before.\nMany, many times.', name),
    ];
    const apart = fitCues(all, 42, true);
    expect(apart.length).toBe(2);
    for (const { text: shown } of apart)
      for (const line of `${name}: ${shown}`.split('\n')) expect(line.length).toBeLessThanOrEqual(42);
    const names = fc.constantFrom('Ada', 'Grace Hopper', name, `${name} of the House`);
    fc.assert(
      fc.property(sources, names, fc.integer({ min: 16, max: 65 }), (given, speaker, lineLength) => {
        const cues = cuesOf(
          transcript(
            'srt',
            given.map((each) => ({ ...each, speaker })),
          ),
          'a.srt',
        );
        const longest = (some: readonly Cue[]): number =>
          Math.max(
            ...some.flatMap(({ text }) => `${speaker}: ${text}`.split('\n').map((line) => line.length)),
          );
        const once = fitCues(cues, lineLength, true);
        const again = fitCues(once, lineLength, true);
        expect(again).toEqual(once);
        expect(longest(again)).toBeLessThanOrEqual(Math.max(longest(cues), lineLength));
      }),
      { numRuns: runs(200) },
    );
  });

  it('has room in every cue of what is split', () => {
    const fitted = fitCues([cue(0, 30_000, `${said} `.repeat(4), 'Speaker 1')], 42, true);
    for (const { text: shown } of fitted)
      for (const line of `Speaker 1: ${shown}`.split('\n')) expect(line.length).toBeLessThanOrEqual(42);
  });
});

describe('every cue', () => {
  it('stays as it is if it fits and can be read, its line break included', () => {
    const all = [cue(0, 900, 'Yes,\nof course.'), cue(900, 1733, 'No.'), cue(2000, 3000, '- Hi.\n- Hello.')];
    expect(fitCues(all, 42)).toEqual(all);
  });

  it('keeps its words in order, fits, overlaps none, and is not changed again', () => {
    fc.assert(
      fc.property(sources, fc.integer({ min: 16, max: 65 }), (all, lineLength) => {
        const before = cuesOf(transcript('vtt', all), 'a.vtt');
        const fitted = fitCues(before, lineLength);
        expect(words(fitted)).toBe(words(all));
        expect(fitCues(fitted, lineLength)).toEqual(fitted);
        expect(fitCues(cuesOf(transcript('vtt', fitted), 'a.vtt'), lineLength)).toEqual(fitted);
        const named = fitCues(before, lineLength, true);
        expect([words(named), fitCues(named, lineLength, true)]).toEqual([words(all), named]);
        // Names alone make no other cues.
        const times = (some: readonly Cue[]) => some.map(({ start, end }) => [start, end]);
        expect(times(fitCues(fitted, lineLength, true))).toEqual(times(fitted));
        for (const [at, each] of fitted.entries()) {
          expect(each.start).toBeLessThan(each.end);
          expect(each.end).toBeLessThanOrEqual(fitted[at + 1]?.start ?? Number.POSITIVE_INFINITY);
          const lines = each.text.split('\n');
          // A cue of a few milliseconds can't be split.
          if (each.end - each.start < 20) continue;
          expect(lines.length).toBeLessThanOrEqual(2);
          for (const line of lines) expect(line.length).toBeLessThanOrEqual(lineLength);
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it('says who spoke: each speaker has the same words as before', () => {
    fc.assert(
      fc.property(sources, (all) => {
        const fitted = fitCues(cuesOf(transcript('srt', all), 'a.srt'), 42);
        for (const speaker of [undefined, 'Ada', 'Bo']) {
          const of = (each: { readonly speaker?: string | undefined }): boolean => each.speaker === speaker;
          expect(words(fitted.filter(of))).toBe(words(all.filter(of)));
        }
      }),
      { numRuns: runs() },
    );
  });

  it('is at least 5/6 s long where there is time', () => {
    fc.assert(
      fc.property(text, (said) => {
        const fitted = fitCues([cue(0, 100, said)], 42);
        for (const { start, end } of fitted) expect(end - start).toBeGreaterThanOrEqual(MIN_MS);
      }),
      { numRuns: runs() },
    );
  });
});

describe('the times of a tstxt', () => {
  it('end where the next turn starts, and at the end of the audio', () => {
    const turns = [
      { start: 0, text: 'Hello there.' },
      { start: 5000, text: 'Good morning.' },
    ];
    expect(cuesOf(transcript('tstxt', turns), 'a.tstxt', 9000)).toMatchObject([
      { start: 0, end: 5000 },
      { start: 5000, end: 9000 },
    ]);
    // 13 characters, 15 a second.
    expect(cuesOf(transcript('tstxt', turns), 'a.tstxt')).toMatchObject([{ end: 5000 }, { end: 5867 }]);
    expect(cuesOf(transcript('tstxt', turns), 'a.tstxt', 4000)).toMatchObject([{ end: 5000 }, { end: 5867 }]);
  });

  it.each([
    ['fraction.', 3_600_000, 2000],
    ['fraction.', 7000, 7000],
    ['fraction.', 7001, 2000],
    ['x'.repeat(60), 3_600_000, 4000],
    // Slow speech is no pause.
    ['x'.repeat(600), 80_000, 80_000],
    ['x'.repeat(600), 80_001, 40_000],
  ])('end before a pause: %#', (said, next, end) => {
    const turns = [{ start: 0, text: said }, { start: next }];
    expect(cuesOf(transcript('tstxt', turns), 'a.tstxt')[0]?.end).toBe(end);
    expect(cuesOf(transcript('tstxt', turns.slice(0, 1)), 'a.tstxt', next)[0]?.end).toBe(end);
  });

  it('are shared by turns that start in the same second, and by those without a time', () => {
    const turns = [
      { text: 'A talk' },
      { start: 1000, text: 'aaaa' },
      { start: 1000, text: 'aaaa' },
      { text: 'aaaa' },
      { start: 7000 },
    ];
    expect(cuesOf(transcript('tstxt', turns), 'a.tstxt').map(({ start }) => start)).toEqual([
      ...[1000, 3000, 5000, 7000],
    ]);
  });
});

describe('what has no times that can be used', () => {
  const refusal = (format: TranscriptText['format'], segments: ReadonlyArray<Partial<Segment>>) => () =>
    cuesOf(transcript(format, segments), 'talk.x');

  it('is refused by the line', () => {
    expect(refusal('txt', [{ text: 'Hello.' }])).toThrow("talk.x has no times, so it can't become captions");
    expect(refusal('html', [{ text: 'Hello.' }])).toThrow('has no times');
    expect(refusal('tstxt', [{ text: 'Hello.' }])).toThrow('has no times');
    expect(refusal('vtt', [{ start: 0, end: 9 }, { text: 'lost' }])).toThrow(
      'talk.x, line 2: this caption has no time; give it one, then convert again',
    );
    expect(
      refusal('srt', [
        { start: 9, end: 10 },
        { start: 0, end: 8 },
      ]),
    ).toThrow(
      'talk.x, line 2: this caption starts before the one above it; correct its time, then convert again',
    );
    expect(refusal('srt', [{ start: 9, end: 9 }])).toThrow('line 1: this caption ends before it starts');
    expect(
      refusal(
        'tstxt',
        Array.from({ length: 1100 }, (_, at) => ({ start: at < 1050 ? 0 : 1000 })),
      ),
    ).toThrow('too many captions start at the same time');
  });
});

it('takes little time for one endless cue, and for very many', () => {
  const endless = 'word and more '.repeat(40_000);
  const begun = performance.now();
  expect(fitCues([cue(0, 40_000_000, endless)], 42).length).toBeGreaterThan(6000);
  fitCues([cue(0, 40_000_000, 'x'.repeat(1_000_000))], 42);
  const many = Array.from({ length: 10_000 }, (_, at) => cue(at * 300, at * 300 + 250, 'Yes.', 'Ada'));
  expect(words(fitCues(cuesOf(transcript('srt', many), 'a.srt'), 42))).toBe(words(many));
  expect(performance.now() - begun).toBeLessThan(20_000);
});
