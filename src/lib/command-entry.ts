/** A command as programs are told of it. */
import { usage } from './errors.ts';
import { didYouMean } from './text.ts';

/**
 * What running a command may do: `read` asks the service and updates the ledger's copy of what it says; `local` changes
 * files, settings or the ledger.
 */
export const effects = ['read', 'local', 'exec', 'account', 'money'] as const;

export type Effect = (typeof effects)[number];

export const effectMeanings: Readonly<Record<Effect, string>> = {
  read: 'reads',
  local: 'changes files, settings or the ledger',
  exec: 'runs a command',
  account: "changes the account's webhook or sends events",
  money: 'may cost or return money',
};

/** What a program is told of an option. */
export interface OptionEntry {
  readonly flags: readonly string[];
  readonly help: string;
  /** Empty where it takes no value. */
  readonly value: string;
  readonly values: readonly string[];
  readonly default: string;
  readonly repeatable: boolean;
  readonly env: string;
  readonly effect: Effect | '';
}

/** What a program is told of a command that can be run. */
export interface CommandEntry {
  readonly command: string;
  readonly alias: string;
  readonly group: string;
  readonly summary: string;
  readonly about: string;
  readonly effect: Effect;
  readonly safeToRepeat: boolean;
  readonly args: ReadonlyArray<{
    readonly name: string;
    readonly help: string;
    readonly required: boolean;
    readonly repeatable: boolean;
    readonly values: readonly string[];
  }>;
  readonly options: readonly OptionEntry[];
  readonly exits: ReadonlyArray<{ readonly code: number; readonly name: string }>;
  readonly examples: ReadonlyArray<readonly [command: string, what: string]>;
}

/** Effects, separated by commas or blanks. One that is unknown would allow less, or more, than was meant. */
export function parseEffects(text: string, name: string): ReadonlySet<Effect> {
  const words = text.split(/[\s,]+/).filter(Boolean);
  const list = `choose from: ${effects.join(', ')}`;
  if (words.length === 0) throw usage(`${name} names no effect`, list);
  for (const word of words)
    if (!effects.some((effect) => effect === word))
      throw usage(`${name}: '${word}' is not an effect`, didYouMean(word, effects, list));
  return new Set(words as Effect[]);
}
