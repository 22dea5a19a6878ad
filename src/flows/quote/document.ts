/**
 * The quotations of a document. What is no text (markup, code, addresses) is blanked out first, and marks are put where
 * blocks end, character for character, so that every place stays where it is. Then one scan over the quotation marks of
 * each block pairs them.
 */
import { decodeEntities } from '../../transcripts/page.ts';
import { splitSpeaker } from '../../transcripts/speakers.ts';
import type { Quotation } from './judge.ts';
import { tokensOf } from './tokens.ts';

export type DocumentFormat = 'markdown' | 'html' | 'text';

/** In the place of what is no text. It is never a blank. */
const NONE = '\0';
/** In the place of a character where a block begins, and where a block quote begins and ends. */
const [BLOCK, QUOTE, UNQUOTE] = ['\x01', '\x02', '\x03'] as const;
/** Where a block ends: at a mark, or at an empty line. */
const edges = /([\x01-\x03]|\n\s*\n)/g;

const withoutMarks = (text: string): string => text.replace(/[\0-\x03]/g, ' ');

const blank = (text: string, mark = ''): string =>
  mark + text.slice(mark.length).replace(/[^\n\x01-\x03]/g, NONE);

const plain = (text: string): string => text.replaceAll(NONE, '').replace(/\s+/g, ' ').trim();

/** `minWords`: shorter ones are no quotations. */
export function quotationsOf(
  source: string,
  format: DocumentFormat,
  minWords: number,
  document?: string,
): Quotation[] {
  const lineAt = linesOf(source);
  let introduction = '';
  return blocksOf(textOf(withoutMarks(source), format)).flatMap(({ start, text, isQuote }) => {
    const pairs = isQuote ? [wholeOf(text, introduction)] : pairsIn(text);
    if (!isQuote) introduction = introductionIn(text);
    return pairs.flatMap(({ from, to, around }) => {
      const quoted = text.slice(from, to);
      if (tokensOf(plain(quoted)).length < minWords) return [];
      const place = lineAt(start + from + quoted.search(/[^\s\0]/));
      return [{ text: plain(quoted), document, ...place, around: plain(around ?? aroundOf(text, from, to)) }];
    });
  });
}

/** `Ada said:` above a block quote. */
const introductionIn = (text: string): string =>
  /[:：]\s*$/.test(plain(text)) ? (text.split(/[.!?]\s/).at(-1) ?? '') : '';

/** Line and column of a place; places must ascend. */
function linesOf(text: string): (place: number) => { line: number; column: number } {
  let [line, begin] = [1, 0];
  return (place) => {
    for (let next = text.indexOf('\n', begin); next >= 0 && next < place; next = text.indexOf('\n', begin)) {
      line += 1;
      begin = next + 1;
    }
    return { line, column: place - begin + 1 };
  };
}

interface Block {
  readonly start: number;
  readonly text: string;
  readonly isQuote: boolean;
}

function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let [start, depth] = [0, 0];
  for (const { 0: mark, index } of [...text.matchAll(edges), { 0: '', index: text.length }]) {
    const block = { start, text: text.slice(start, index), isQuote: depth > 0 };
    if (plain(block.text)) blocks.push(block);
    start = index + mark.length;
    if (mark === QUOTE) depth += 1;
    if (mark === UNQUOTE) depth = Math.max(0, depth - 1);
  }
  return blocks;
}

interface Pair {
  readonly from: number;
  readonly to: number;
  readonly around?: string;
}

/** A block quote without the name before it or the line `— Ada` under it, which say who it is. */
function wholeOf(text: string, introduction: string): Pair {
  const signature = /\n[^\p{L}\p{N}\n]*[—–-]{1,2}\s*([^\n]{1,100})\s*$/u.exec(text);
  const to = signature ? signature.index : text.length;
  const clean = text.slice(0, to).replace(/[*_\0]/g, ' ');
  const { speaker } = splitSpeaker(clean);
  const from = speaker === undefined ? 0 : clean.search(/[:：]/) + 1;
  return { from, to, around: [introduction, speaker, signature?.[1]].join(' ') };
}

const MAX_AROUND = 300;

