/** The kinds of options that a command can take, and how each reads its value. */
import { formats, meaningOfFormat } from '../catalog/formats.ts';
import type { Meaning, Values } from '../completion/model.ts';
import { EXEC_LIMIT_MS } from '../lib/defaults.ts';
import type { Effect } from '../lib/effects.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import { formatDuration, parseDuration } from '../lib/time.ts';

export interface Option<T = unknown> {
  readonly flags: string;
  readonly help: string;
  readonly values?: Values | undefined;
  /** A few words about a value, where a shell can show them. */
  readonly meaning?: Meaning | undefined;
  /** Values that can't be chosen together: after one of them, completion offers no other. */
  readonly onlyOneOf?: readonly string[] | undefined;
  /** The default, as help shows it; `initial` is what the command is given. */
  readonly shownDefault?: string | undefined;
  readonly env?: string | undefined;
  readonly initial: T;
  /** A method, not a property: only so does TypeScript let an Option<string> stand for an Option<unknown>. */
  read(text: string, previous: T): T;
  readonly takesValue: boolean;
  /** One of these flags must be given too: without it this one would be ignored. */
  readonly needs?: readonly string[] | undefined;
  /** Flags that can't be given too, or a flag with one value: `--output -`. */
  readonly excludes?: readonly string[] | undefined;
  /** What it adds to the effect of its command. */
  readonly effect?: Effect | undefined;
}

/** `--output` and `-o` of `-o, --output <file>`, as they stand there. */
export const flagNames = ({ flags }: Pick<Option, 'flags'>): readonly string[] =>
  flags.match(/(?<![^\s,])--?[a-z][a-z-]*/gi) ?? [];

/** The long name of an option: `--output` of `-o, --output <file>`. */
export const longName = ({ flags }: Pick<Option, 'flags'>): string =>
  /--[a-z][a-z-]*/.exec(flags)?.[0] ?? flags;

/** `id` of `<id…>`. */
export const bareName = (name: string): string => name.replace(/[<>[\]…]/g, '');

type Shown = 'values' | 'meaning' | 'onlyOneOf' | 'env' | 'needs' | 'excludes' | 'effect';

interface More extends Partial<Pick<Option, Shown>> {
  readonly default?: string;
  /** What help shows as the default of an option that the command is given without one. */
  readonly defaultNote?: string;
}

/** An option with a default always has a value. */
type WithDefault = More & { readonly default: string };

function option<T>(flags: string, help: string, more: More, initial: T, read: Option<T>['read']): Option<T> {
  const { default: usual, defaultNote, ...shown } = more;
  return { ...shown, flags, help, shownDefault: usual ?? defaultNote, initial, read, takesValue: true };
}

export function flag(flags: string, help: string, more: More = {}): Option<boolean> {
  const initial = flags.startsWith('--no-');
  return { ...option(flags, help, more, initial, () => !initial), takesValue: false };
}

export function text(flags: string, help: string, more: WithDefault): Option<string>;
export function text(flags: string, help: string, more?: More): Option<string | undefined>;
export function text(flags: string, help: string, more: More = {}): Option<string | undefined> {
  return option<string | undefined>(flags, help, more, more.default, (given) => given);
}

/** One of a few words, in any case. */
export function choiceOf<Choice extends string>(
  flag: string,
  given: string | undefined,
  choices: readonly Choice[],
): Choice | undefined {
  const choice = choices.find((each) => each === given?.toLowerCase());
  if (given === undefined || choice) return choice;
  throw usage(
    `${flag} can't be '${given}'`,
    didYouMean(given, choices, `choose one of ${choices.join(', ')}`),
  );
}

/** A value, or true where the flag is given without one: `--placed [order]`. */
export const optionalText = (
  flags: string,
  help: string,
  more: More = {},
): Option<string | true | undefined> =>
  option<string | true | undefined>(flags, help, more, undefined, (given) => given);

/** `order` of `--placed <order>` or `--placed [order]`; empty where the flag takes no value. */
export const valueName = ({ flags }: Pick<Option, 'flags'>): string =>
  bareName(/[<[].*[>\]]/.exec(flags)?.[0] ?? '');

/** What waits can ring at its end. */
export const notifyFlag = (needs: readonly string[] = []) => {
  const start = needs.length ? `with ${needs.join(' or ')}, ` : '';
  const help = `${start}ring the bell at the end and show a desktop notification (OSC 9)`;
  return flag('--notify', help, { needs });
};

