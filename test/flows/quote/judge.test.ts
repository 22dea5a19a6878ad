/** Every span of a transcript is exact, every changed word is named, and what was not said is not found. */
import { describe, expect, it } from 'vitest';
import { Finder } from '../../../src/flows/quote/find.ts';
import { judge, type Verdict } from '../../../src/flows/quote/judge.ts';
import { ChosenTexts } from '../../../src/flows/search/search.ts';
import { type Sentence, sentencesOf } from '../../../src/flows/search/sentences.ts';
import { scratchIndex } from '../../../src/flows/search/text-index.ts';
import { renderTranscript, type TranscriptSource } from '../../../src/sandbox/transcripts/formats.ts';
import { type ReadableFormat, readableFormats } from '../../../src/transcripts/model.ts';
import { readTranscript } from '../../../src/transcripts/read.ts';
import { runs } from '../../support/runs.ts';
import { sliceOf } from '../../support/slices.ts';

const source = (id: string, marks = false): TranscriptSource => ({
  ...{
    id,
    title: 'Talk',
    link: 'https://e.example/a.mp3',
    minutes: 3,
    names: ['Ada Park', 'Bob Ross'],
    marks,
  },
});

const fileOf = (id: string, format: ReadableFormat) => ({
  ...{
    path: `${id}.${format}`,
    format,
    audiofile: id,
    size: 1,
    mtimeMs: 1,
    downloadedAt: '2026-01-01',
    isSuperseded: false,
  },
});

const read = (id: string, format: ReadableFormat, marks = false): Sentence[] =>
  sentencesOf(readTranscript(renderTranscript(format, source(id, marks)), format, 'x'));

const text = (said: string, format: ReadableFormat = 'txt'): Sentence[] =>
  sentencesOf(readTranscript(Buffer.from(said), format, 'x'));

async function finderOf(
  all: Readonly<Record<string, readonly Sentence[]>>,
  isStrict = false,
): Promise<Finder> {
  const index = await scratchIndex('p');
  await index.writing(async () => {
    for (const [id, sentences] of Object.entries(all))
      index.put({ ...fileOf(id, 'txt'), sha256: '' }, sentences, undefined);
  }, new AbortController().signal);
  return new Finder(new ChosenTexts(index), isStrict);
}

const verdict = (finder: Finder, quotation: string, around = ''): Verdict =>
  judge(finder, { text: quotation, around }, () => true);

/** What each speaker says without a break. */
function turnsOf(sentences: readonly Sentence[]): string[] {
  const turns: { speaker: string | undefined; text: string }[] = [];
  for (const { speaker, text: said, isHead } of sentences) {
    const last = turns.at(-1);
    if (isHead) continue;
    if (last && last.speaker === speaker) last.text += ` ${said}`;
    else turns.push({ speaker, text: said });
  }
  return turns.map((turn) => turn.text);
}

const spansOf = (turn: string): string[] => {
  const words = turn.split(' ');
  return words.flatMap((_, from) =>
    Array.from({ length: Math.max(0, words.length - from - 3) }, (__, more) =>
      words.slice(from, from + 4 + more).join(' '),
    ),
  );
};

/** So many of them, evenly. */
const some = <Item>(items: readonly Item[], count: number): Item[] =>
  items.filter((_, at) => at % Math.max(1, Math.floor(items.length / count)) === 0);

describe('a sandbox transcript', () => {
  it.each(
    sliceOf(
      readableFormats.flatMap((format) => [[format, false] as const, [format, true] as const]),
      5,
    ),
  )('in %s says every span of four words or more of it, with marks: %s', async (format, marks) => {
    const sentences = read('7', format, marks);
    for (const isStrict of [false, true]) {
      const finder = await finderOf({ 7: sentences }, isStrict);
      const spans = turnsOf(sentences).flatMap(spansOf);
      expect(spans.length).toBeGreaterThan(300);
      // A span may begin or end within a mark: `[inaudible 00:00:04]`.
      const whole = spans.filter((span) => span.split('[').length === span.split(']').length);
      for (const span of some(whole, runs(20)))
        expect([span, verdict(finder, span).status]).toEqual([span, 'exact']);
    }
  });

  it('with one word changed is altered, and the word is named', async () => {
    const sentences = read('7', 'vtt');
    const finder = await finderOf({ 7: sentences });
    for (const span of some(turnsOf(sentences).flatMap(spansOf), runs(20))) {
      const words = span.split(' ');
      for (const at of words.keys()) {
        const changed = words.with(at, 'xyzzy').join(' ');
        const { status, differences, passages } = verdict(finder, changed);
        expect([changed, status]).toEqual([changed, 'altered']);
        expect(differences.map(({ quoted }) => quoted).join(' ')).toBe('xyzzy');
        const said = passages.flatMap((passage) => passage.differences.map((each) => each.said));
        // Of `fifty-two` at an end, one half.
        expect(said.some((each) => each !== '' && words[at]?.includes(each))).toBe(true);
      }
    }
  });

  it('names swapped speakers', async () => {
    const sentences = read('7', 'txt');
    const finder = await finderOf({ 7: sentences });
    for (const { speaker = '', text: said, isHead } of sentences) {
      if (isHead || said.split(' ').length < 4) continue;
      const other = speaker === 'Ada Park' ? 'Bob Ross' : 'Ada Park';
      expect(verdict(finder, said, `${speaker} said`).status).toBe('exact');
      expect(verdict(finder, said, `as ${speaker.split(' ')[0]} told ${other}`).status).toBe('exact');
      const swapped = verdict(finder, said, `“…”, said ${other.split(' ')[1]}`);
      expect([swapped.status, swapped.named, swapped.passages[0]?.speakers]).toEqual([
        'other_speaker',
        [other],
        [speaker],
      ]);
    }
  });

  it('has joined parts, and says whether they are in order and of one speaker', async () => {
    const sentences = read('7', 'vtt').filter(({ text: said }) => said.split(' ').length > 4);
    const finder = await finderOf({ 7: sentences });
    const ofAda = sentences.filter(({ speaker }) => speaker === 'Ada Park');
    const ofBob = sentences.find(({ speaker }) => speaker === 'Bob Ross')?.text ?? '';
    const [first = '', , third = '', fourth = ''] = ofAda.map(({ text: said }) => said);
    for (const sign of [' … ', ' [...] ', '... ', ' […] ', ' . . . ']) {
      const joined = verdict(finder, [first, third, fourth].join(sign));
      expect([joined.status, joined.isTrue, joined.passages.length]).toEqual(['spliced', true, 3]);
      const shuffled = verdict(finder, [third, first].join(sign));
      expect([shuffled.isInOrder, shuffled.isOfOneSpeaker, shuffled.isTrue]).toEqual([false, true, false]);
      const mixed = verdict(finder, [ofBob, fourth].join(sign));
      expect([mixed.status, mixed.isOfOneSpeaker, mixed.isTrue]).toEqual(['spliced', false, false]);
    }
    expect(verdict(finder, `${first} … nobody ever said such a thing`).status).toBe('missing');
  });

  it('does not say what others say', async () => {
    const next = random(7);
    const words = Array.from({ length: 400 }, () => word(next));
    const sentence = (length: number): string =>
      Array.from({ length }, () => words[next(words.length)]).join(' ');
    const own = Array.from({ length: 400 }, () => `${sentence(5 + next(15))}.`).join(' ');
    const finder = await finderOf({ own: text(`Ada: ${own}`), 7: read('7', 'vtt') });
    const found = Array.from({ length: runs(500) }, () => sentence(5 + next(12))).filter(
      (each) => verdict(finder, each).status !== 'missing',
    );
    expect(found).toEqual([]);
  });
});

