/**
 * How a command says what it takes. The program, its help, the completions and the README are all made
 * from these descriptions.
 */
import type { Meaning, Values } from '../completion/model.ts';
import type { Context } from './context.ts';
import type { Options, OptionValues } from './options.ts';

export interface Argument {
  /** As help shows it: `<id>`, `[id]`, `<id…>`. */
  readonly name: string;
  readonly help: string;
  readonly values?: Values;
  readonly meaning?: Meaning;
  /** Values that follow from the argument before it. */
  readonly valuesAfter?: Readonly<Record<string, Values>>;
}

/** A term and what it means. */
export type Item = readonly [term: string, what: string];

/** Paragraphs, lists of terms, and texts of several lines that stay as they are. */
export type Details = ReadonlyArray<string | readonly Item[]>;

/** What stood on the command line, for the work of a command. */
export interface Input<Values = unknown> {
  readonly args: readonly string[];
  readonly options: Values;
  /** All words as they were given, to say how to go on. */
  readonly line: readonly string[];
}

export type Run<Values = unknown> = (context: Context, input: Input<Values>) => Promise<void>;

export interface Command<O extends Options = Options> {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** What it does, in two to four lines, for the top of its help page. */
  readonly about?: string;
  /** All that there is to know besides, for the end of its help page. */
  readonly details?: Details;
  readonly args?: readonly Argument[];
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
  /** Loads the work, from NAME.run.ts: the spec itself stays cheap to load. Absent where only its children run. */
  readonly load?: () => Promise<Run<OptionValues<O>>>;
}

/** Checks that the work takes what the options give. */
export function command<const O extends Options>(spec: Command<O>): Command {
  return spec as unknown as Command;
}
