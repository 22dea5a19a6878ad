/** Reads a transcript in any of the formats that have text. */
import { readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { formatOfName } from '../catalog/formats.ts';
import { StenoError, systemReason } from '../lib/errors.ts';
import { checkUtf8 } from '../lib/lines.ts';
import { bytesText } from '../lib/text.ts';
import { readCues } from './cues.ts';
import { jsonSegments, tsvSegments } from './data.ts';
import { docxLines } from './docx.ts';
import { markdownLines, markdownSegments } from './markdown.ts';
import { knownFormats, type ReadableFormat, type TranscriptText } from './model.ts';
import { isPage, pageLines, type TextLine } from './page.ts';
import { readProse } from './prose.ts';

/** Ten days of speech. */
export const MAX_TRANSCRIPT_BYTES = 20_000_000;
/** Enough to tell a web page by. */
const PAGE_START = 65_536;

/** The format that the name stands for; undefined if it can't be read. */
export function readableFormatOf(path: string): ReadableFormat | undefined {
  const format = formatOfName(path) ?? extname(path).slice(1).toLowerCase();
  return knownFormats.find((each) => each === format);
}

const failed = (message: string, hint?: string, cause?: unknown): StenoError =>
  new StenoError('failed', message, { hint, cause });

/** Throws for what is no transcript in this format: a web page, a zip bomb, too large, not text. */
export function readTranscript(bytes: Buffer, format: ReadableFormat, path: string): TranscriptText {
  checkSize(bytes.length, path);
  if (format === 'docx') return { format, ...readProse(docxLines(bytes, path), false) };
  const text = textOf(bytes, format, path);
  if (format === 'html') return { format, ...readProse(pageLines(text), false) };
  if (format === 'md') {
    const segments = markdownSegments(text);
    return { format, ...(segments ? { segments, faults: [] } : readProse(markdownLines(text), false)) };
  }
  if (format === 'json' || format === 'tsv') {
    const segments = format === 'json' ? jsonSegments(text) : tsvSegments(text);
    if (!segments) throw failed(`${path} is not a ${format} transcript`);
    return { format, segments, faults: [] };
  }
  if (format === 'txt' || format === 'tstxt')
    return { format, ...readProse(linesOf(text), format === 'tstxt') };
  const { areCaptions, ...captions } = readCues(text, format);
  if (!areCaptions)
    throw failed(`${path} has no captions: no line in it is a time such as 00:00:01.000 --> 00:00:02.000`);
  return { format, ...captions };
}

/** With \n alone between lines. UTF-16 is read where its mark says so. */
function textOf(bytes: Buffer, format: ReadableFormat, path: string): string {
  const text = decoded(bytes, path);
  if (text.trim() === '') throw failed(`${path} is empty`);
  if (format !== 'html' && isPage(text.slice(0, PAGE_START)))
    throw failed(`${path} is a web page, not a transcript in ${format}`);
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}

function decoded(bytes: Buffer, path: string): string {
  const mark = bytes.toString('latin1', 0, 4);
  if (mark.startsWith('PK\u0003\u0004'))
    throw failed(`${path} is a zip file or a Word document, not a text file`);
  if (mark.startsWith('\u00ff\u00fe') && mark !== '\u00ff\u00fe\u0000\u0000')
    return new TextDecoder('utf-16le').decode(bytes);
  if (mark.startsWith('\u00fe\u00ff')) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return checkUtf8(bytes, path).toString();
  } catch (error) {
    if (error instanceof StenoError) throw failed(error.message, error.hint, error);
    throw error;
  }
}

const linesOf = (text: string): TextLine[] =>
  text.split('\n').map((each, at) => ({ line: at + 1, text: each }));

function checkSize(bytes: number, path: string): void {
  if (bytes <= MAX_TRANSCRIPT_BYTES) return;
  const isAlike = bytesText(bytes) === bytesText(MAX_TRANSCRIPT_BYTES);
  const sizeOf = (size: number): string => bytesText(size) + (isAlike ? ` (${size} bytes)` : '');
  const limit = sizeOf(MAX_TRANSCRIPT_BYTES);
  throw failed(`${path} is too large for a transcript: ${sizeOf(bytes)}, and at most ${limit} are read`);
}

/** The content of a file, bounded in size. */
export function readBytes(path: string): Buffer {
  try {
    const found = statSync(path);
    if (!found.isFile()) throw failed(`${path} is ${found.isDirectory() ? 'a folder' : 'not a file'}`);
    checkSize(found.size, path);
    return readFileSync(path);
  } catch (error) {
    if (error instanceof StenoError) throw error;
    throw failed(`${path} can't be read: ${systemReason(error)}`, undefined, error);
  }
}

/** Lets an interruption in, between two parts of long work. */
export async function nextTurn(signal: AbortSignal | undefined): Promise<void> {
  await new Promise(setImmediate);
  if (signal?.aborted) throw new StenoError('interrupted', 'interrupted');
}

/** Reads a file of many: an interruption may come before it. */
export async function readTranscriptFile(
  { path, format }: { readonly path: string; readonly format: ReadableFormat },
  signal?: AbortSignal,
): Promise<TranscriptText> {
  await nextTurn(signal);
  return readTranscript(readBytes(path), format, path);
}
