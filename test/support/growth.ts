/** Tells whether work takes time in proportion to its input: it is done for an input and for one four times as long. */
import { processorTimeOf } from './processor-time.ts';

/** Enough to be measured. */
const MEASURABLE_MS = 1;
const FIRST_LENGTH = 2_048;
const LAST_LENGTH = 131_072;
const TIMES = 4;
/** Four times the input takes four times the time, and sixteen times where the work is quadratic. */
const MAX_GROWTH = 8;
const MAX_RUNS = 12;

/** How often longer it takes for four times the input; undefined where that is in proportion, or takes no time. */
export function excessGrowth(
  read: (text: string) => unknown,
  make: (length: number) => string,
): number | undefined {
  const timeOf = (text: string): number => processorTimeOf(() => void read(text));
  // The first run also compiles the code.
  const isMeasurable = (text: string): boolean => Math.min(timeOf(text), timeOf(text)) >= MEASURABLE_MS;
  let length = FIRST_LENGTH;
  while (length < LAST_LENGTH && !isMeasurable(make(length))) length *= 2;
  const texts = [make(length), make(TIMES * length)] as const;
  // The least of several runs: what else the machine does only adds to it.
  let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let run = 0; run < MAX_RUNS; run += 1) {
    short = Math.min(short, timeOf(texts[0]));
    long = Math.min(long, timeOf(texts[1]));
    if (run > 0 && (long < MEASURABLE_MS || long < MAX_GROWTH * short)) return undefined;
  }
  return long / short;
}
