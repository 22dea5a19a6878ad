/** A made-up conversation: the file's id alone decides what is said. */
import { audioClock } from '../../lib/time.ts';

/** What is said in turn: a question, its answer. A word in braces is chosen from `words`. */
export const sentences: readonly string[] = [
  'How did you come to live in {place}, of all places, that {month}?',
  'By accident. I missed a train on a {day} in {month} and never quite left.',
  'Tell me about the garden. Is the {plant} still growing in {month}?',
  'It does. We planted {plant} along the whole path, and a {bird} came to live in it.',
  'What do you read on {day} evenings, when the {bird} is asleep?',
  'Letters, mostly, and the price of {food}. My grandmother kept them in {container}.',
  'Shall we walk to the lighthouse of {place} on {day}?',
  'In that wind? I could hardly hold on to {container} in {place}.',
  'Which bird is that, the one beside the {plant}, eating {food}?',
  'A {bird}. It comes every {day} at about {number} minutes past seven.',
  'What was the hardest part of the work in {place} that {month}?',
  'Learning to wait until {object} from {place} that nobody believed in suddenly works.',
  'Did the children count the stars over {place} last {day}?',
  'All {number} of them, and then somebody saw a {bird} and that was that.',
  'How long is the journey to {place} on a {day}?',
  'About {number} stops. Sit on the left for the view, and bring {food}.',
];

export const words: Readonly<Record<string, readonly string[]>> = {
  place: ['Lisbon', 'Galway', 'Tromsø', 'Kraków', 'Bergen', 'Trieste', 'Ghent', 'Málaga', 'Tartu', 'Halifax'],
  month: ['January', 'March', 'April', 'May', 'June', 'August', 'September', 'October', 'November'],
  day: ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'],
  plant: ['rosemary', 'lavender', 'rhubarb', 'mint', 'clover', 'thyme', 'sorrel', 'fennel'],
  food: ['apple cake', 'rye bread', 'plum jam', 'soup', 'crème caramel', 'pancakes', 'gingerbread', 'cheese'],
  container: ['a biscuit tin', 'a violin case', 'a hat box', 'a blue suitcase', 'a tea chest', 'a basket'],
  object: ['a clock', 'a sewing machine', 'a radio', 'a typewriter', 'an accordion', 'a compass', 'a kite'],
  number: ['eleven', 'fourteen', 'seventeen', 'twenty', 'twenty-six', 'thirty-one', 'forty', 'fifty-two'],
  bird: ['robin', 'wren', 'blackbird', 'goldfinch', 'nuthatch', 'swallow', 'starling', 'jackdaw'],
};

/** Numbers from 0 up to a limit, always the same for the same seed: the mulberry32 generator. */
function seeded(seed: string): (limit: number) => number {
  let state = [...Buffer.from(seed)].reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5);
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

/** What one speaker says without a break; times are in milliseconds. */
export interface Turn {
  readonly speaker: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const TURNS_PER_MINUTE = 9;
const MIN_TURNS = 8;
const MAX_TURNS = 3000;
const MIN_TURN_MS = 250;

/** A conversation of the speakers that fills the length; the seed alone decides what is said. */
function dialogue(seed: string, speakers: readonly string[], length: number): Turn[] {
  const usual = Math.round((length / 60_000) * TURNS_PER_MINUTE);
  const count = Math.max(Math.min(Math.max(usual, MIN_TURNS), MAX_TURNS), speakers.length);
  return timed(conversation(seeded(seed), count), speakers, Math.max(length, count * MIN_TURN_MS));
}

/** Begins anywhere, and goes on question by question. */
function conversation(random: (limit: number) => number, count: number): string[] {
  const first = 2 * random(sentences.length / 2);
  return Array.from({ length: count }, (_, at) =>
    (sentences[(first + at) % sentences.length] ?? '').replace(/\{(\w+)\}/g, (_, slot: string) => {
      const choices = words[slot] ?? [slot];
      return choices[random(choices.length)] ?? '';
    }),
  );
}

/** Divides the length among the lines by their words, with a short pause after each. */
function timed(lines: readonly string[], speakers: readonly string[], length: number): Turn[] {
  const weights = lines.map((line) => line.split(' ').length + 4);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  let elapsed = 0;
  return lines.map((text, index) => {
    const start = Math.round((length * elapsed) / total);
    elapsed += weights[index] ?? 0;
    const next = Math.round((length * elapsed) / total);
    const pause = Math.min(150, Math.floor((next - start) / 10));
    return { speaker: speakers[index % speakers.length] ?? '', text, start, end: next - pause };
  });
}

/** One line that every format can hold: no control characters, line breaks, lone surrogates or noncharacters. */
export function oneLine(text: string): string {
  return text
    .replace(/\p{Cs}/gu, '\ufffd')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\s]+/gu, ' ')
    .trim();
}

