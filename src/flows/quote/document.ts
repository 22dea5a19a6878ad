/**
 * The quotations of a document. What is no text (markup, code, addresses) is blanked out first, so that every place stays
 * where it is; then one scan over all quotation marks pairs them.
 */
import { decodeEntities } from '../../transcripts/page.ts';
import { splitSpeaker } from '../../transcripts/speakers.ts';
import type { Quotation } from './judge.ts';
import { tokensOf } from './tokens.ts';

export type DocumentFormat = 'markdown' | 'html' | 'text';

/** In the place of what is no text. It is never a blank. */
const NONE = '\0';
/** Where a block ends. */
const BREAK = '\n\n';

const blank = (text: string, by = NONE): string => text.replace(/[^\n]/g, by);

/** At the end of a block: as many characters, so that it is a blank line. */
const breaking = (text: string): string => (text.length < 2 ? blank(text) : BREAK + blank(text.slice(2)));

interface Block {
  readonly start: number;
  readonly text: string;
  readonly isQuote: boolean;
}

/** `minWords`: shorter ones are no quotations. */
export function quotationsOf(
  source: string,
  format: DocumentFormat,
  minWords: number,
  document?: string,
): Quotation[] {
  const text = source.replaceAll(NONE, ' ');
  const blocks = format === 'html' ? htmlBlocks(text) : lineBlocks(text, format === 'markdown');
  const lineAt = linesOf(source);
  let before = '';
  return blocks.flatMap((block) => {
    const above = before;
    if (!block.isQuote) before = introductionIn(block.text);
    const pairs = block.isQuote ? [wholeOf(block, above)] : pairsIn(block.text);
    return pairs.flatMap(({ start, end, around }) => {
      const quoted = plain(block.text.slice(start, end));
      if (tokensOf(quoted).length < minWords) return [];
      const from = block.start + start + (/[^\s\0]/.exec(block.text.slice(start, end))?.index ?? 0);
      return [
        {
          ...{ text: quoted, document },
          ...lineAt(from),
          around: plain(around ?? aroundOf(block.text, start, end)),
        },
      ];
    });
  });
}

/** `Ada said:` above a block quote. */
const introductionIn = (text: string): string =>
  /[:：]\s*$/.test(plain(text)) ? (text.split(/[.!?]\s/).at(-1) ?? '') : '';

const plain = (text: string): string => text.replaceAll(NONE, '').replace(/\s+/g, ' ').trim();

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

interface Pair {
  readonly start: number;
  readonly end: number;
  readonly around?: string;
}

/** A block quote without the name before it or the line `— Ada` under it, which say who it is. */
function wholeOf({ text }: Block, above: string): Pair {
  const lines = /\n[^\p{L}\p{N}\n]*[—–-]{1,2}\s*([^\n]{1,100})\s*$/u.exec(text);
  const end = lines ? lines.index : text.length;
  const clean = text.slice(0, end).replace(/[*_\0]/g, ' ');
  const { speaker } = splitSpeaker(clean);
  const start = speaker === undefined ? 0 : clean.search(/[:：]/) + 1;
  return { start, end, around: [above, speaker, lines?.[1]].join(' ') };
}

const MAX_AROUND = 300;

/** What else stands in the sentence of a quotation. */
function aroundOf(text: string, start: number, end: number): string {
  // With its mark, before which a sentence may end.
  const before = text.slice(Math.max(0, start - MAX_AROUND), start);
  const after = text.slice(end + 1, end + MAX_AROUND);
  const begun = before.split(/[.!?…]["'”’»]?\s+(?=[\p{Lu}\p{Lo}"“”«»„‘‚])/u).at(-1) ?? '';
  // After a full stop, another sentence begins.
  const isEnded = /[.。]\s*$/.test(text.slice(start, end).replaceAll(NONE, ''));
  const rest = isEnded && /^\s*\p{Lu}/u.test(after) ? '' : (after.split(/[.!?。]/)[0] ?? '');
  return `${begun} ${rest.replace(/["“«„][^"”»“]*$/, '')}`;
}

