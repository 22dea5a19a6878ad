import { setTimeout as sleep } from 'node:timers/promises';

/** Long, because every process is slow on a loaded machine; a test that passes never waits for it. */
const LIMIT_MS = 20_000;

/**
 * Asks again and again until the answer is something other than undefined or false, and gives it.
 * `what` says what did not happen; a function, where that can only be told at the end.
 */
export async function until<Result>(
  ask: () => Result | undefined | false | Promise<Result | undefined | false>,
  what: string | (() => string),
  limitMs = LIMIT_MS,
): Promise<Result> {
  for (const end = Date.now() + limitMs; ; await sleep(10)) {
    const found = await ask();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > end) throw new Error(`did not happen: ${typeof what === 'string' ? what : what()}`);
  }
}
