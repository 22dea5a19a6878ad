import type { Env } from './env.ts';

interface ColourOptions {
  readonly noColor: boolean;
  readonly env: Env;
  /** It is stdout. */
  readonly isData: boolean;
}

/** FORCE_COLOR colours terminals and stderr, but never a stdout that is not a terminal: that is data. */
export function usesColour(
  stream: Pick<NodeJS.WriteStream, 'isTTY'>,
  { noColor, env, isData }: ColourOptions,
): boolean {
  if (noColor || env.NO_COLOR) return false;
  const forced = env.FORCE_COLOR;
  const isTerminal = stream.isTTY === true;
  if (forced === '0' || forced === 'false') return false;
  if (forced !== undefined) return !isData || isTerminal;
  return isTerminal && env.TERM !== 'dumb';
}
