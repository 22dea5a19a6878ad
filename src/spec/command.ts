/**
 * How a command is described: what it takes, what running it may do, what it prints, and the work itself. The program,
 * its help, the completions, the README and `steno commands` are all made from these descriptions.
 */
import type { Meaning, Values } from '../completion/model.ts';
import type { Effect } from '../lib/effects.ts';
import type { Kind } from '../lib/errors.ts';
import type { CommandOutput } from '../views/record.ts';
import type { Context } from './context.ts';
import type { Options, OptionValues } from './options.ts';

export interface Argument {
  /** As help shows it: `<id>`, `[id]`, `<id…>`. */
  readonly name: string;
  readonly help: string;
  readonly values?: Values;
  readonly meaning?: Meaning;
  /** Values that fit after one of its own. */
  readonly valuesAfter?: Readonly<Record<string, Values>>;
}

/** A term and what it means. */
export type Item = readonly [term: string, what: string];

/** Paragraphs, lists of terms, and texts of several lines that stay as they are. */
export type Details = ReadonlyArray<string | readonly Item[]>;

/** What stood on the command line. */
export interface Input<O extends Options = Options> {
  readonly args: readonly string[];
  readonly options: OptionValues<O>;
  /** All words as they were given, to say how to go on. */
  readonly line: readonly string[];
}

/** Exit codes that a command may give beside those of every command, by what it does. */
export const CALL_EXITS: readonly Kind[] = ['auth', 'missing', 'timeout', 'network'];
export const MONEY_EXITS: readonly Kind[] = [...CALL_EXITS, 'uncertain'];
export const SEVERAL_EXITS: readonly Kind[] = [...CALL_EXITS, 'partial'];
/** Where a shared ledger may be out of reach. */
export const LEDGER_EXITS: readonly Kind[] = ['network'];

export interface Command<O extends Options = Options> {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** What it does, in two to four lines, for the top of its help page. */
  readonly about?: string;
  /** All that there is to know besides, for the end of its help page. */
  readonly details?: Details;
  readonly args?: readonly Argument[];
  /** An argument may begin with a dash: `-word`. */
  readonly dashWords?: true;
  readonly options?: O;
  /** Command lines that work when pasted, each with what it does. */
  readonly examples: ReadonlyArray<readonly [command: string, what: string]>;
  readonly children?: readonly Command[];
  /** Pairs of flags, one of them global, that can't be used together here. */
  readonly conflicts?: ReadonlyArray<readonly [string, string]>;
  /** Global flags that would be ignored here, each with why. */
  readonly refuses?: Readonly<Record<string, string>>;
  /** It makes no file: a sandbox that has none yet runs in memory. */
  readonly makesNoFile?: true;
  /** What running it may do, for a program that decides what to run; a flag may add to it. */
  readonly effect?: Effect;
  /** What this line does, where that depends on its arguments. */
  effectsOf?(input: Input<O>): readonly Effect[];
  /** Running it twice does harm that running it once does not; so with all that costs money. */
  readonly once?: true;
  /** Beside 0 and those of every command. */
  readonly exits?: readonly Kind[];
  /** What --json and --csv print; absent where it prints neither. */
  readonly output?: () => CommandOutput;
  /** The same with --dry-run, where that is something else. */
  readonly dryRunOutput?: () => CommandOutput;
  /** Absent where only its children run. `loadGroups` is for those that tell of all commands. */
  run?(context: Context, input: Input<O>, loadGroups: () => Promise<readonly Group[]>): Promise<void>;
}

/** A command that can be run. Its work is given the values of its own options. */
export function command<const O extends Options>(
  spec: Command<O> & Required<Pick<Command<O>, 'effect' | 'exits' | 'run'>>,
): Command {
  return spec as unknown as Command;
}

/** A name for several commands, which does nothing by itself. */
export const family = (spec: Omit<Command, 'run'> & Required<Pick<Command, 'children'>>): Command => spec;

/** Commands as help shows them together. */
export interface Group {
  readonly title: string;
  readonly commands: readonly Command[];
}
