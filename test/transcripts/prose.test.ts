/** Heads, speakers and times of transcripts to read, in the layouts that people and other services write. */
import { describe, expect, it } from 'vitest';
import { cuesOf } from '../../src/transcripts/fit.ts';
import type { ReadableFormat } from '../../src/transcripts/model.ts';
import { readTranscript } from '../../src/transcripts/read.ts';
import { zipOf } from '../support/zip.ts';

const read = (content: string | Buffer, format: ReadableFormat) =>
  readTranscript(Buffer.from(content as string), format, `talk.${format}`);

const docxOf = (lines: readonly string[]): Buffer => {
  const body = lines.map((line) => `<w:p><w:r><w:t xml:space="preserve">${line}</w:t></w:r></w:p>`);
  return zipOf({ 'word/document.xml': `<w:document><w:body>${body.join('')}</w:body></w:document>` });
};

/** `start speaker: text` of each, and `head` before what is not spoken. */
const shown = (content: string | Buffer, format: ReadableFormat): string[] =>
  read(content, format).segments.map(({ isHead, start, speaker, text }) =>
    [isHead && 'head', start, speaker && `${speaker}:`, text].filter((each) => each !== undefined).join(' '),
  );

describe('the head', () => {
  it('ends before the first line with a speaker or a time', () => {
    const text = 'Ada: Hello.\nBob: Hi.\nTopic: gardens\nNote: it rains\n\nAda: So.';
    expect(shown(text, 'txt')).toEqual([
      'Ada: Hello.',
      'Bob: Hi.\nTopic: gardens\nNote: it rains',
      'Ada: So.',
    ]);
    expect(shown('[00:01] Hello.\nNote: it rains', 'txt')).toEqual(['1000 Hello.\nNote: it rains']);
  });

  it('may begin with a title that looks like a speaker, but not with a whole speech', () => {
    expect(shown('Episode 12: The Storm\nSource: https://x.example/a\n\nAda: So.', 'txt')).toEqual([
      'head Episode 12: The Storm\nSource: https://x.example/a',
      'Ada: So.',
    ]);
    expect(shown('one\n\ntwo\n\nthree\n\nfour\n\nNote: five', 'txt')).toEqual([
      ...['one', 'two', 'three', 'four', 'Note: five'],
    ]);
  });

  it('has no line of an interview with Subject', () => {
    expect(shown('Interviewer: Name?\n\nSubject: Ada.', 'txt')).toEqual([
      'Interviewer: Name?',
      'Subject: Ada.',
    ]);
  });
});

describe('a time', () => {
  it('on a line of its own is that of the speaker below it', () => {
    const text = '[00:00:05]\nAda: Hello.\n\n[00:00:09]\n\nBob: Hi.\n\n00:00:12\nand so on';
    expect(shown(text, 'tstxt')).toEqual(['5000 Ada: Hello.', '9000 Bob: Hi.', '12000 Bob: and so on']);
  });

  it('after a name has a colon with it, or nothing after it', () => {
    const said = 'Monday (10:30) is when the train leaves.';
    const text = `${said}\n\nAda (00:03): Yes.\n\nAda: [00:04] No.\n\nBob (00:05)\nWell.`;
    expect(shown(text, 'txt')).toEqual([said, '3000 Ada: Yes.', '4000 Ada: No.', '5000 Bob: Well.']);
  });

  it.each([
    ['[00:75:05] Ada: Lost.', 3],
    ['[00:00:65]\nAda: Lost.', 3],
    ['Ada (00:00:65): Lost.', 3],
  ])('of a tstxt that is none is a fault, and no caption: %j', (turn, line) => {
    const text = read(`[00:00:01] Bob: One.\n\n${turn}\n\n[00:00:09] Bob: Two.`, 'tstxt');
    expect(text.faults).toEqual([{ line, message: expect.stringMatching(/^not a valid time: .*:[67]5/) }]);
    expect(text.segments[1]).toMatchObject({ start: undefined, speaker: 'Ada', text: 'Lost.' });
    expect(() => cuesOf(text, { path: 'a.tstxt' })).toThrow('a.tstxt, line 3: not a valid time');
  });

  it('is needed by the first speaker of a tstxt that becomes captions, not by its title', () => {
    const speech = read('A talk\n\nAda: Early.\n\n[00:00:09] Bob: Late.', 'tstxt');
    expect(() => cuesOf(speech, { path: 'a.tstxt' })).toThrow('a.tstxt, line 3: this caption has no time');
    const titled = read('A talk\n\n[00:00:09] Bob: Late.', 'tstxt');
    expect(cuesOf(titled, { path: 'a.tstxt' })).toHaveLength(1);
  });
});

describe('a speaker', () => {
  it.each([
    ...['John Smith (he/him)', 'ADA (on phone)', "Jane's iPhone", 'Jean-Luc d’Arc', 'iPhone von Ada'].map(
      (name) => [name, name],
    ),
    ['>>> JOHN', 'JOHN'],
    ['[Ada]', 'Ada'],
  ])('is %s', (before, name) => {
    expect(read(`${before}: So it is.`, 'txt').segments).toMatchObject([
      { speaker: name, text: 'So it is.' },
    ]);
  });

  it.each(['The pH', '[Inaudible]', '[MUSIC]', 'Note (urgent)', 'what (he said)'])('is not %s', (words) => {
    expect(read(`${words}: seven.`, 'txt').segments[0]?.speaker).toBeUndefined();
  });

  it('stands with a time above the text, as Otter and Teams write it', () => {
    const lines = ['Ada Lovelace   0:03', 'Hello', 'there.', '', 'Bob  1:02:03', 'Hi.'];
    const expected = ['3000 Ada Lovelace: Hello\nthere.', '3723000 Bob: Hi.'];
    expect(shown(lines.join('\n'), 'txt')).toEqual(expected);
    expect(shown(docxOf(lines), 'docx')).toEqual([
      ...['3000 Ada Lovelace: Hello', 'Ada Lovelace: there.', '3723000 Bob: Hi.'],
    ]);
    expect(shown('Ada: We meet\nMonday   0:30', 'txt')).toEqual(['Ada: We meet\nMonday   0:30']);
  });
});
