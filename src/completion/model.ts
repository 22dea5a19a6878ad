/** The command tree as the shells need it. */

export const shells = ['bash', 'zsh', 'fish', 'powershell'] as const;

export type Shell = (typeof shells)[number];

/** What a shell may offer as a value: words, or things of a kind. */
export type Values = readonly string[] | 'file' | 'folder' | 'audiofile' | 'order' | 'invoice';

export interface Flag {
  /** As typed, long before short: `--output`, `-o`. */
  readonly names: readonly string[];
  readonly help: string;
  readonly takesValue: boolean;
  /** What help calls its value. */
  readonly valueName: string;
  /** May be given more than once. */
  readonly many: boolean;
  /** Takes several values with commas. */
  readonly list: boolean;
  readonly values: Values;
}

export interface Positional {
  readonly name: string;
  readonly many: boolean;
  readonly values: Values;
}

export interface CommandNode {
  /** The names from the root to here; none for the root. */
  readonly path: readonly string[];
  /** Its name and its alias. */
  readonly names: readonly string[];
  readonly summary: string;
  /** Its own flags; every command takes those of the root too. */
  readonly flags: readonly Flag[];
  readonly args: readonly Positional[];
  readonly children: readonly CommandNode[];
}

/** A node and all below it. */
export function everyNode(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(everyNode)];
}

export const pathOf = (node: CommandNode): string => node.path.join(' ');