/** By what may end it. The second of two alike may also begin one. */
const closers: Readonly<Record<string, string>> = {
  ...{ '“': '”', '„': '“”', '«': '»', '»': '«»', '”': '”', '"': '"', '‘': '’', '‚': '‘’' },
  ...{ '「': '」', '『': '』', '‹': '›', '›': '‹' },
};
const opensAlways = new Set(['“', '„', '«', '‘', '‚', '「', '『', '‹']);
const marks = /["“”„«»‘’‚「」『』‹›]/g;
const isWord = /[\p{L}\p{N}]/u;

/** The outermost pairs of quotation marks. Linear: an open one is dropped once, when something around it ends. */
function pairsIn(text: string): Pair[] {
  const open = new OpenMarks();
  const pairs: Pair[] = [];
  for (const { 0: mark, index } of text.matchAll(marks)) {
    const place = placeOf(text, index);
    if (mark === '’' && place.isAfterWord && place.isBeforeWord) continue;
    const opener = open.openerFor(mark);
    if (opener !== undefined && mayClose(mark, place)) {
      const start = open.close(opener) + 1;
      while ((pairs.at(-1)?.start ?? -1) > start) pairs.pop();
      pairs.push({ start, end: index });
    } else if (mayOpen(mark, place)) open.add(mark, index);
  }
  return pairs;
}

function placeOf(text: string, at: number) {
  const [before, after] = [text.charAt(at - 1), text.charAt(at + 1)];
  const [isSpacedBefore, isSpacedAfter] = [/^\s?$/.test(before), /^\s?$/.test(after)];
  return {
    isSpacedBefore,
    isSpacedAfter,
    isAfterWord: isWord.test(before),
    isBeforeWord: isWord.test(after),
  };
}

type Place = ReturnType<typeof placeOf>;

/** French puts blanks inside its marks. */
const mayClose = (mark: string, { isSpacedBefore, isSpacedAfter }: Place): boolean =>
  !isSpacedBefore || isSpacedAfter || mark === '»' || mark === '”';

function mayOpen(mark: string, { isSpacedBefore, isSpacedAfter, isAfterWord }: Place): boolean {
  if (opensAlways.has(mark)) return mark !== '‘' || !isAfterWord;
  if (closers[mark] === undefined || isAfterWord) return false;
  return !isSpacedAfter || (isSpacedBefore && mark === '"');
}

class OpenMarks {
  readonly #open: { readonly mark: string; readonly at: number }[] = [];
  readonly #counts = new Map<string, number>();

  add(mark: string, at: number): void {
    this.#open.push({ mark, at });
    this.#counts.set(mark, (this.#counts.get(mark) ?? 0) + 1);
  }

  /** The open mark that this one would end. */
  openerFor(mark: string): string | undefined {
    const last = this.#open.at(-1)?.mark ?? '';
    if (closers[last]?.includes(mark)) return last;
    return Object.keys(closers).find((each) => closers[each]?.includes(mark) && this.#counts.get(each));
  }

  /** With all that were opened after it. Gives its place. */
  close(opener: string): number {
    for (let last = this.#open.pop(); last; last = this.#open.pop()) {
      this.#counts.set(last.mark, (this.#counts.get(last.mark) ?? 0) - 1);
      if (last.mark === opener) return last.at;
    }
    return -1;
  }
}

const fence = /^ {0,3}(`{3,}|~{3,})/;

const quoteMarks = /^ {0,3}(?:> ?)+/;
const listItem = /^\s*(?:[-+*]|\d{1,9}[.)])\s|^ {0,3}#{1,6}\s/;

interface Line {
  readonly start: number;
  readonly text: string;
  readonly isQuote: boolean;
  readonly isItem: boolean;
}

/** Paragraphs of text or of Markdown. */
function lineBlocks(source: string, isMarkdown: boolean): Block[] {
  const blocks: Block[] = [];
  let open: Line[] = [];
  const end = (): void => {
    const [first] = open;
    if (first) blocks.push({ ...first, text: open.map(({ text }) => text).join('\n') });
    open = [];
  };
  for (const line of linesIn(isMarkdown ? withoutMarkup(source) : source)) {
    const isBlank = plain(line.text) === '';
    if (isBlank || open[0]?.isQuote !== line.isQuote || (isMarkdown && line.isItem)) end();
    if (!isBlank) open.push(line);
  }
  end();
  return blocks;
}

function* linesIn(source: string): Generator<Line> {
  let [start, isInQuote, isNote] = [0, false, false];
  for (const line of source.split('\n')) {
    const [mark = ''] = quoteMarks.exec(line) ?? [];
    const text = NONE.repeat(mark.length) + line.slice(mark.length);
    // A callout of GitHub looks like a block quote.
    if (mark && !isInQuote) isNote = /^\W*\[!\w+\]/.test(plain(text));
    isInQuote = mark !== '';
    yield { start, text, isQuote: isInQuote && !isNote, isItem: listItem.test(line) };
    start += line.length + 1;
  }
}

/** Blanks out code, addresses and HTML of Markdown. */
function withoutMarkup(source: string): string {
  const front = /^---\r?\n[\s\S]{0,20000}?\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/.exec(source)?.[0] ?? '';
  const kept = withoutCodeBlocks((blank(front) + source.slice(front.length)).split('\n'));
  return withoutTags(withoutSpans(kept.join('\n')))
    .replace(/!\[[^\]\n]{0,1000}\]\([^()\n]{0,2000}\)/g, (all) => blank(all))
    .replace(/\]\([^()\n]{0,2000}\)|\]\[[^\]\n]{0,200}\]/g, (all) => blank(all))
    .replace(/\[(?![^\]\n]{0,80}\])/g, NONE)
    .replace(/https?:\/\/[^\s<>"“”«»]+/g, (all) => blank(all));
}

function withoutCodeBlocks(lines: readonly string[]): string[] {
  let [closing, isAfterBlank, isInCode, isInList] = ['', true, false, false];
  const isIndentedCode = (line: string): boolean => {
    const isBlank = line.trim() === '';
    if (!isBlank && !/^\s/.test(line)) isInList = listItem.test(line);
    isInCode = /^(?: {4}|\t)/.test(line) && (isAfterBlank || isInCode) && !isInList;
    isAfterBlank = isBlank;
    return isInCode;
  };
  return lines.map((line) => {
    const [, mark = ''] = fence.exec(line.replace(/^(?: {0,3}>)+ ?/, '')) ?? [];
    const isFenced = closing !== '' || mark !== '';
    if (!closing) closing = mark;
    else if (mark.startsWith(closing) && /^[\s>]*[`~]+\s*$/.test(line)) closing = '';
    const isDefinition = /^ {0,3}\[[^\]\n]+\]:\s*\S+/.test(line);
    return isFenced || isIndentedCode(line) || isDefinition ? blank(line) : line;
  });
}

