/** `--match`: which titles hold a text, or fit a regular expression between slashes. */
import { runInNewContext } from 'node:vm';
import { errorMessage, usage } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';

/** Says of each title whether it is meant. */
export type TitleMatch = (titles: readonly string[]) => boolean[];

const MAX_PATTERN_LENGTH = 1_000;
/** For all titles together. 10,000 of them take some milliseconds, but `(a+)+$` may take longer than we live. */
const MAX_MILLISECONDS = 2_000;

/** A text is found anywhere in a title, in capitals or not; `/^news \d+/i` is a regular expression. */
export function parseMatch(text: string): TitleMatch {
  if (text.trim() === '') throw usage('--match requires a text or a /regular expression/');
  if (text.length > MAX_PATTERN_LENGTH) throw usage(`--match takes at most ${MAX_PATTERN_LENGTH} characters`);
  const [, source, flags = ''] = /^\/(.+)\/([a-z]*)$/is.exec(text) ?? [];
  if (source === undefined) return (titles) => titles.map((title) => folded(title).includes(folded(text)));
  return (titles) => testAll(toRegExp(source, flags), titles, text);
}

const folded = (text: string): string => text.normalize('NFC').toLowerCase();

function toRegExp(source: string, flags: string): RegExp {
  // Others change where a search begins, not what fits.
  if (!/^[imsuv]*$/.test(flags))
    throw usage(`--match: '${flags}' are not flags of a regular expression`, 'these are: i, m, s, u, v');
  try {
    return new RegExp(source, flags);
  } catch (error) {
    throw usage(`--match: ${oneLine(errorMessage(error), 200)}`);
  }
}

/** In a context of its own, because only that can be stopped while an expression runs. */
function testAll(pattern: RegExp, titles: readonly string[], text: string): boolean[] {
  try {
    const context = { pattern, titles };
    const tests = 'titles.map((title) => pattern.test(title))';
    return [...(runInNewContext(tests, context, { timeout: MAX_MILLISECONDS }) as boolean[])];
  } catch (error) {
    if (!isTimeout(error)) throw error;
    throw usage(
      `--match: ${oneLine(text, 80)} takes more than ${MAX_MILLISECONDS / 1_000} s`,
      'write it without a repeat within a repeat, such as (a+)+',
    );
  }
}

/** The error is of the other context, so it is no Error of ours. */
const isTimeout = (error: unknown): boolean =>
  (error as { code?: unknown } | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
