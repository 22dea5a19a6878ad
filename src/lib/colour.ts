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

/** Terminals that show links (OSC 8), by the variable that tells each and what it must be. */
const linkingTerminals: ReadonlyArray<readonly [variable: string, value: RegExp]> = [
  ['TERM_PROGRAM', /^(iTerm\.app|WezTerm|vscode|ghostty|Hyper|rio|Tabby)$/],
  ['TERM', /^(xterm-kitty|xterm-ghostty|alacritty|foot)/],
  ['VTE_VERSION', /^([5-9]\d{3}|\d{5,})$/],
  ['WT_SESSION', /./],
  ['KONSOLE_VERSION', /./],
];

/** Whether links are drawn as links. tmux and screen may swallow them. */
export const showsLinks = (env: Env): boolean =>
  !env.TMUX && !env.STY && linkingTerminals.some(([variable, value]) => value.test(env[variable] ?? ''));