/** Code between backticks, as many on each side. */
function withoutSpans(text: string): string {
  const parts: string[] = [];
  let [from, code] = [0, -1];
  const runs = [...text.matchAll(/`+/g)].map(({ 0: { length }, index }) => ({ length, index, next: -1 }));
  const next = new Map<number, number>();
  for (const [at, run] of [...runs.entries()].reverse()) {
    run.next = next.get(run.length) ?? -1;
    next.set(run.length, at);
  }
  for (const [at, run] of runs.entries()) {
    const end = runs[run.next];
    if (at <= code || !end) continue;
    const span = text.slice(run.index, end.index + end.length);
    // Not over the end of a paragraph.
    if (span.length > MAX_SPAN || /\n\s*\n/.test(span)) continue;
    parts.push(text.slice(from, run.index), blank(span));
    [from, code] = [end.index + end.length, run.next];
  }
  return parts.join('') + text.slice(from);
}

const MAX_SPAN = 10_000;

const tag = /<(?:!--[\s\S]*?(?:-->|$)|(\/?)([a-z][a-z0-9-]*)\b(?:[^<>"']|"[^"<>]*"|'[^'<>]*')*>)/gi;
const hidden = /<(script|style|template|title|code|pre|head|svg|kbd|samp)\b[^<>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi;
const inline =
  /^(?:a|abbr|b|bdi|bdo|big|cite|data|del|dfn|em|font|i|img|ins|label|mark|s|small|span|strike|strong|sub|sup|time|tt|u|var|wbr)$/i;

/** Tags and entities; `q` becomes quotation marks. The length stays. */
const withoutTags = (text: string): string =>
  text
    .replace(hidden, (all) => blank(all))
    .replace(tag, (all, slash: string | undefined, name = '!--') => {
      if (name.toLowerCase() === 'q') return (slash ? '”' : '“') + blank(all.slice(1));
      return name === '!--' || inline.test(name) ? blank(all) : breaking(all);
    })
    .replace(/&(?:#\d{1,7}|#x[\da-f]{1,6}|\w{2,8});/gi, (all) => {
      const decoded = decodeEntities(all);
      return decoded === all ? all : decoded + NONE.repeat(all.length - decoded.length);
    });

/** Block quotes of HTML, and the paragraphs outside of them. */
function htmlBlocks(source: string): Block[] {
  const blocks: Block[] = [];
  const edges = [...source.replace(hidden, (all) => blank(all)).matchAll(/<(\/?)blockquote\b[^<>]*>/gi)];
  let [from, depth] = [0, 0];
  const text = withoutTags(source);
  const addTo = (to: number): void => {
    for (const { 0: paragraph, index } of text.slice(from, to).matchAll(/(?:[^\n]|\n(?!\s*\n))+/g))
      if (plain(paragraph)) blocks.push({ start: from + index, text: paragraph, isQuote: depth > 0 });
    from = to;
  };
  for (const { 1: slash, index } of edges) {
    addTo(index);
    depth = slash ? Math.max(0, depth - 1) : depth + 1;
  }
  addTo(source.length);
  return blocks;
}
