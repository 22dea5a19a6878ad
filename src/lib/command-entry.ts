/** A command as programs are told of it. */

/** What running a command may do beside printing: at most one of these, the gravest. */
export const effects = ['none', 'local', 'account', 'money'] as const;

export type Effect = (typeof effects)[number];

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
