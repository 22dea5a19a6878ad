/** What is written is read again, by us and by two parsers of others, with the same words, times and speakers. */
import fc from 'fast-check';
import nodeWebvtt from 'node-webvtt';
import { describe, expect, it } from 'vitest';
import { WebVTTParser } from 'webvtt-parser';
import { type Cue, cuesOf, fitCues as fitting } from '../../src/transcripts/fit.ts';
import type { Segment } from '../../src/transcripts/model.ts';
import { readTranscript } from '../../src/transcripts/read.ts';
import * as write from '../../src/transcripts/write.ts';
import { runs } from '../support/runs.ts';

const { escapeMarkdown, unmarked } = write;
const whole =
  <Given extends unknown[]>(parts: (...given: Given) => Iterable<string>) =>
  (...given: Given): string =>
    [...parts(...given)].join('');
const [toVtt, toSrt, toJson] = [whole(write.toVtt), whole(write.toSrt), whole(write.toJson)];
const [toText, toMarkdown] = [whole(write.toText), whole(write.toMarkdown)];
const fitCues = (...given: Parameters<typeof fitting>): Cue[] => [...fitting(...given)];

const readBack = (text: string, format: 'vtt' | 'srt'): Cue[] => {
  const read = readTranscript(Buffer.from(text), format, `a.${format}`);
  expect(read.faults).toEqual([]);
  return cuesOf({ ...read, segments: read.segments.map(unmarked) }, { path: `a.${format}` }).map(
    ({ start, end, speaker, text: said }) => ({ start, end, speaker, text: said }),
  );
};