/** Mulberry32. */
const random = (seed: number): ((below: number) => number) => {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};

const word = (next: (below: number) => number): string =>
  Array.from({ length: 2 + next(3) }, () => 'bdfglmnprst'.charAt(next(11)) + 'aeiou'.charAt(next(5))).join(
    '',
  );

const quoted = await finderOf({
  1: text(
    'Ada: We, um, had had more – well-known – thyme than we could [?] carry in the 1,000 e-mails.\n\nBob: Mm-hmm.\n\nAda: Don’t ask "why" me.',
  ),
  2: text('Eve: 私たちは庭で採れたタイムを市場へ運んだ。'),
  3: text('Ada: We did not. We, we had, we had more rain than sun [crosstalk] all 3.5 years.'),
});

describe('a quotation', () => {
  const finder = quoted;

  it.each([
    ['we HAD more “well known” thyme', 'exact'],
    ["DON'T ask why me", 'exact'],
    ['could carry in the 1000 emails', 'exact'],
    ['the 1000 emails. Don’t ask why me', 'exact'],
    ['than we could carry in the 1000 e mails', 'exact'],
    ['had more wellknown thyme than we could', 'exact'],
    ['私たちは庭で採れた', 'exact'],
    ['私たちは庭で取れた', 'altered'],
    ['we had more rain than sun all 3.5 years', 'exact'],
    ['we had more rain than sun all 35 years', 'altered'],
    ['we did more thyme than we could', 'missing'],
    ['we did have more rain than sun', 'altered'],
    ['had more rain than [no] sun all', 'altered'],
  ])('%s: %s', (quotation, status) => {
    const { status: found, differences } = verdict(finder, quotation);
    expect([found, found === status ? [] : differences]).toEqual([status, []]);
  });

  it('names what it leaves out, which counts only with --strict', async () => {
    const said = verdict(finder, 'We had more well-known thyme than we could carry');
    expect([said.status, said.leftOut]).toEqual(['exact', ['um', 'had', '[?]']]);
    const strict = await finderOf({ 1: text('Ada: We, um, had more thyme [?] than we had.') }, true);
    const { status, differences } = verdict(strict, 'We had more thyme than we had');
    expect([status, differences.map(({ said: each }) => each)]).toEqual(['altered', ['um', '[?]']]);
    expect(verdict(strict, 'we, um, had more thyme [?] than').status).toBe('exact');
  });

  it('of two speakers is spliced', async () => {
    const { status, isOfOneSpeaker } = verdict(
      await finderOf({ 1: text('Ada: We had more.\n\nBob: Than we need.') }),
      'We had more than we need',
    );
    expect([status, isOfOneSpeaker]).toEqual(['spliced', false]);
  });

  it('is found wherever it was said', async () => {
    const both = await finderOf({
      1: text('Ada: We had more thyme.'),
      2: text('Bob: And we had more thyme!'),
    });
    const { passages } = verdict(both, 'we had more thyme');
    expect(passages.map(({ file, speakers }) => [file.audiofile, ...speakers]).sort()).toEqual([
      ['1', 'Ada'],
      ['2', 'Bob'],
    ]);
    expect(verdict(both, 'we had more thyme', 'Bob says').status).toBe('exact');
  });

  it('of a thousand words is exact, or altered by one', async () => {
    const next = random(3);
    const words = Array.from({ length: 1_500 }, () => word(next));
    const long = await finderOf({ 1: text(`Ada: ${words.join(' ')}`) });
    expect(verdict(long, words.slice(100, 1_400).join(' ')).status).toBe('exact');
    expect(verdict(long, words.slice(100, 1_400).with(900, 'xyzzy').join(' ')).status).toBe('altered');
  });
});
