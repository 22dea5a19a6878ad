/** The command tree as completion needs it: data alone, which the build writes as `completion.json`. */

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export type Shell = (typeof shells)[number];

/** What the ledger and the settings are asked for. */
export type AskedKind =
  | 'audiofile'
  | 'audiofile-or-path'
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

/** What a spec says of a value: fixed words, a path, or ids and names that are looked up. */
export type Values = readonly string[] | 'file' | 'folder' | AskedKind;

/** A few words about a fixed value. */
export type Meaning = (value: string) => string;

/** A value, and a few words about it or nothing. */
export type Offer = readonly [value: string, about: string];

export type Offers = readonly Offer[] | Exclude<Values, readonly string[]>;

export interface Flag {
  /** The long one first: `--output`, `-o`. */
  readonly names: readonly string[];
  readonly help: string;
  readonly takesValue: boolean;
  /** May be repeated. */
  readonly many: boolean;
  /** Takes several values separated by commas. */
  readonly list: boolean;
  readonly offers: Offers;
  /** Values of a list that can't be chosen together. */
  readonly onlyOneOf: readonly string[];
}

export interface Positional {
  readonly many: boolean;
  readonly offers: Offers;
}

export interface CommandNode {
  /** Its name and its alias. */
  readonly names: readonly string[];
  readonly summary: string;
  /** Without the root's flags, which every command takes too. */
  readonly flags: readonly Flag[];
  readonly args: readonly Positional[];
  readonly children: readonly CommandNode[];
}
