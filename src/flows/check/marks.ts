/** The marks of transcribers: for words that they could not hear, and for words that they are not sure of. */
import { CLOCK, clockMs } from '../../transcripts/cues.ts';
import type { Segment } from '../../transcripts/model.ts';
import { around, type Finding } from './finding.ts';

/** Brackets of any kind, perhaps over two lines, or a row of underscores. No mark is longer. */
const marks = /([[({<［（【])([^[\](){}<>［］（）【】]{1,80})[\])}>］）】]|_{3,}/g;
const clocks = new RegExp(CLOCK, 'g');

/** More in one paragraph are counted, not listed. */
const MAX_MARKS = 1000;

/** `last`: where the audio ends, in milliseconds, if it is known. */
export function marksIn({ line, start, text }: Segment, last: number | undefined): Finding[] {
  const found: Finding[] = [];
  let [row, counted, left] = [line, 0, 0];
  for (const { 0: mark, 1: bracket, 2: content = '', index } of text.matchAll(marks)) {
    const isMark = bracket !== undefined || isBlank(text, index, mark.length);
    const rule = isMark ? ruleOf(content, bracket) : undefined;
    if (!rule) continue;
    if (found.length >= MAX_MARKS) {
      left += 1;
      continue;
    }
    row += text.slice(counted, index).split('\n').length - 1;
    counted = index;
    // A mark may have a time of its own, which is more precise.
    const own = clockMs(content.match(clocks)?.[0] ?? '');
    const at = { line: row, start: own ?? start, ...around(text, index, mark.length) };
    found.push({ rule, ...at });
    if (last && own !== undefined && own > last)
      found.push({ rule: 'outside-audio', ...at, ...around(text, index, mark.length, `${PAST_END}: `) });
  }
  if (left)
    found.push({ rule: 'gap', line: row, start, text: `${left} more marks in this line`, count: left });
  return found;
}

export const PAST_END = 'after the end of the audio';

/** Not a part of a link or of a name, and no line drawn across the page. */
function isBlank(text: string, index: number, length: number): boolean {
  const left = text.slice(Math.max(0, index - 80), index);
  const right = text.slice(index + length, index + length + 80);
  const [before, after] = [/\S*$/.exec(left)?.[0] ?? '', /^\S*/.exec(right)?.[0] ?? ''];
  const isInName = /[\p{L}\p{N}]$/u.test(before) && /^[\p{L}\p{N}]/u.test(after);
  const isAlone = /(?:^|\n)[^\S\n]*$/.test(left) && /^[^\S\n]*(?:\n|$)/.test(right);
  return !isInName && !/[/\\@=]/.test(before + after) && !(isAlone && length > MAX_BLANK);
}

const MAX_BLANK = 10;

/** Without brackets, it is a row of underscores. */
function ruleOf(content: string, bracket: string | undefined): 'gap' | 'doubt' | undefined {
  if (bracket === undefined) return 'gap';
  const isRound = bracket === '(' || bracket === '（';
  const said = content.normalize('NFKC').replace(clocks, ' ').replace(/\s+/g, ' ').trim();
  if (isGap(said, isRound)) return 'gap';
  return isDoubt(said, isRound) ? 'doubt' : undefined;
}

const either = (...patterns: readonly string[]): RegExp => new RegExp(`\\b(?:${patterns.join('|')})\\b`, 'g');

/** These say it whatever stands with them, except in parentheses, where people put remarks. */
const sure = either(
  'inaud(?:[ia]bl[ey])?|unintel(?:l(?:ig[ia]bl[ey])?)?|indiscern[ia]bl[ey]|incomprehensibl[ey]',
  '(?:in|un)decipherable|cross ?talk(?:ing)?|over ?talk(?:ing)?',
);

const medium = '(?:audio|sound|recording|tape|signal|connection|transmission)';
const lost =
  '(?:no|poor|bad|lost|loss|break(?:s|ing)?|broken?|cut(?:s|ting)?|drop(?:s|ped|ping|outs?)?|skip(?:s|ped|ping)?|gaps?|missing|interrupt(?:s|ed|ion)|distort(?:ed|ion)|glitch(?:es)?)';

