/** Web pages: telling one from a transcript, and reading the text of one. */

/** Elements that stand at the top of a page and in no transcript. */
const topElements = /^<(html|head|body|title|meta|link|base|script|style|frameset|noscript)(\s[^<]*|\/)?>/i;
/** Elements that a page without a top begins with: they count if they are closed too. */
const blockElements =
  /^<(h[1-6]|p|div|center|table|pre|main|section|article|header|ul|ol|form|a|b|strong|error|errors|errorresponse|response|fault)(\s[^<]*)?>/i;

export function isPage(text: string): boolean {
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

/** Those of Latin-1, from U+00A0 on. */
const latinNames =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml';

const entities = new Map([
  ...latinNames.split(' ').map((name, at) => [name, String.fromCharCode(0xa0 + at)] as const),
  ...Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", lrm: '\u200e', rlm: '\u200f' }),
  ...Object.entries({ ndash: '–', mdash: '—', lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”' }),
  ...Object.entries({ bdquo: '„', bull: '•', hellip: '…', trade: '™', euro: '€', lsaquo: '‹', rsaquo: '›' }),
]);

/** An entity that is not known stays as it is. */
export const decodeEntities = (text: string): string =>
  text.includes('&')
    ? text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,8}));/gi, (all, decimal, hex, name) => {
        if (name !== undefined) return entities.get(name) ?? all;
        const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
        return code > 0 && code <= 0x10ffff && (code & 0x1ff800) !== 0xd800
          ? String.fromCodePoint(code)
          : all;
      })
    : text;

/** A line of a text. One without text ends a paragraph. */
export interface TextLine {
  readonly line: number;
  readonly text: string;
  readonly isHeading?: boolean;
}

interface Token {
  readonly line: number;
  /** Of an element; undefined for a text. */
  readonly name?: string;
  readonly isOpen?: boolean;
  readonly text: string;
}

const withoutText = new Set(['script', 'style', 'template', 'title']);

const tagStart = /<(\/?)([a-z][a-z0-9]{0,18}|!--|!|\?)/iy;

/** Its texts and elements. Comments and the like are left out; what is no markup after all is text. */
function* tokensOf(html: string): Generator<Token> {
  const lastEnd = html.lastIndexOf('>');
  const lastComment = html.lastIndexOf('-->');
  const ends = new TagEnds(html);
  const breakFrom = (place: number): number => (html.indexOf('\n', place) + 1 || html.length + 1) - 1;
  let [from, line, next] = [0, 1, breakFrom(0)];
  const lineAt = (place: number): number => {
    for (; next < place; next = breakFrom(next + 1)) line += 1;
    return line;
  };
  const textTo = (to: number): Token => {
    const text = html.slice(from, to);
    return { line: lineAt(from + Math.max(text.search(/\S/), 0)), text };
  };
  for (let at = html.indexOf('<'); at >= 0 && at < lastEnd; at = html.indexOf('<', at)) {
    tagStart.lastIndex = at;
    const [tag, slash, word = ''] = tagStart.exec(html) ?? [];
    const isComment = word === '!--' && at < lastComment;
    const end = isComment ? html.indexOf('-->', at) + 3 : ends.after(at);
    if (tag === undefined || end <= 0) {
      at += 1;
      continue;
    }
    if (at > from) yield textTo(at);
    const name = word.toLowerCase();
    const isOpen = slash === '';
    yield { line: lineAt(at), name, isOpen, text: '' };
    from = isOpen && withoutText.has(name) ? closingTag(html, name, end) : end;
    at = from;
  }
  yield textTo(html.length);
}

/** Where tags end. */
class TagEnds {
  readonly #html: string;
  /** In vain: so that many unclosed quotes take no time by the square of their number. */
  #left: number;

  constructor(html: string) {
    this.#html = html;
    this.#left = 4 * html.length;
  }

  /** 0 if another tag begins in it. A `>` in quotes does not end it. */
  after(from: number): number {
    let quote = '';
    let at = from + 1;
    for (; at < this.#html.length && this.#left > 0; at += 1) {
      const character = this.#html[at] as string;
      if (quote) quote = character === quote ? '' : quote;
      else if (character === '"' || character === "'") quote = character;
      else if (character === '>') return at + 1;
      else if (character === '<') break;
    }
    this.#left -= at - from;
    return 0;
  }
}

function closingTag(html: string, name: string, from: number): number {
  const closing = new RegExp(`</${name}`, 'gi');
  closing.lastIndex = from;
  return closing.exec(html)?.index ?? html.length;
}

const inlines = new Set(
  `!-- ! ? a abbr b bdi bdo big cite code data del dfn em font i img ins kbd label mark q s samp small span strike strong
  sub sup td th time tt u var wbr`.split(/\s+/),
);

/** The lines of a page as a browser shows them. */
export function pageLines(html: string): TextLine[] {
  const page = new PageReader();
  for (const { line, name, isOpen = false, text } of tokensOf(html)) {
    if (name === undefined) page.addText(text, line);
    else page.addTag(name, isOpen);
  }
  page.endLine();
  return page.lines;
}

class PageReader {
  readonly lines: TextLine[] = [];
  #text = '';
  #isBlank = true;
  #begin = 1;
  #isHeading = false;
  #isPreformatted = false;

  addText(text: string, line: number): void {
    const parts = this.#isPreformatted ? text.trimStart().split('\n') : [text.replace(/[ \t\n\f]+/g, ' ')];
    for (const [at, each] of parts.entries()) {
      if (at > 0) this.endLine();
      const said = decodeEntities(each);
      if (this.#isBlank) this.#begin = line + at;
      this.#isBlank &&= said.trim() === '';
      this.#text += said;
    }
  }

  addTag(name: string, isOpen: boolean): void {
    if (name === 'td' || name === 'th') this.#text += ' ';
    if (inlines.has(name)) return;
    this.endLine();
    this.#isHeading = isOpen && /^h[1-6]$/.test(name);
    if (name === 'pre') this.#isPreformatted = isOpen;
    if (name !== 'br' && this.lines.at(-1)?.text) this.lines.push({ line: this.#begin, text: '' });
  }

  endLine(): void {
    const text = this.#text.trim();
    if (text) this.lines.push({ line: this.#begin, text, isHeading: this.#isHeading });
    this.#text = '';
    this.#isBlank = true;
  }
}
