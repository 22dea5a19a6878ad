/** The command tree as the shells need it. */
import type { CommandEntry, OptionEntry } from '../lib/command-entry.ts';

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export type Shell = (typeof shells)[number];

/** What steno itself is asked for: ids from the ledger, and what is in the settings. */
export type AskedKind =
  | 'audiofile'
  | 'order'
  | 'invoice'
  | 'attempt'
  | 'event'
  | 'sandbox-audiofile'
  | 'sandbox-held-order'
  | 'profile'
  | 'account'
  | 'base-url'
  | 'ledger'
  | 'copy-target';

/** What a shell offers as a value: fixed words, paths, or what steno is asked for. */
export type Values = readonly string[] | 'file' | 'folder' | AskedKind;

/** A few words about a fixed value. */
export type Meaning = (value: string) => string;

export const noMeaning: Meaning = () => '';

export interface Flag {
  /** The long one first: `--output`, `-o`. */
  readonly names: readonly string[];
  readonly help: string;
  readonly takesValue: boolean;
  /** The value's name in the help. */
  readonly valueName: string;
  /** May be repeated. */
  readonly many: boolean;
  /** Takes several values separated by commas. */
  readonly list: boolean;
  readonly values: Values;
  readonly meaning: Meaning;
  /** Values of a list that can't be chosen together. */
  readonly onlyOneOf: readonly string[];
}

export interface Positional {
  readonly name: string;
  readonly many: boolean;
  readonly values: Values;
  readonly meaning: Meaning;
  /** Values that follow from the argument before it. */
  readonly valuesAfter: Readonly<Record<string, Values>>;
}

export interface CommandNode {
  /** The names from the root down; empty for the root. */
  readonly path: readonly string[];
  /** Its name and its alias. */
  readonly names: readonly string[];
  readonly summary: string;
  /** Without the root's flags, which every command takes too. */
  readonly flags: readonly Flag[];
  readonly args: readonly Positional[];
  readonly children: readonly CommandNode[];
  /** Every command below it that can be run, made on demand; at the root alone. */
  readonly entries?: () => { readonly commands: CommandEntry[]; readonly globals: OptionEntry[] };
}

/** A node and all below it. */
export function everyNode(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(everyNode)];
}

export const pathOf = (node: CommandNode): string => node.path.join(' ');

/** A value and, after a tab, a few words about it, as `__complete` prints them too. */
export const described = (value: string, meaning: Meaning): string => {
  const about = meaning(value);
  return about ? `${value}\t${about}` : value;
};
