/** What `check` looks for. */

export const checkRules = [
  ...(['gap', 'doubt', 'unnamed-speaker', 'broken-cue', 'time-order', 'outside-audio'] as const),
  ...(['overlap', 'empty-cue'] as const),
  ...([
    'name-change',
    'reading-speed',
    'line-length',
    'line-count',
    'too-short',
    'too-long',
    'cue-gap',
  ] as const),
];

export type CheckRule = (typeof checkRules)[number];

/** A matter of style: all else is a fact. */
const style: ReadonlySet<CheckRule> = new Set(checkRules.slice(checkRules.indexOf('name-change')));

export type Severity = 'error' | 'warning';

export const severityOf = (rule: CheckRule): Severity => (style.has(rule) ? 'warning' : 'error');
