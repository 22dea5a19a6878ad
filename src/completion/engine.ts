/** Decides what fits at the cursor of a command line, whatever the shell. */
import type { CommandNode, Flag, Offer, Offers } from './model.ts';

export interface Fitting {
  readonly offers: Offers;
  /** What stands before the cursor in the same word and stays: `--sku=TRANS14,`. */
  readonly head: string;
  /** The rest of that word, which an offered value replaces. */
  readonly typed: string;
  /** Values that are not offered again. */
  readonly used: readonly string[];
}

const LONG_WITH_VALUE = /^(--[^=]+)=(.*)$/s;

/** The words before the cursor, as the program will parse them. */
export class CommandLine {
  readonly #root: CommandNode;
  #node: CommandNode;
  readonly #args: string[] = [];
  /** The values of each flag, by its long name. */
  readonly #given = new Map<string, readonly string[]>();
  /** The flag whose value comes next. */
  #open: Flag | undefined;
  /** After `--`. */
  #onlyArguments = false;

  /** Takes the words without their quotes, and without the program's name. */
  constructor(root: CommandNode, words: readonly string[]) {
    this.#root = root;
    this.#node = root;
    for (const word of words) this.#read(word);
  }

  #read(word: string): void {
    const [, name = word, value] = LONG_WITH_VALUE.exec(word) ?? [];
    if (this.#open) this.#give(this.#open, word);
    else if (this.#onlyArguments || !/^-./.test(word)) this.#readArgument(word);
    else if (word === '--') this.#onlyArguments = true;
    else this.#give(this.#flag(name), value);
  }

  #readArgument(word: string): void {
    // After an argument, a word is never a subcommand.
    const children = this.#args.length ? [] : this.#node.children;
    const child = children.find(({ names }) => names.includes(word));
    if (child) this.#node = child;
    else this.#args.push(word);
  }

  #give(flag: Flag | undefined, value: string | undefined): void {
    this.#open = flag?.takesValue && value === undefined ? flag : undefined;
    if (flag && !this.#open) this.#given.set(longName(flag), [...this.#valuesOf(flag), value ?? '']);
  }

  #valuesOf(flag: Flag): readonly string[] {
    return this.#given.get(longName(flag)) ?? [];
  }

  /** The command's own, then those of all commands that it has not itself. */
  get #flags(): readonly Flag[] {
    const own = this.#node === this.#root ? [] : this.#node.flags;
    const names = new Set(own.map(longName));
    return [...own, ...this.#root.flags.filter((flag) => !names.has(longName(flag)))];
  }

  #flag(name: string): Flag | undefined {
    return this.#flags.find(({ names }) => names.includes(name));
  }

  /** The profile that the line selects, if it does. */
  get profile(): string | undefined {
    return this.#given.has('--sandbox') ? 'sandbox' : this.#given.get('--profile')?.at(-1);
  }

  /** What fits at the cursor, where a word is typed up to there. */
  fitting(typed: string): Fitting {
    const [, name, value = ''] = LONG_WITH_VALUE.exec(typed) ?? [];
    const plain = { head: '', typed, used: [] };
    if (this.#open) return this.#valueOf(this.#open, '', typed);
    if (this.#onlyArguments || !typed.startsWith('-')) return { ...plain, offers: this.#argument(typed) };
    if (name === undefined) return { ...plain, offers: this.#unusedFlags() };
    const flag = this.#flag(name);
    return flag?.takesValue ? this.#valueOf(flag, `${name}=`, value) : { ...plain, offers: [] };
  }

  /** Of a list, only what follows the last comma is completed, and no value is offered twice. */
  #valueOf(flag: Flag, head: string, typed: string): Fitting {
    const { offers, list, onlyOneOf } = flag;
    if (!list) return { offers, head, typed, used: [] };
    const at = typed.lastIndexOf(',') + 1;
    const used = [...this.#valuesOf(flag), typed.slice(0, at)].flatMap((each) => each.split(','));
    const excluded = onlyOneOf.some((each) => used.includes(each)) ? onlyOneOf : [];
    return { offers, head: head + typed.slice(0, at), typed: typed.slice(at), used: [...used, ...excluded] };
  }

  #unusedFlags(): Offer[] {
    const unused = this.#flags.filter((flag) => flag.many || !this.#given.has(longName(flag)));
    return unused.flatMap(({ names, help }) => offersOf(names, help));
  }

  /** A subcommand or an argument; where the command takes no more of them, its flags. */
  #argument(typed: string): Offers {
    const at = this.#args.length;
    const { children, args } = this.#node;
    const commands = at ? [] : children.flatMap(({ names, summary }) => offersOf(names, summary));
    const last = args.at(-1);
    const argument = args[at] ?? (last?.many ? last : undefined);
    if (!argument) return commands.length || typed ? commands : this.#unusedFlags();
    const { offers } = argument;
    if (typeof offers === 'string') return offers;
    return [...commands, ...offers.filter(([value]) => !commands.some(([name]) => name === value))];
  }
}

const longName = ({ names: [name = ''] }: Flag): string => name;

const offersOf = (names: readonly string[], about: string): Offer[] => names.map((name) => [name, about]);
