/** Captions that roll, as those of YouTube: each shows the last lines once more, and new words after them. */
import type { Repeats } from './model.ts';

/** As it stands in the file. */
export interface Cue {
  /** Of its text. */
  readonly line: number;
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly lines: readonly string[];
}

/** More lines than these are on no screen. */
const MAX_LINES = 4;
/** In milliseconds. After a longer pause, the words are said once more. */
const MAX_PAUSE = 200;

/** Of each what is new in it, where at least half of them repeat lines. */
export function withoutRepeats(
  cues: readonly Cue[],
  textOf: (line: string) => string,
): { readonly cues: readonly Cue[]; readonly repeats?: Repeats } {
  const fresh: Cue[] = [];
  const rests: Array<Cue | undefined> = [];
  let [line, end] = [0, Number.NaN];
  let shown: readonly string[] = [];
  for (const cue of cues) {
    const lines = cue.lines.map((each) => textOf(each).trim());
    const pause = (cue.start ?? Number.NaN) - end;
    const known = Math.abs(pause) <= MAX_PAUSE ? wordsAgain(shown, lines) : 0;
    const rest = known ? restOf(cue, lines, known) : cue;
    if (rest) fresh.push(rest);
    if (known && rests.push(rest) === 1) line = cue.line;
    [shown, end] = [lines.filter(Boolean), cue.end ?? Number.NaN];
  }
  // What is said again and again has nothing new in it.
  const [count, grown] = [rests.length, rests.filter(Boolean).length];
  const isRolling = count > 1 && 2 * count >= cues.length - 1 && 3 * grown >= count;
  return isRolling ? { cues: fresh, repeats: { line, count } } : { cues };
}

const wordsIn = (text: string): string[] => text.split(/\s+/).filter(Boolean);

/** How many of the first words are those of the last lines before. */
function wordsAgain(shown: readonly string[], lines: readonly string[]): number {
  const words = wordsIn(lines.join(' '));
  const last = shown.slice(-MAX_LINES);
  for (const from of last.keys()) {
    const again = wordsIn(last.slice(from).join(' '));
    if (again.every((word, at) => word === words[at])) return again.length;
  }
  return 0;
}

/** Without so many words; undefined where nothing is left. */
function restOf(cue: Cue, lines: readonly string[], words: number): Cue | undefined {
  let [at, left] = [0, words];
  for (; at < lines.length; at += 1) {
    const count = wordsIn(lines[at] ?? '').length;
    if (count > left) break;
    left -= count;
  }
  if (at === lines.length) return undefined;
  const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  const first = left
    ? escaped(
        wordsIn(lines[at] ?? '')
          .slice(left)
          .join(' '),
      )
    : (cue.lines[at] ?? '');
  return { ...cue, line: cue.line + at, lines: [first, ...cue.lines.slice(at + 1)] };
}
