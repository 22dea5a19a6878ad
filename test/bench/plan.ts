/** What a run of the benchmark is to measure, from its command line. */
import { parseArgs } from 'node:util';

const usage =
  'npm run bench -- [--only <row,…>] [--keep] [--repeats <n>] [--quick], npm run bench:long -- [the same]';

export interface Plan {
  /** The rows that take minutes, in place of the others. */
  readonly long: boolean;
  readonly wanted: (key: string) => boolean;
  /** Names that were asked for, and that none of these rows has. */
  readonly unknown: (keys: readonly string[]) => string[];
  /** How often rows of a kind are repeated. */
  readonly repeats: (full: number, quick: number) => number;
  /** Smaller sizes and fewer repeats: to see that a row works, not what it comes to. */
  readonly quick: boolean;
  /** All rows, with all repeats. */
  readonly whole: boolean;
  /** Whether results.json and the page get the figures: those of a whole run, and of single rows with --keep. */
  readonly keeps: boolean;
}

export function readPlan(): Plan {
  const { values } = parseArgs({
    options: {
      long: { type: 'boolean', default: false },
      only: { type: 'string', multiple: true, default: [] },
      keep: { type: 'boolean', default: false },
      repeats: { type: 'string' },
      quick: { type: 'boolean', default: false },
    },
  });
  const only = values.only.flatMap((each) => each.split(','));
  const fixed = values.repeats === undefined ? undefined : Number(values.repeats);
  if (fixed !== undefined && !(Number.isInteger(fixed) && fixed > 0)) throw new Error(usage);
  const names = (each: string, key: string): boolean => key === each || key.startsWith(`${each}-`);
  const inFull = fixed === undefined && !values.quick;
  return {
    long: values.long,
    wanted: (key) => only.length === 0 || only.some((each) => names(each, key)),
    unknown: (keys) => only.filter((each) => !keys.some((key) => names(each, key))),
    repeats: (full, quick) => fixed ?? (values.quick ? quick : full),
    quick: values.quick,
    whole: only.length === 0 && inFull,
    keeps: inFull && (only.length === 0 || values.keep),
  };
}
