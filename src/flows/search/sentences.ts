/** The sentences of a transcript. One that runs over several captions is put together again. */
import type { Segment, TranscriptText } from '../../transcripts/model.ts';

export interface Sentence {
  /** On one line. */
  readonly text: string;
  readonly line: number;
  /** In milliseconds; undefined where the format has none. */
  readonly start?: number | undefined;
  readonly end?: number | undefined;
  readonly speaker?: string | undefined;
}

/** In characters. What goes on for longer has no full stops, and is cut. */
export const MAX_LENGTH = 400;
/** Between two captions of one sentence, in milliseconds. */
const MAX_PAUSE = 3_000;

const titles = 'Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|[A-Z]';
const end = new RegExp(
  `(?<![.!?…])(?:(?<!\\b(?:${titles}))\\.|[!?…])[.!?…]*["'”’)\\]»]*(?=\\s|$)|(?<![。！？])[。！？]+[」』）”’]*`,
  'gu',
);

export function sentencesOf({ format, segments }: TranscriptText): Sentence[] {
  const isCaptions = format === 'vtt' || format === 'srt';
  const sentences: Sentence[] = [];
  let open: Sentence | undefined;
  for (const segment of segments) {
    const pieces = piecesOf(segment.text);
    pieces.forEach(({ text, line, isWhole }, at) => {
      const { start, end, speaker } = segment;
      const piece = { text, line: segment.line + line, start, end, speaker };
      const goesOn: boolean = at === 0 && open !== undefined && isSameSentence(open, segment, text);
      if (open && !goesOn) sentences.push(open);
      open = goesOn && open ? { ...open, text: `${open.text} ${text}`, end } : piece;
      if (!isWhole && isCaptions && at === pieces.length - 1) return;
      sentences.push(open);
      open = undefined;
    });
  }
  if (open) sentences.push(open);
  return sentences;
}

/** A caption without a speaker is spoken by the last one. */
function isSameSentence(open: Sentence, { start, speaker }: Segment, text: string): boolean {
  const isSameSpeaker = speaker === undefined || speaker === open.speaker;
  const pause = start !== undefined && open.end !== undefined ? start - open.end : 0;
  return isSameSpeaker && pause <= MAX_PAUSE && open.text.length + text.length < MAX_LENGTH;
}

interface Piece {
  readonly text: string;
  /** How many lines it begins below the start of its segment. */
  readonly line: number;
  /** It has come to its end. */
  readonly isWhole: boolean;
}

/** Speed: `matchAll` makes an array for each sentence. */
function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let [from, line] = [0, 0];
  end.lastIndex = 0;
  while (from < text.length) {
    const isWhole = end.test(text);
    const to = isWhole ? end.lastIndex : text.length;
    const raw = text.slice(from, to);
    const begin = line + breaksIn(raw.slice(0, raw.length - raw.trimStart().length));
    for (const part of shortened(raw)) pieces.push({ text: part, line: begin, isWhole });
    line += breaksIn(raw);
    from = to;
  }
  return pieces;
}

const oddBlank = /[^\S ]| {2}/;

const breaksIn = (text: string): number => (text.includes('\n') ? text.split('\n').length - 1 : 0);

/** On one line; cut between words where there are some, and never within a character. */
function shortened(raw: string): string[] {
  const text = oddBlank.test(raw) ? raw.trim().replace(/\s+/g, ' ') : raw.trim();
  if (text.length <= MAX_LENGTH) return text ? [text] : [];
  return text.match(/.{1,399}(?:\s|$)|.{399}/gsu)?.map((part) => part.trim()) ?? [];
}
