/**
 * Tells a transcript from something else that came with status 200: a web page, a message in JSON. Only the content is
 * looked at, because services send any content type with any format. In doubt it is a transcript: one that is refused
 * can't be had at all.
 */

import type { TranscriptBody } from '../../api/files.ts';
import type { ChunkHandler } from '../../api/http/exchange.ts';
import { messageInText } from '../../api/http/message.ts';
import { StenoError } from '../../lib/errors.ts';
import { isObject, parseJson } from '../../lib/json.ts';
import { isPage } from '../../transcripts/page.ts';

/** An error message is short: this much is held back and checked before the first byte is passed on. */
const MAX_MESSAGE_BYTES = 65_536;

/** Passes the chunks of a transcript to `onChunk`, unless they are something else. */
export async function streamChecked(
  transcript: TranscriptBody,
  ext: string,
  onChunk: ChunkHandler,
): Promise<void> {
  if (transcript.status !== 200 && transcript.status !== 203) {
    throw new StenoError('failed', `the service sent no transcript (HTTP ${transcript.status})`);
  }
  let heldBack: Buffer[] = [];
  let size = 0;
  let isChecking = true;
  let onlyBlanks = true;
  const release = (isCut: boolean): void | Promise<void> => {
    const start = Buffer.concat(heldBack);
    const text = textOf(start);
    if (isSomethingElse(start, ext, isCut, text)) throw messageError(start, transcript);
    onlyBlanks = isBlank(text);
    if (onlyBlanks && !isCut) throw emptyError();
    isChecking = false;
    heldBack = [];
    return onChunk(start);
  };
  await transcript.stream((chunk) => {
    size += chunk.length;
    if (!isChecking) {
      onlyBlanks &&= isBlank(textOf(chunk));
      return onChunk(chunk);
    }
    heldBack.push(chunk);
    return size < MAX_MESSAGE_BYTES ? undefined : release(true);
  });
  if (size === 0) throw emptyError();
  if (isChecking) await release(false);
  if (onlyBlanks) throw emptyError();
}

const emptyError = (): StenoError => new StenoError('failed', 'the service sent an empty transcript');

function messageError(start: Buffer, { hide }: TranscriptBody): StenoError {
  const said = messageInText(start.toString('utf8'), hide);
  return new StenoError(
    'failed',
    `the service sent a message instead of the transcript${said ? `: ${said}` : ''}`,
  );
}

/** Blanks of every kind, and marks that show nothing. */
const BLANK = /^[\s\0\u200b-\u200f\u2060\ufeff]*$/;

/** Whether there is nothing to read in it. */
const isBlank = (text: string): boolean => BLANK.test(text);

/** `isCut`: the start is not all of it. */
export function isSomethingElse(start: Buffer, ext: string, isCut: boolean, text = textOf(start)): boolean {
  if (ext === 'docx' && !isZip(start) && !isOldWord(start)) return true;
  const content = withoutMark(text);
  if (isJson(content, isCut)) return true;
  // Some .doc files are pages inside.
  return ext !== 'html' && ext !== 'doc' && isPage(content);
}

const isZip = (start: Buffer): boolean => /^PK[\u0003\u0005\u0007]/.test(start.toString('latin1', 0, 3));

/** A file of Word before 2007, whatever its name. */
const isOldWord = (start: Buffer): boolean => start.toString('latin1', 0, 4) === '\u00d0\u00cf\u0011\u00e0';

const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

/** UTF-8, or UTF-16 where its mark, or the zeros beside `<`, say so. */
function textOf(start: Buffer): string {
  const [first, second] = start;
  const isLittle = (first === 0xff && second === 0xfe) || (first === LESS && second === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second === LESS);
  if (isLittle) return start.toString('utf16le');
  return isBig
    ? Buffer.from(start.subarray(0, start.length & ~1))
        .swap16()
        .toString('utf16le')
    : start.toString('utf8');
}

const LESS = 0x3c;

/** An object, or an array that begins with one. What can't be parsed is a transcript: `{inaudible}`, `{\rtf1`. */
function isJson(text: string, isCut: boolean): boolean {
  if (!/^\s*(\[\s*)?\{/.test(text)) return false;
  // Cut off it can't be parsed: then its first key tells.
  if (isCut) return /^\s*(\[\s*)?\{\s*"[^"\\\n]{1,100}"\s*:\s*["{[\dtfn-]/.test(text);
  try {
    const json = parseJson(text.trim());
    return Array.isArray(json) ? isObject(json[0]) : isObject(json);
  } catch {
    return false;
  }
}
