/**
 * How a command says what it takes. The program, its help, the completions and the README are all made
 * from these descriptions.
 */
import type { Context } from './context.ts';
import { parseDuration } from '../lib/duration.ts';
import { usage } from '../lib/errors.ts';

/** What a shell may offer as a value: words, or things of a kind. */
export type Values = readonly string[] | 'file' | 'folder' | 'audiofile' | 'order' | 'invoice';

export interface Option<T = unknown> {
  readonly flags: string;
  readonly help: string;
  readonly values?: Values | undefined;
  /** The default, as help shows it; `initial` is what the command is given. */
  readonly shownDefault?: string | undefined;
  readonly env?: string | undefined;
  readonly initial: T;
  /** A method, so that an option of any type fits where any option does. */
  read(text: string, previous: T): T;
  readonly takesValue: boolean;
}

interface More {
  readonly values?: Values;
  readonly default?: string;
  readonly env?: string;
}

function option<T>(flags: string, help: string, more: More, initial: T, read: Option<T>['read']): Option<T> {
  const { values, env } = more;
  return { flags, help, values, env, shownDefault: more.default, initial, read, takesValue: true };
}

export function flag(flags: string, help: string, more: More = {}): Option<boolean> {
  const initial = flags.startsWith('--no-');
  return { ...option(flags, help, more, initial, () => !initial), takesValue: false };
}

export function text(flags: string, help: string, more: More = {}): Option<string | undefined> {
  return option<string | undefined>(flags, help, more, more.default, (given) => given);
}

/** Several values, with commas or by repeating the flag. */
export function list(flags: string, help: string, more: More = {}): Option<readonly string[]> {
  return option<readonly string[]>(flags, help, more, [], (given, previous) => {
    const values = given.split(',').map((each) => each.trim());
    if (values.includes('')) throw usage(`'${given}' for ${flags.split(' ')[0]} has an empty value`);
    return [...previous, ...values];
  });
}

/** Several values by repeating the flag; a comma is part of the value. */
export function repeated(flags: string, help: string, more: More = {}): Option<readonly string[]> {
  return option<readonly string[]>(flags, help, more, [], (given, previous) => [...previous, given]);
}

export function duration(flags: string, help: string, more: More = {}): Option<number | undefined> {
  const initial = more.default === undefined ? undefined : parseDuration(more.default);
  return option<number | undefined>(flags, help, more, initial, (given) => {
    const milliseconds = parseDuration(given);
    if (milliseconds === 0) throw usage(`${flags.split(' ')[0]} must be longer than zero`);
    return milliseconds;
  });
}

export function count(
  flags: string,
  help: string,
  more: More & { max?: number } = {},
): Option<number | undefined> {
  const initial = more.default === undefined ? undefined : Number(more.default);
  const max = more.max ?? Number.MAX_SAFE_INTEGER;
  return option<number | undefined>(flags, help, more, initial, (given) => {
    const number = /^\d+$/.test(given) ? Number(given) : 0;
    if (number < 1 || number > max) {
      const range = more.max ? `from 1 to ${more.max}` : 'of 1 or more';
      throw usage(`'${given}' for ${flags.split(' ')[0]} is not a whole number ${range}`);
    }
    return number;
  });
}

export type Options = Readonly<Record<string, Option>>;

export type OptionValues<O> = { readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never };

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

export const globalOptions = {
  profile: text('--profile <name>', 'use the settings of this profile', { env: 'STENO_PROFILE' }),
  baseUrl: text('--base-url <url>', 'address of the service, ending in /API4', { env: 'STENO_BASE_URL' }),
  apiKey: text('--api-key <key>', 'key of the account; better kept by login or in the environment', {
    env: 'STENO_API_KEY',
  }),
  sandbox: flag('--sandbox', 'use the service inside steno: no account, no network, no cost'),
  json: flag('--json', 'print one JSON document, with every field as the service sent it'),
  csv: flag('--csv', 'print CSV rows with a header line'),
  quiet: flag('--quiet', 'print only what a script needs next'),
  color: flag('--no-color', 'print without colour', { env: 'NO_COLOR' }),
  debug: flag('--debug', 'tell on stderr what is sent and received, and where an error arose'),
  timeout: duration('--timeout <duration>', 'give up after this long'),
  ledger: flag('--no-ledger', 'neither read nor write the ledger of your orders'),
};

export type GlobalValues = OptionValues<typeof globalOptions>;
