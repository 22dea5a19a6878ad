/** Something in a transcript that a person must look at. */

const facts = ['gap', 'doubt', 'unnamed-speaker', 'broken-cue', 'time-order', 'outside-audio'] as const;
const factsOfCaptions = ['overlap', 'empty-cue'] as const;
const style = ['name-change', 'repeated-lines', 'reading-speed', 'line-length', 'line-count'] as const;
const styleOfTimes = ['too-short', 'too-long', 'cue-gap'] as const;

export type CheckRule = (typeof facts | typeof factsOfCaptions | typeof style | typeof styleOfTimes)[number];

export interface Finding {
  readonly rule: CheckRule;
  readonly line: number;
  /** In milliseconds. */
  readonly start?: number | undefined;
  readonly text: string;
  /** Where the mark begins in the text. */
  readonly markAt?: number;
  /** How many it stands for; one unless told. */
  readonly count?: number;
}

const warnings: ReadonlySet<CheckRule> = new Set([...style, ...styleOfTimes]);

export type Severity = 'error' | 'warning';

export interface Judged extends Finding {
  readonly severity: Severity;
}

export const judge = (finding: Finding): Judged => ({
  ...finding,
  severity: warnings.has(finding.rule) ? 'warning' : 'error',
});

const AROUND = 40;

/** A mark with some words before and after it, on one line. */
export function around(
  text: string,
  index: number,
  length: number,
  lead = '',
): Required<Pick<Finding, 'text' | 'markAt'>> {
  const [from, to] = [Math.max(0, index - AROUND), index + length + AROUND];
  const before = `${lead}${from > 0 ? '…' : ''}${onLine(text.slice(from, index)).trimStart()}`;
  const after = onLine(text.slice(index, to)).trimEnd();
  return { text: `${before}${after}${to < text.length ? '…' : ''}`, markAt: before.length };
}

/** Half a character of two units at its ends goes. */
const onLine = (text: string): string => text.replace(/\s+|^[\udc00-\udfff]|[\ud800-\udbff]$/g, ' ');

/** How a text begins. */
export const beginning = (text: string): string => around(text, 0, AROUND).text;
