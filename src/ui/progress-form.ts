import type { Env } from '../lib/env.ts';

/** A line that is written over, plain lines every ten seconds, or nothing. */
export type ProgressForm = 'line' | 'plain' | 'none';

/** The flags that count. */
interface Flags {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly debug: boolean;
  readonly progress: boolean;
}

/**
 * A terminal has a line that moves; plain lines where it can't move one, in CI, or with --no-progress, which a screen
 * reader needs. A pipe stays quiet, but for the log of a CI job, where only people read stderr unless --json is given.
 */
export function progressForm(
  { json, quiet, debug, progress }: Flags,
  { isTTY, columns }: Pick<NodeJS.WriteStream, 'isTTY' | 'columns'>,
  { CI, TERM }: Env,
): ProgressForm {
  const inCi = CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0';
  // Lines of --debug say more.
  if (debug) return 'none';
  if (!isTTY) return inCi && !json && !quiet ? 'plain' : 'none';
  if (!progress) return quiet ? 'none' : 'plain';
  // Some terminals report zero columns: there ora would never stop clearing its line.
  return inCi || TERM === 'dumb' || !(columns > 0) ? 'plain' : 'line';
}