/** How downloads are named, the same for every command that has them. */
export const nameTemplate = (help: string, more: More = {}): Option<string | undefined> =>
  text(
    '--name-as <template>',
    `${help}: {id}, {title}, {order}, {key}, {tag}, {feed}, {guid}, {date}, {ext}, and {dir} and {basename} of the audio's path or URL; {path}: the recording's folders below the one that was ordered; the id replaces unknown values`,
    more,
  );

/** The document types of transcripts. */
export const formatOption = (help: string, more: More = {}): Option<readonly string[]> =>
  list('--format <ext…>', help, {
    default: 'txt',
    values: formats.map(({ ext }) => ext),
    meaning: meaningOfFormat,
    ...more,
  });

/** What --download fetches, and under which names. */
export const downloadOptions = () => ({
  format: formatOption('with --download, the formats to fetch', { needs: ['--download'] }),
  nameAs: nameTemplate('with --download, a template for file names', { needs: ['--download'] }),
});

/** A list of files, the same for every command that takes one. */
export const idsFrom = (): Option<string | undefined> =>
  text(
    '--from <file|->',
    'read ids from a file, or from stdin with -: one per line, CSV or JSON lines with audiofile',
    { values: 'file' },
  );

/** Several values, with commas or by repeating the flag. */
export function list(flags: string, help: string, more: More = {}): Option<readonly string[]> {
  return option<readonly string[]>(flags, help, more, [], (given, previous) => {
    const values = given.split(',').map((each) => each.trim());
    if (values.includes(''))
      throw usage(
        `${flags.split(' ')[0]} has an empty value: '${given}'`,
        'leave out the comma, or the space next to it',
      );
    return [...previous, ...values];
  });
}

/** Several values by repeating the flag; a comma is part of the value. */
export function repeated(flags: string, help: string, more: More = {}): Option<readonly string[]> {
  return option<readonly string[]>(flags, help, more, [], (given, previous) => [...previous, given]);
}

/** In milliseconds. */
export function duration(flags: string, help: string, more: WithDefault): Option<number>;
export function duration(flags: string, help: string, more?: More): Option<number | undefined>;
export function duration(flags: string, help: string, more: More = {}): Option<number | undefined> {
  const initial = more.default === undefined ? undefined : parseDuration(more.default);
  return option<number | undefined>(flags, help, more, initial, (given) => {
    const name = flags.split(' ')[0];
    const milliseconds = parseDuration(given, name);
    if (milliseconds === 0) throw usage(`${name} must be longer than zero`);
    return milliseconds;
  });
}

/** What a command of --exec is given and may take, the same for every command that runs one. */
export const execOptions = () => ({
  execWithKey: flag('--exec-with-key', 'pass the API key to the --exec command, as STENO_API_KEY', {
    needs: ['--exec'],
  }),
  execTimeout: duration('--exec-timeout <duration>', 'stop an --exec command that runs longer than this', {
    default: formatDuration(EXEC_LIMIT_MS),
    needs: ['--exec'],
  }),
});

interface Range {
  readonly max?: number;
}

export function count(flags: string, help: string, more: WithDefault & Range): Option<number>;
export function count(flags: string, help: string, more?: More & Range): Option<number | undefined>;
export function count(flags: string, help: string, more: More & Range = {}): Option<number | undefined> {
  const initial = more.default === undefined ? undefined : Number(more.default);
  const max = more.max ?? Number.MAX_SAFE_INTEGER;
  return option<number | undefined>(flags, help, more, initial, (given) => {
    const number = /^\d+$/.test(given) ? Number(given) : 0;
    if (number < 1 || number > max) {
      const range = more.max ? `from 1 to ${more.max}` : 'of 1 or more';
      throw usage(`${flags.split(' ')[0]} must be a whole number ${range}, not '${given}'`);
    }
    return number;
  });
}

export type Options = Readonly<Record<string, Option>>;

export type OptionValues<O> = { readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never };

/** What a command is given where a line names none of them. */
export const initialValues = <O extends Options>(options: O): OptionValues<O> =>
  Object.fromEntries(Object.entries(options).map(([key, { initial }]) => [key, initial])) as OptionValues<O>;
