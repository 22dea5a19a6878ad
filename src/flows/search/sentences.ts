/** The sentences of a transcript. One that runs over several captions is put together again. */
import { breaksIn } from '../../transcripts/cues.ts';
import type { Segment, TranscriptText } from '../../transcripts/model.ts';

export interface Sentence {
  /** On one line. */
  readonly text: string;
  readonly line: number;
  /** In milliseconds; undefined where the format has none. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly speaker?: string | undefined;
  /** It stands above the conversation: nobody says it. */
  readonly isHead?: true | undefined;
}

/** In characters. What goes on for longer has no full stops, and is cut. */
const MAX_LENGTH = 400;
/** Between two captions of one sentence, in milliseconds. */
const MAX_PAUSE = 3_000;

const abbreviations = 'Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|approx|[ap]\\.m|e\\.g|i\\.e|[A-Z]';
/** Before a small letter or a digit, the sentence goes on: "at 5 p.m. on Monday". `[?]` is a mark of doubt. */
const end = new RegExp(
  `(?<![.!?…])(?:(?<!\\b(?:${abbreviations}))\\.|(?<![[(])[!?…])[.!?…]*["'”’)\\]»]*(?=\\s+[^\\s\\p{Ll}\\d]|\\s*$)|` +
    '(?<![。！？])[。！？]+[」』）”’]*',
  'gu',
);
const goesOnWith = /^[\p{Ll}\d]/u;

export function sentencesOf({ format, segments }: TranscriptText): Sentence[] {
  const isCaptions = format === 'vtt' || format === 'srt';
  const sentences: Sentence[] = [];
  let open: Piece | undefined;
  let last: string | undefined;
  const spoken = (segment: Segment): Segment => {
    last = segment.speaker ?? (isCaptions ? last : undefined);
    return { ...segment, speaker: last };
  };
  for (const piece of segments.flatMap((segment) => piecesOf(spoken(segment)))) {
    if (open && isCaptions && isContinued(open, piece)) {
      open = { ...open, text: `${open.text} ${piece.text}`, end: piece.end, isWhole: piece.isWhole };
      continue;
    }
    if (open) sentences.push(sentenceOf(open));
    open = piece;
  }
  if (open) sentences.push(sentenceOf(open));
  return sentences;
}

const sentenceOf = ({ isFirst: _, isWhole: __, ...sentence }: Piece): Sentence => sentence;

/** Of a segment; the last one may go on in the next caption. */
interface Piece extends Sentence {
  /** With it, its segment begins. */
  readonly isFirst: boolean;
  /** It has come to its end. */
  readonly isWhole: boolean;
}

/** Whether a caption continues a sentence. One without a speaker is spoken by the last one. */
function isContinued(open: Piece, { text, start, speaker, isFirst }: Piece): boolean {
  const isSameSpeaker = speaker === undefined || speaker === open.speaker;
  const pause = start !== undefined && open.end !== undefined ? start - open.end : 0;
  const goesOn = isFirst && (!open.isWhole || goesOnWith.test(text));
  return goesOn && isSameSpeaker && pause <= MAX_PAUSE && open.text.length + text.length < MAX_LENGTH;
}

/** Speed: `matchAll` makes an array for each sentence. */
function piecesOf({ text, line: first, start, end: until, speaker, isHead }: Segment): Piece[] {
  const pieces: Piece[] = [];
  let [from, line] = [0, first];
  end.lastIndex = 0;
  while (from < text.length) {
    const isWhole = end.test(text);
    const to = isWhole ? end.lastIndex : text.length;
    const raw = text.slice(from, to);
    const begin = line + breaksIn(raw.slice(0, raw.length - raw.trimStart().length));
    const parts = shortened(raw);
    for (const [at, part] of parts.entries()) {
      const piece = { text: part, line: begin, start, end: until, speaker, isHead };
      pieces.push({
        ...piece,
        isFirst: pieces.length === 0,
        isWhole: isWhole && at === parts.length - 1,
      });
    }
    line += breaksIn(raw);
    from = to;
  }
  return pieces;
}

const oddBlank = /[^\S ]| {2}/;

/** On one line; cut between words where there are some, and never within a character. */
function shortened(raw: string): string[] {
  const text = oddBlank.test(raw) ? raw.trim().replace(/\s+/g, ' ') : raw.trim();
  if (text.length <= MAX_LENGTH) return text ? [text] : [];
  return text.match(/.{1,399}(?:\s|$)|.{399}/gsu)?.map((part) => part.trim()) ?? [];
}