function clip(text: string, length: number): string {
  const characters = [...text];
  return characters.length <= length ? text : `${characters.slice(0, length - 1).join('')}…`;
}

/** Escapes for HTML and XML, in text and in quoted attributes. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

export interface TranscriptSource {
  id: string;
  title: string;
  names: readonly string[];
  link: string;
  minutes: number;
  /** How often it was delivered; a later one differs in what is said. */
  revision?: number;
  fake?: boolean;
  /** With gaps, doubts, speakers without a name, and captions that are wrong. */
  marks?: boolean;
}

/** The content of every format; each text is one line without control characters. */
export interface Transcript {
  readonly title: string;
  readonly link: string;
  readonly details: readonly string[];
  readonly notice: string | undefined;
  readonly turns: readonly Turn[];
  /** The same for captions. */
  readonly cues: readonly Turn[];
}

const NOTICE = 'This is a fake transcript for testing. No recording was transcribed.';
const MAX_NAME_LENGTH = 100;
const MAX_MINUTES = 99 * 60;

export function compose(source: TranscriptSource): Transcript {
  const minutes = source.minutes > 0 ? Math.min(source.minutes, MAX_MINUTES) : 1;
  const length = Math.round(minutes * 60_000);
  const turns = dialogue(seedOf(source), speakersOf(source), length);
  const cues = source.marks ? marked(turns) : turns;
  return {
    title: oneLine(source.title) || 'Transcript',
    link: oneLine(source.link),
    details: [`File: ${oneLine(source.id)}`, `Length: ${audioClock(length)}`],
    notice: source.fake ? NOTICE : undefined,
    turns: cues
      .filter(({ text }) => text !== '')
      .map((cue, at) => ({ ...cue, start: turns[at]?.start ?? cue.start })),
    cues,
  };
}

const seedOf = ({ id, revision = 1 }: TranscriptSource): string => (revision > 1 ? `${id}/${revision}` : id);

/** The names given, once each; a conversation has at least two speakers. */
function speakersOf({ names, marks = false }: TranscriptSource): string[] {
  const given = names.map((name) => clip(oneLine(name), MAX_NAME_LENGTH)).filter((name) => name !== '');
  const speakers = [...new Set(given)];
  if (marks) return [...(speakers.length ? speakers : ['Jerry Coleman', 'Ada Park']), 'Man 2'];
  for (let number = speakers.length + 1; number <= 2; number++) speakers.push(`Speaker ${number}`);
  return speakers;
}

/** Words that could not be heard, names that are shortened after their first use, and captions with faults. */
function marked(turns: readonly Turn[]): Turn[] {
  const seen = new Set<string>();
  const cues = turns.map((turn, at): Turn => {
    const speaker = seen.has(turn.speaker) ? shortName(turn.speaker) : turn.speaker;
    seen.add(turn.speaker);
    return { ...turn, ...(at < FIRST_TURNS ? faulty(turn, at, turns) : {}), speaker };
  });
  const [, , , last] = cues;
  // An empty cue, and one that begins before it.
  return last ? [...cues.slice(0, 4), { ...last, start: last.end, text: '' }, ...cues.slice(4)] : cues;
}

const FIRST_TURNS = 6;

const shortName = (name: string): string => (/\d$/.test(name) ? name : (name.split(' ')[0] ?? name));

function faulty({ text, start, end }: Turn, at: number, turns: readonly Turn[]): Partial<Turn> {
  const [first = '', ...rest] = text.split(' ');
  if (at === 1) return { text: `${text} [inaudible ${audioClock(start)}]` };
  if (at === 2) return { text: `${first} [?] ${rest.slice(0, -1).join(' ')} [xx]` };
  if (at === 3) return { text: `[crosstalk] ${text}`, start: start - Math.min(500, end - start) };
  if (at === 4) return { end: Math.min(end, start + 400) };
  return at === 5 ? { start: Math.max(0, (turns[4]?.start ?? start) - 100) } : {};
}
