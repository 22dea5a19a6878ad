/** A line for a person that fits its terminal: it says itself what gives way where there is little room. */

/** What a text means, which gives its colour. */
export type Tone = 'strong' | 'faint' | 'good' | 'warn' | 'bad' | 'info';

export interface Piece {
  /** Left out where it is empty. */
  readonly text: string;
  readonly tone?: Tone | undefined;
  /** Of a path or a URL: its end tells more than its middle. */
  readonly keepsEnd?: boolean;
}

export interface Line {
  readonly pieces: readonly Piece[];
  readonly indent?: number;
  /** How many spaces are between two pieces: one or two. */
  readonly gap?: number;
  /** In this order: the piece that gives way, and the width to which it may be narrowed; 0: it may be left out. */
  readonly narrowing: ReadonlyArray<readonly [piece: number, width: number]>;
}
