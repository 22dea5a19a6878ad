/**
 * Tells a transcript from something else that came with status 200: a web page, a message in JSON. Only the content is
 * looked at, because services send any content type with any format. In doubt it is a transcript: one that is refused
 * can't be had at all.
 */
import { isObject, parseJson } from '../../lib/json.ts';

/** Enough to tell how a text begins. */
export const FIRST_BYTES = 64;

/** Blanks of every kind, and marks that show nothing. */
const BLANK = /^[\s\0\u200b-\u200f\u2060\ufeff]*$/;

/** Whether there is nothing to read in it. */
export const isBlank = (start: Buffer): boolean => BLANK.test(textOf(start));

/** Whether the whole start has to be looked at: a transcript mostly shows in its first bytes that it is one. */
export function mayBeSomethingElse(first: Buffer, ext: string): boolean {
  if (ext === 'docx') return !isZip(first);
  if (isBlank(first)) return true;
  return /^\s*(<|\{|\[\s*(\{|$)|$)/.test(withoutMark(textOf(first.subarray(0, FIRST_BYTES))));
}

/** `isCut`: the start is not all of it. */
export function isSomethingElse(start: Buffer, ext: string, isCut: boolean): boolean {
  if (ext === 'docx' && !isZip(start) && !isOldWord(start)) return true;
  const text = withoutMark(textOf(start));
  if (isJson(text, isCut)) return true;
  // Some .doc files are pages inside.
  return ext !== 'html' && ext !== 'doc' && isPage(text);
}

const isZip = (start: Buffer): boolean => /^PK[\u0003\u0005\u0007]/.test(start.toString('latin1', 0, 3));

/** A file of Word before 2007, whatever its name. */
const isOldWord = (start: Buffer): boolean => start.toString('latin1', 0, 4) === '\u00d0\u00cf\u0011\u00e0';

const withoutMark = (text: string): string => text.replace(/^\ufeff/, '');

/** UTF-8, or UTF-16 where its mark, or the zeros beside `<`, say so. */
function textOf(start: Buffer): string {
  // Not destructured, which makes an iterator: this is done for each of thousands of transcripts.
  const first = start[0];
  const second = start[1];
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

/** Elements that stand at the top of a page and in no transcript. */
const topElements = /^<(html|head|body|title|meta|link|base|script|style|frameset|noscript)(\s[^<]*|\/)?>/i;
/** Elements that a page without a top begins with: they count if they are closed too. */
const blockElements =
  /^<(h[1-6]|p|div|center|table|pre|main|section|article|header|ul|ol|form|a|b|strong|error|errors|errorresponse|response|fault)(\s[^<]*)?>/i;

function isPage(text: string): boolean {
  const start = withoutComments(text);
  if (/^<(\?xml|!doctype)\s|^<br\s*\/?>/i.test(start) || topElements.test(start)) return true;
  const [, element] = blockElements.exec(start) ?? [];
  return element !== undefined && start.toLowerCase().includes(`</${element.toLowerCase()}>`);
}

/** What follows the blanks and comments at the beginning. */
function withoutComments(text: string): string {
  let rest = text.trimStart();
  while (rest.startsWith('<!--')) {
    const end = rest.indexOf('-->', 4);
    if (end < 0) break;
    rest = rest.slice(end + 3).trimStart();
  }
  return rest;
}