/** Words that look like names, tags, times, numbers, entities and headers. */
const odd = fc.constantFrom(
  ...[
    'Word:',
    'Ada:',
    'man:',
    '-',
    '>>',
    '<i>',
    '</b>',
    '<v Bo>',
    '{\\an8}',
    '{b}',
    '<',
    '>',
    '&',
    '&amp;',
    '&lt;',
  ],
  ...[
    '-->',
    '00:00:01,000',
    '00:00:01.000 --> 00:00:02.000',
    '12',
    'NOTE',
    'WEBVTT',
    'STYLE',
    '山田：',
    '：',
    ':',
    '…',
  ],
  ...['é', '𝄞', 'שלום', '\u200f', '<c.x>', '<00:00:01.000>', '&#65;', '#', '\\', '[xx]'],
);
const word = fc.oneof({ weight: 3, arbitrary: fc.stringMatching(/^[a-zA-Z']{1,10}[.,:?!]?$/) }, odd);
const line = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(' '));
const text = fc.array(line, { minLength: 1, maxLength: 2 }).map((lines) => lines.join('\n'));
const speaker = fc.oneof(
  fc.constantFrom(
    undefined,
    'Ada',
    'Man 2',
    'ada',
    'Dr: Who',
    'Note',
    '山田',
    'A & B <x>',
    '- x',
    'Ada Lovelace:',
  ),
  fc.array(word, { minLength: 1, maxLength: 4 }).map((words) => words.join(' ')),
);

const cues = fc
  .array(fc.record({ text, speaker, gap: fc.nat(5000), length: fc.integer({ min: 834, max: 200_000 }) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map((all) => {
    let at = 0;
    return all.map(({ text: said, speaker: name, gap, length }): Cue => {
      const start = at + gap;
      at = start + length;
      return { start, end: at, speaker: name, text: said };
    });
  });

describe('captions', () => {
  it('are the same after vtt, srt and vtt again', () => {
    fc.assert(
      fc.property(cues, (all) => {
        const fromVtt = readBack(toVtt(all), 'vtt');
        expect(fromVtt).toEqual(all);
        const fromSrt = readBack(toSrt(fromVtt), 'srt');
        expect(fromSrt).toEqual(all);
        expect(toVtt(fromSrt)).toBe(toVtt(all));
      }),
      { numRuns: runs(500) },
    );
  });

  it('are the same after being fitted, written and fitted again', () => {
    fc.assert(
      fc.property(cues, fc.integer({ min: 20, max: 65 }), (all, lineLength) => {
        const fitted = fitCues(all, lineLength);
        const again = fitCues(
          readBack(toSrt(fitCues(readBack(toVtt(fitted), 'vtt'), lineLength)), 'srt'),
          lineLength,
        );
        expect(again).toEqual(fitted);
        const named = readBack(toSrt(fitCues(fitted, lineLength, true)), 'srt');
        const said = (some: readonly Cue[]) =>
          some.map((each) => ({ ...each, text: each.text.replace(/\s+/g, ' ') }));
        expect(said(fitCues(named, lineLength))).toEqual(said(fitted));
      }),
      { numRuns: runs(200) },
    );
  });

  it('are read by the parser of the W3C', () => {
    // Without these it leaves the semicolon.
    const entities = { '&amp;': '&', '&lt;': '<', '&gt;': '>' };
    interface Node {
      readonly type: string;
      readonly name?: string;
      readonly value?: string;
      readonly children?: readonly Node[];
    }
    const said = ({ type, value = '', children = [] }: Node): string =>
      type === 'text' ? value : children.map(said).join('');
    fc.assert(
      fc.property(cues, (all) => {
        const { cues: read, errors } = new WebVTTParser(entities).parse(toVtt(all));
        expect(errors).toEqual([]);
        const found = read.map(({ startTime, endTime, tree }) => {
          const [first] = tree.children as readonly Node[];
          const name = first?.name === 'v' ? decoded(first.value ?? '') : undefined;
          return [
            Math.round(startTime * 1000),
            Math.round(endTime * 1000),
            name,
            plain(tree.children.map((each) => said(each as Node)).join('')),
          ];
        });
        expect(found).toEqual(all.map((cue) => [cue.start, cue.end, cue.speaker, plain(cue.text)]));
      }),
      { numRuns: runs(300) },
    );
  });

  it('are read by node-webvtt', () => {
    fc.assert(
      fc.property(cues, (all) => {
        const { cues: read, valid } = nodeWebvtt.parse(toVtt(all));
        expect(valid).toBe(true);
        const found = read.map(({ start, end, text: raw }) => {
          const [tag = '', name] = /^<v ([^>]*)>/.exec(raw) ?? [];
          return [
            ...[Math.round(start * 1000), Math.round(end * 1000), name && decoded(name)],
            decoded(raw.slice(tag.length)),
          ];
        });
        expect(found).toEqual(all.map((cue) => [cue.start, cue.end, cue.speaker, plain(cue.text)]));
      }),
      { numRuns: runs(300) },
    );
  });

  const decoded = (raw: string): string =>
    plain(raw.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'));
  /** Without the marks that show nothing. */
  const plain = (raw: string): string => raw.replaceAll('\u2060', '');

  it('have the speaker in the way of their format', () => {
    const all: Cue[] = [
      { start: 0, end: 3_723_004, speaker: 'Ada', text: 'Hi & <bye>.\nWell.' },
      { start: 3_723_004, end: 3_730_000, speaker: undefined, text: 'Music' },
    ];
    expect(toVtt(all)).toBe(
      'WEBVTT\n\n00:00:00.000 --> 01:02:03.004\n<v Ada>Hi &amp; &lt;bye&gt;.\nWell.\n\n' +
        '01:02:03.004 --> 01:02:10.000\nMusic\n',
    );
    expect(toSrt(all)).toBe(
      '1\n00:00:00,000 --> 01:02:03,004\nAda: Hi & <\u2060bye>.\nWell.\n\n2\n01:02:03,004 --> 01:02:10,000\nMusic\n',
    );
  });

  it('say nothing where nothing was said', () => {
    expect(toVtt([])).toBe('WEBVTT\n');
    expect(toSrt([])).toBe('');
  });
});

describe('JSON', () => {
  it('is laid out as JSON.stringify does it', () => {
    fc.assert(
      fc.property(fc.oneof(cues, fc.constant([])), (all) => {
        const json = toJson(all);
        expect(json).toBe(`${JSON.stringify(JSON.parse(json), null, 2)}\n`);
      }),
      { numRuns: runs(50) },
    );
  });

  it('is that of Podcasting 2.0', () => {
    const all: Cue[] = [
      { start: 500, end: 2500, speaker: 'Ada', text: 'Hello\nthere.' },
      { start: 2500, end: 3000, speaker: undefined, text: 'Music' },
    ];
    expect(JSON.parse(toJson(all))).toEqual({
      version: '1.0.0',
      segments: [
        { speaker: 'Ada', startTime: 0.5, endTime: 2.5, body: 'Hello there.' },
        { startTime: 2.5, endTime: 3, body: 'Music' },
      ],
    });
  });
});

const segments: readonly Segment[] = [
  { line: 1, start: 0, end: 900, speaker: 'Ada', text: 'Hello,' },
  { line: 2, start: 900, end: 2000, speaker: 'Ada', text: 'and welcome\nto *this*.' },
  { line: 3, start: 62_500, end: 63_000, speaker: 'Bo #1', text: '# No [link](x) <b>' },
];

describe('text to read', () => {
  it('has the blanks between phrases of a script without blanks that captions were broken at', () => {
    const said = '今天我们去公园散步 今天天气很好 hello世界';
    const fitted = fitCues([{ start: 0, end: 9000, speaker: 'Ada', text: said }], 10);
    expect(fitted.length).toBeGreaterThan(1);
    for (const format of ['vtt', 'srt'] as const) {
      const back = readBack(format === 'vtt' ? toVtt(fitted) : toSrt(fitted), format);
      expect(toText(back.map((each) => ({ line: 1, ...each })))).toBe(`Ada: ${said}\n`);
    }
  });

  it('is plain text by speaker', () => {
    expect(toText(segments)).toBe('Ada: Hello, and welcome to *this*.\n\nBo #1: # No [link](x) <b>\n');
  });

  it('is Markdown with headings and times', () => {
    expect(toMarkdown(segments, 'A_talk')).toBe(
      '# A\\_talk\n\n## Ada\n\n*00:00:00* Hello, and welcome to \\*this\\*.\n\n' +
        '## Bo \\#1\n\n*00:01:02* \\# No \\[link\\](x) \\<b\\>\n',
    );
    expect(toMarkdown(segments.slice(0, 1), 'x', 'https://a.example/(1)?t={seconds}&u={seconds}')).toContain(
      '[00:00:00](https://a.example/%281%29?t=0&u=0) Hello,\n',
    );
  });

  it('begins a new paragraph at the end of a sentence, and a heading only for another speaker', () => {
    const long = Array.from({ length: 40 }, (_, at) => ({
      ...{ line: at, start: at * 1000, end: at * 1000 + 1000, speaker: 'Ada' },
      text: `This is sentence number ${at}.`,
    }));
    const blocks = toMarkdown(long, 'x').split('\n\n');
    expect(blocks.filter((each) => each.startsWith('##'))).toEqual(['## Ada']);
    expect(blocks.length).toBe(5);
    for (const each of blocks.slice(2)) expect(each).toMatch(/^\*00:00:\d\d\* This .*\.\n?$/);
  });

  it('never becomes markup', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.string()), (said) => {
        const escaped = escapeMarkdown(said);
        expect(escaped.replace(/\\([!-/:-@[-`{-~])/g, '$1')).toBe(said.replace(/\s+/g, ' ').trim());
        expect(escaped).not.toMatch(/(?<!\\)(?:\\\\)*[`*_[\]<>~|$#]/);
        expect(escaped).not.toMatch(/^(?:[-+=>#]|\d+[.)]|\s)/);
        expect(escaped).not.toMatch(/(?<!\\)&(?:#\d|\w+;)|https?:\/\/|www\./i);
      }),
      { numRuns: runs(500) },
    );
    expect(escapeMarkdown('1986. A great year')).toBe('1986\\. A great year');
    expect(escapeMarkdown('- no list')).toBe('\\- no list');
    expect(escapeMarkdown('R&D at www.x.example, https://x.example/?a=1&b=2')).toBe(
      'R\\&D at www\\.x.example, https\\://x.example/?a=1\\&b=2',
    );
  });
});
