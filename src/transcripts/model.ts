/** What a transcript says, whatever its format. */

/** The formats of downloads that can be read, the one with the most precise times first. */
export const readableFormats = ['vtt', 'srt', 'tstxt', 'docx', 'html', 'txt'] as const;

/** What other programs write, and `convert`. */
const otherFormats = ['json', 'tsv', 'md'] as const;

export const knownFormats = [...readableFormats, ...otherFormats];

export type ReadableFormat = (typeof knownFormats)[number];

/** Captions tell when each text ends. */
export const areCaptions = (format: ReadableFormat): boolean =>
  format === 'vtt' || format === 'srt' || format === 'json' || format === 'tsv';

/** What one speaker says without a break, or one cue of captions. */
export interface Segment {
  /** Where its text begins in the file: the line, or the paragraph of a docx; from 1. */
  readonly line: number;
  /** In milliseconds; undefined where the format has none. A tstxt has no ends. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly speaker?: string | undefined;
  /** Without markup and without the speaker. The lines of a cue are kept, each separated by `\n`. */
  readonly text: string;
  /** It stands above the conversation: the title, source or length. */
  readonly isHead?: true | undefined;
  /** Another speaker in the caption of the segment before it. */
  readonly isSameCue?: true;
}

/** A part of the file that could not be read, such as a cue with a broken time. */
export interface Fault {
  readonly line: number;
  readonly message: string;
}

export interface TranscriptText {
  readonly format: ReadableFormat;
  readonly segments: readonly Segment[];
  readonly faults: readonly Fault[];
  /** Captions that show the lines of the one before them once more: the segments have what is new in each. */
  readonly repeats?: Repeats | undefined;
}

export interface Repeats {
  /** Of the first. */
  readonly line: number;
  readonly count: number;
}

/** A transcript on this disk. */
export interface TranscriptFile {
  readonly path: string;
  readonly format: ReadableFormat;
  /** The id of its file, if the ledger knows it. */
  readonly audiofile?: string | undefined;
  readonly title?: string | undefined;
  /** How long its audio plays, in milliseconds. */
  readonly duration?: number | undefined;
}
