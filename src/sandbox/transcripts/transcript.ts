import { dialogue, type Turn } from './dialogue.ts';
import { clip, clock, oneLine } from './text.ts';

export interface TranscriptSource {
  id: string;
  title: string;
  names: readonly string[];
  link: string;
  minutes: number;
  /** How often it was delivered; a later one differs in what is said. */
  revision?: number;
  fake?: boolean;
}

/** The content of every format; each text is one line without control characters. */
export interface Transcript {
  readonly title: string;
  readonly link: string;
  readonly details: readonly string[];
  readonly notice: string | undefined;
  readonly turns: readonly Turn[];
}

const NOTICE = 'This is a fake transcript for testing. No recording was transcribed.';
const MAX_NAME_LENGTH = 100;
const MAX_MINUTES = 99 * 60;

export function compose(source: TranscriptSource): Transcript {
  const minutes = source.minutes > 0 ? Math.min(source.minutes, MAX_MINUTES) : 1;
  const length = Math.round(minutes * 60_000);
  return {
    title: oneLine(source.title) || 'Transcript',
    link: oneLine(source.link),
    details: [`File: ${oneLine(source.id)}`, `Length: ${clock(length)}`],
    notice: source.fake ? NOTICE : undefined,
    turns: dialogue(seedOf(source), speakersOf(source.names), length),
  };
}

const seedOf = ({ id, revision = 1 }: TranscriptSource): string => (revision > 1 ? `${id}/${revision}` : id);

/** The names given, once each; a conversation has at least two speakers. */
function speakersOf(names: readonly string[]): string[] {
  const given = names.map((name) => clip(oneLine(name), MAX_NAME_LENGTH)).filter((name) => name !== '');
  const speakers = [...new Set(given)];
  for (let number = speakers.length + 1; number <= 2; number++) speakers.push(`Speaker ${number}`);
  return speakers;
}