/** What else stands in the sentence of a quotation. */
function aroundOf(text: string, from: number, to: number): string {
  // With its mark, before which a sentence may end.
  const before = text.slice(Math.max(0, from - MAX_AROUND), from);
  const after = text.slice(to + 1, to + MAX_AROUND);
  const begun = before.split(/[.!?…]["'”’»]?\s+(?=[\p{Lu}\p{Lo}"“”«»„‘‚])/u).at(-1) ?? '';
  // After a full stop, another sentence begins.
  const isEnded = /[.。]\s*$/.test(text.slice(from, to).replaceAll(NONE, ''));
  const rest = isEnded && /^\s*\p{Lu}/u.test(after) ? '' : (after.split(/[.!?。]/)[0] ?? '');
  return `${begun} ${rest.replace(/["“«„][^"”»“]*$/, '')}`;
}

/** By what may end it. The second of two alike may also begin one. */
const closers: Readonly<Record<string, string>> = {
  ...{ '“': '”', '„': '“”', '«': '»', '»': '«»', '”': '”', '"': '"', '‘': '’', '‚': '‘’' },
  ...{ '「': '」', '『': '』', '‹': '›', '›': '‹' },
};
/** Not an apostrophe within a word. */
const marks = /["“”„«»‘‚「」『』‹›]|’(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])’/gu;
const isWord = /[\p{L}\p{N}]/u;
/** Of more that are open at a time, the outermost are no quotation marks. */
const MAX_OPEN = 20;

/** The outermost pairs of quotation marks. */
function pairsIn(text: string): Pair[] {
  const open: { readonly mark: string; readonly at: number }[] = [];
  const pairs: Pair[] = [];
  for (const { 0: mark, index } of text.matchAll(marks)) {
    const [before, after] = [text.charAt(index - 1), text.charAt(index + 1)];
    const opener = open.findLastIndex((each) => closers[each.mark]?.includes(mark));
    if (opener >= 0 && mayClose(mark, before, after)) {
      const [{ at: begin = 0 } = {}] = open.splice(opener);
      while ((pairs.at(-1)?.from ?? -1) > begin) pairs.pop();
      pairs.push({ from: begin + 1, to: index });
    } else if (mayOpen(mark, before, after)) {
      open.push({ mark, at: index });
      if (open.length > MAX_OPEN) open.shift();
    }
  }
  return pairs;
}

const isSpace = (text: string): boolean => /^\s?$/.test(text);

/** French puts blanks inside its marks. */
const mayClose = (mark: string, before: string, after: string): boolean =>
  !isSpace(before) || isSpace(after) || mark === '»' || mark === '”';

function mayOpen(mark: string, before: string, after: string): boolean {
  if ('“„«‚「『‹'.includes(mark)) return true;
  if (closers[mark] === undefined || isWord.test(before)) return false;
  return mark === '‘' || !isSpace(after) || (isSpace(before) && mark === '"');
}

const frontMatter = /^---\r?\n[\s\S]{0,20000}?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/;
/** To the end of the document, where it is not closed. */
const fence = /^(?: {0,3}>)* {0,3}(`{3,}(?=[^`\n]*$)|~{3,})[\s\S]*?(?:\n[ \t>]*\1[`~]*\s*?$|$(?![\s\S]))/gm;

/** As long as the source, and with the marks of blocks. */
function textOf(source: string, format: DocumentFormat): string {
  if (format === 'html') return withoutTags(source);
  if (format === 'text') return withBlocks(source, false);
  const text = [frontMatter, fence].reduce(
    (all, code) => all.replace(code, (each) => blank(each, BLOCK)),
    source,
  );
  return withoutTags(withoutSpans(withBlocks(text, true)))
    .replace(/!\[[^\]\n]{0,1000}\]\([^()\n]{0,2000}\)/g, (all) => blank(all))
    .replace(/\]\([^()\n]{0,2000}\)|\]\[[^\]\n]{0,200}\]/g, (all) => blank(all))
    .replace(/\[(?![^\]\n]{0,80}\])/g, NONE)
    .replace(/https?:\/\/[^\s\x01-\x03<>"“”«»]+/g, (all) => blank(all));
}

const quoteMark = /^ {0,3}(?:> ?)+/;
/** A callout of GitHub looks like a block quote. */
const callout = /^\W*\[!\w+\]/;
const listItem = /^\s*(?:[-+*]|\d{1,9}[.)])\s/;
/** Of a block: a list item, a heading. */
const beginning = /^\s*(?:[-+*]|\d{1,9}[.)])\s|^ {0,3}#{1,6}\s/;
/** `[1]: https://…`, not a footnote. */
const definition = /^ {0,3}\[(?!\^)[^\]\n]+\]:\s*\S+/;

/** Marks where blocks begin and block quotes end; of Markdown, blanks out indented code and definitions of links. */
function withBlocks(source: string, isMarkdown: boolean): string {
  let [isInQuote, isAfterBlank, isInCode, isInList] = [false, true, false, false];
  const withoutCode = (line: string): string => {
    if (!isMarkdown || /^[\0\x01]/.test(line)) return line;
    const isBlank = line.trim() === '';
    if (!isBlank && !/^\s/.test(line)) isInList = listItem.test(line);
    isInCode = /^(?: {4}|\t)/.test(line) && (isAfterBlank || isInCode) && !isInList;
    isAfterBlank = isBlank;
    return isInCode || definition.test(line) ? blank(line) : line;
  };
  const lines = source.split('\n').map((line) => {
    const [mark = ''] = quoteMark.exec(line) ?? [];
    const text = line.slice(mark.length);
    let before = text.trim() === '' || (isMarkdown && beginning.test(line)) ? BLOCK : '\n';
    if (isInQuote && !mark) before = UNQUOTE;
    const opened = isInQuote ? '' : mark && (callout.test(text) ? BLOCK : QUOTE);
    isInQuote = mark !== '';
    return before + blank(mark, opened) + withoutCode(line).slice(mark.length);
  });
  return lines.join('').slice(1);
}

/** Blanks out code between backticks, as many on each side. It does not go over the end of a block. */
const withoutSpans = (text: string): string => text.split(edges).map(withoutOwnSpans).join('');

function withoutOwnSpans(block: string): string {
  const open = new Map<number, number>();
  const spans: Array<readonly [from: number, to: number]> = [];
  for (const { 0: run, index } of block.matchAll(/`+/g)) {
    const begin = open.get(run.length) ?? index;
    for (const [length, at] of open) if (at >= begin) open.delete(length);
    if (begin === index) open.set(run.length, index);
    while ((spans.at(-1)?.[0] ?? -1) > begin) spans.pop();
    if (begin < index) spans.push([begin, index + run.length]);
  }
  let done = 0;
  const parts = spans.map(([from, to]) => {
    const before = block.slice(done, from);
    done = to;
    return before + blank(block.slice(from, to));
  });
  return parts.join('') + block.slice(done);
}

const tag = /<(?:!--[\s\S]*?(?:-->|$)|(\/?)([a-z][a-z0-9-]*)\b(?:[^<>"']|"[^"<>]*"|'[^'<>]*')*>)/gi;
const hidden = /<(script|style|template|title|code|pre|head|svg|kbd|samp)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi;
/** Whatever else there is stands within a line. */
const block =
  /^(?:address|article|aside|body|button|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|h[1-6]|header|hgroup|hr|html|iframe|legend|li|main|menu|nav|noscript|ol|optgroup|option|p|section|select|summary|table|tbody|td|textarea|tfoot|th|thead|tr|ul)$/i;

/** What stands in the place of tags and entities: marks of blocks, quotation marks, characters. */
const withoutTags = (text: string): string =>
  text
    .replace(hidden, (all) => blank(all))
    .replace(tag, (all, slash: string | undefined, name = '') => {
      if (/^q$/i.test(name)) return blank(all, slash ? '”' : '“');
      if (/^blockquote$/i.test(name)) return blank(all, slash ? UNQUOTE : QUOTE);
      if (/^br$/i.test(name)) return blank(all, ' ');
      return blank(all, block.test(name) ? BLOCK : '');
    })
    .replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|\w{2,8});/gi, (all) => {
      const decoded = withoutMarks(decodeEntities(all));
      return decoded + NONE.repeat(all.length - decoded.length);
    });
