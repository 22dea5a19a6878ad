/** Reads documents, and verifies quotations against the transcripts on this disk. */
import { extname } from 'node:path';
import { StenoError, usage } from '../../lib/errors.ts';
import { checkUtf8 } from '../../lib/lines.ts';
import type { Report } from '../../lib/progress.ts';
import { docxLines } from '../../transcripts/docx.ts';
import { nextTurn, readBytes } from '../../transcripts/read.ts';
import { type ChosenTexts, type SearchPlace, withIndex } from '../search/search.ts';
import type { TranscriptFilter } from '../transcripts/on-disk.ts';
import { type DocumentFormat, quotationsOf } from './document.ts';
import { Finder } from './find.ts';
import { judge, type Quotation, type Verdict } from './judge.ts';

const formats: Readonly<Record<string, DocumentFormat>> = {
  ...{ '.md': 'markdown', '.markdown': 'markdown', '.mdx': 'markdown', '.qmd': 'markdown' },
  ...{ '.html': 'html', '.htm': 'html', '.xhtml': 'html' },
};

/** Throws a usage error where it can't be read. */
export function readDocument(path: string, minWords: number): Quotation[] {
  try {
    const bytes = readBytes(path);
    const ext = extname(path).toLowerCase();
    if (ext === '.docx') {
      const lines = docxLines(bytes, path);
      const found = quotationsOf(lines.map(({ text }) => text).join('\n'), 'text', minWords, path);
      return found.map((each) => ({ ...each, line: lines[(each.line ?? 1) - 1]?.line }));
    }
    const text = checkUtf8(bytes, path).toString();
    if (text.includes('\0')) throw new StenoError('failed', `${path} is not a text file`);
    return quotationsOf(text, formats[ext] ?? 'text', minWords, path);
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    throw usage(error.message, error.hint ?? 'quote --verify reads Markdown, HTML, text and docx');
  }
}

export interface VerifyRequest {
  readonly quotations: readonly Quotation[];
  readonly filter: TranscriptFilter;
  readonly isStrict: boolean;
  readonly isSpokenBy: (name: string | undefined) => boolean;
}

export interface Verified extends Pick<ChosenTexts, 'tally' | 'withoutIndex'> {
  readonly verdicts: readonly Verdict[];
}

export const verify = (place: SearchPlace, request: VerifyRequest, report: Report): Promise<Verified> =>
  withIndex(place, request.filter, report, async (texts) => {
    const finder = new Finder(texts, request.isStrict);
    const verdicts: Verdict[] = [];
    for (const quotation of request.quotations) {
      await nextTurn(place.signal);
      verdicts.push(judge(finder, quotation, request.isSpokenBy));
      report({ done: verdicts.length, of: request.quotations.length, unit: 'quotation' });
    }
    texts.close();
    return { verdicts, tally: texts.tally, withoutIndex: texts.withoutIndex };
  });