/** These say it with words such as "two words" or "partially", but not in "blank stare". */
const likely = either(
  'unclear|indistinct|blank|gaps?|garbled|muffled|distorted|missing|untranscribable|overlap(?:s|ped|ping)?',
  'simultaneous(?:ly)?|foreign|non english',
  '(?:talk|speak)(?:s|ing)? (?:over (?:each other|one another)|over$|at once|at the same time|together)',
  '(?:speak|talk)(?:s|ing)(?: in)? (?:spanish|french|german|italian|portuguese|russian|chinese|japanese|korean|arabic|hindi)',
  `${lost}(?: (?:out|off|up|of|in|the))* ${medium}|${medium}(?: (?:is|was))? ${lost}`,
);

const withMarks = new Set(
  [
    'word words phrase phrases sentence sentences name names speech speaker speakers voice voices talk talking talks',
    'speaking speaks spoken dialogue dialog conversation conversations discussion passage section portion part text',
    'response answer question comment comments remark remarks language languages audio sound recording tape signal',
    'a an the one two three four five six seven eight nine ten few several some many multiple couple more both all',
    'everyone everybody people partially partly mostly completely very too nearly almost possibly or and of in on at to',
    'from for is are was by here due out off up approximately approx about around second seconds sec secs minute',
    'minutes min mins background noise best not sure check correct',
  ].flatMap((line) => line.split(' ')),
);

/** Whether it has such a word, and else none that a mark has not. */
function isOnly(words: string, key: RegExp): boolean {
  const others = words.replace(key, ' ');
  return others !== words && others.split(' ').every((word) => /^\d*$/.test(word) || withMarks.has(word));
}

const wordsOf = (said: string): string =>
  said
    .toLowerCase()
    .split(/[^\p{L}\p{N}']+/u)
    .filter(Boolean)
    .join(' ');

function isGap(said: string, isRound: boolean): boolean {
  const signs = said.replace(/^[-–—:,]\s|\s[-–—:,]$/, '');
  if (/^(?:\.{3,}|-{2,}|[–—]+|_{2,}|\*{2,})$/.test(signs)) return true;
  // In parentheses, XX may be a number.
  if ((isRound ? /^x{2,}\??$/ : /^x{2,}\??$/i).test(signs)) return true;
  const words = wordsOf(said);
  if (!isRound && words.replace(sure, '') !== words) return true;
  return isOnly(words, sure) || isOnly(words, likely);
}

const unsure = either(
  'phon(?:etic(?:s|ally)?)?|spell(?:ing|ed)|guess(?:ed)?|uncertain|unsure|not sure|unverified',
);
/** `[s/l Colman]`, `[ph: Colman]`, `[Colman ph]`. In capitals it is another word. */
const withGuess = /^(?:[Ss]ounds like|s\/l|ph|sp|[Pp]honetic:)[\s:]|[\s,](?:ph|sp|phonetic)\.?$/;
const question =
  /^(?:what|who|whom|whose|which|when|where|why|how)\b|^(?:am|is|are|was|were|do|does|did|can|could|would|shall|should|might|must|have|has|had)(?:n't)? /i;
/** Not a name, as in `[Will Smith?]`. */
const otherQuestion = /^(?:[Ww]ill|[Mm]ay) \p{Ll}/u;
const MAX_GUESSED_WORDS = 4;

function isDoubt(said: string, isRound: boolean): boolean {
  if (/^[?\s]+$/.test(said) && said !== '') return true;
  // Not pH.
  if (/^(?:ph|sp)\.?$|^(?:[Pp]h|PH|[Ss]p|SP)\.?\s?\?+$/.test(said) || isOnly(wordsOf(said), unsure))
    return true;
  if (isRound) return false;
  if (said.startsWith('?') || withGuess.test(said)) return true;
  const isQuestion = question.test(said) || otherQuestion.test(said);
  return said.endsWith('?') && !isQuestion && said.split(' ').length <= MAX_GUESSED_WORDS;
}
