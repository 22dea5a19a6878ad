/** What a command may do, for programs and people that decide what runs. */
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
