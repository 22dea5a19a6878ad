/** Whatever is in a file, reading and converting it takes time in proportion to its size. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cuesOf, fitCues } from '../../src/transcripts/fit.ts';
import { type ReadableFormat, readableFormats } from '../../src/transcripts/model.ts';
import { readTranscript } from '../../src/transcripts/read.ts';
import { toJson, toMarkdown, toSrt, toText, toVtt, unmarked } from '../../src/transcripts/write.ts';
import { excessGrowth } from '../support/growth.ts';
import { processorTimeOf } from '../support/processor-time.ts';
import { runs } from '../support/runs.ts';
import { zipOf } from '../support/zip.ts';

const fileOf = (format: ReadableFormat, text: string): Buffer =>
  format === 'docx'
    ? zipOf({ 'word/document.xml': `<w:document><w:body><w:p>${text}` })
    : Buffer.from(format === 'vtt' ? `WEBVTT\n\n00:01.000 --> 00:02.000\n${text}` : text);

/** What refuses the text has read it, too. */
function attempt(work: () => unknown): void {
  try {
    work();
  } catch (error) {
    expect(error).toMatchObject({ name: 'StenoError' });
  }
}

function readAndWrite(format: ReadableFormat, file: Buffer): void {
  attempt(() => {
    const text = readTranscript(file, format, 'x');
    const segments = text.segments.map(unmarked);
    for (const part of [...toText(segments), ...toMarkdown(segments, 'x')]) part.trim();
    const cues = cuesOf({ ...text, segments }, { path: 'x' });
    for (const write of [toVtt, toSrt, toJson]) for (const part of write(fitCues(cues, 42))) part.trim();
  });
}

const pieces = [
  ...['<a "', "<a '", '<span>', '</span>', '<p>', '<b x="y">', '<', '>', '"', "'", '<!--', '-->', '<script>'],
  ...['<v Ada>', '<w:t>', '<w:br/>', '<![CDATA[', ']]>', '&amp;', '&', '{\\an8}', '[', ']', '(', ')', '_'],
  ...['\u2060', '\n', '\n\n', ' ', '\t', 'a', '一', '。', '.', ':', 'Ada: ', '00:01', '1', '\ud83d', 'NOTE'],
  ...['00:00:01,000 --> 00:00:02,000\n', '[00:00:01] ', 'Ada  0:01\n', '->', '→', '{"', '\\'],
];

describe('hostile text', () => {
  it.each(readableFormats)(
    'in %s takes four times as long if it is four times as long',
    (format) => {
      const unit = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 });
      fc.assert(
        fc.property(unit, (parts) => {
          const text = parts.join('');
          const make = (length: number) => text.repeat(Math.ceil(length / text.length));
          const read = (all: string) => readAndWrite(format, fileOf(format, all));
          expect(excessGrowth(read, make)).toBeUndefined();
        }),
        { numRuns: runs(8) },
      );
    },
    120_000,
  );
});

it.each([
  ['text', 'words and more words '],
  ['elements within lines', '<span>word</span> '],
  ['paragraphs', '<p><b>Ada:</b> word</p>'],
])('a page of 2 MB without line breaks is read at once: %s', (_, unit) => {
  const page = Buffer.from(`<html><body>${unit.repeat(2_000_000 / unit.length)}</body></html>`);
  const time = () => processorTimeOf(() => void readTranscript(page, 'html', 'x'));
  expect(Math.min(time(), time(), time())).toBeLessThan(1000);
});
