/**
 * How a command says what it takes. The program, its help, the completions and the README are all made
 * from these descriptions.
 */

import type { Values } from '../completion/model.ts';
import type { Context } from './context.ts';
import type { Options, OptionValues } from './options.ts';

export interface Argument {
  /** As help shows it: `<id>`, `[id]`, `<id…>`. */
  readonly name: string;
  readonly help: string;
  readonly values?: Values;
}

export interface Input<O> {
  readonly args: readonly string[];
  readonly options: OptionValues<O>;
}

export interface Command<O extends Options = Options> {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  /** More than the summary, for the command's own help page. */
  readonly about?: string;
  readonly args?: readonly Argument[];
  readonly options?: O;
  /** Command lines that work when pasted, each with what it does. */
  readonly examples: ReadonlyArray<readonly [command: string, what: string]>;
  readonly children?: readonly Command[];
  readonly run?: (context: Context, input: Input<O>) => Promise<void>;
}

/** Ties a command's options to what its `run` is given. */
export function command<const O extends Options>(spec: Command<O>): Command {
  return spec as unknown as Command;
}
