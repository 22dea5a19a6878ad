import { audioClock } from '../../lib/time.ts';

// What is said: short exchanges, one line a turn. A word in braces is chosen from `words`, once an exchange.

export type Exchange = readonly string[];

export const openings: readonly [Exchange, ...Exchange[]] = [
  ['Good morning, and thank you for making the time.', 'A pleasure. The coffee here makes it easy.'],
  ['Right, the recorder is on. Shall we begin?', 'Please do, I have been looking forward to this.'],
  [
    'Welcome back. It has been a while since we spoke.',
    'It has, and a good deal has happened since {month}.',
  ],
  ['Can you hear me well?', 'Perfectly, as if you were in the next room.'],
  ['Hello, and welcome to our {day} conversation.', 'Hello. I brought {food}, I hope nobody minds.'],
  ['Let us start where we left off last {day}.', 'Gladly. I even found my notes this time.'],
];

/** Told in every conversation, with enough blanks to set even the shortest files apart. */
export const scene: Exchange = [
  'It is a quiet {day} here in {place}, and I can hear a {bird} outside.',
  'Here the market is full of {plant} and {food}, as it always is in {month}.',
];

export const closings: readonly [Exchange, ...Exchange[]] = [
  ['I think that is a good place to stop.', 'It is. Thank you, I enjoyed every minute.'],
  ['We are nearly out of time. Any last words?', 'Only that I would happily do this again.'],
  ['Thank you for listening so patiently.', 'Thank you for telling it so well.'],
  ['Same time next {day}?', 'Same time, and I will bring {food}.'],
  ['Shall we leave it there for today?', 'Yes, let us. I can already smell {food}.'],
];

export const exchanges: readonly Exchange[] = [
  [
    'How did you come to live in {place}?',
    'By accident. I missed a train in {month} and never quite left.',
    'That is the best reason for moving I have heard all year.',
  ],
  [
    'Tell me about the garden. Is it still growing?',
    'It grows whether I help or not. This {month} we had more {plant} than we could carry.',
    'I remember. You left a basket of it at my door.',
  ],
  [
    'What do you read in the evenings?',
    'Letters, mostly. My grandmother kept all of hers in {container}.',
    'And what does one learn from them?',
    'That people have always worried about the weather and the price of {food}.',
  ],
  [
    'We walked to the lighthouse on {day}.',
    'In that wind? I could hardly hold on to my hat in {place}.',
    'The wind was the point. You could see all the way to the islands.',
  ],
  [
    'Which bird is that, the one on the fence?',
    'A {bird}. It comes every morning at about {number} minutes past seven.',
    'Then it is more punctual than I am.',
  ],
  [
    'What was the hardest part of the work?',
    'Learning to wait. Nobody tells you how much of it is waiting.',
    'And the best part?',
    'The moment when {object} that nobody believed in suddenly works.',
  ],
  [
    'I found an old map of {place} in {container}.',
    'Is the little bridge on it?',
    'It is, and a mill that nobody remembers.',
  ],
  [
    'The children counted {number} stars from the roof.',
    'Only {number}? They must have started with the bright ones.',
    'They did, and then somebody saw a {bird} and that was that.',
  ],
  [
    'How long is the journey by train?',
    'About {number} stops, and you should sit on the left for the view.',
    'I will remember that next {day}.',
  ],
  [
    'We planted {plant} along the whole path.',
    'All of it by hand?',
    'All of it. There were {number} of us, and somebody brought {food}.',
  ],
  ['What do you miss most when you travel?', 'The sound of the {bird} in the morning, and my own cup.'],
  [
    'Let me say that again, more slowly this time.',
    'Please do, a tram went past just as you came to the good part.',
    'We won the prize, and we spent all of it on {plant}.',
  ],
];

export const words: Readonly<Record<string, readonly [string, ...string[]]>> = {
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

/** Numbers from 0 up to 1, always the same for the same seed. */
export type Random = () => number;

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value >>> 0;
}

/** The mulberry32 generator. */
export function seeded(seed: string): Random {
  let state = hash(seed);
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}

export function pick<T>(random: Random, items: readonly [T, ...T[]]): T {
  return items[Math.floor(random() * items.length)] ?? items[0];
}

export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
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
export function dialogue(seed: string, speakers: readonly string[], length: number): Turn[] {
  const usual = Math.round((length / 60_000) * TURNS_PER_MINUTE);
  const count = Math.max(Math.min(Math.max(usual, MIN_TURNS), MAX_TURNS), speakers.length);
  return timed(conversation(seeded(seed), count), speakers, Math.max(length, count * MIN_TURN_MS));
}

function conversation(random: Random, count: number): string[] {
  const lines = [...fillIn(random, pick(random, openings)), ...fillIn(random, scene)];
  const closing = fillIn(random, pick(random, closings));
  const middle = count - closing.length;
  while (lines.length < middle) {
    for (const exchange of shuffled(random, exchanges)) lines.push(...fillIn(random, exchange));
  }
  return [...lines.slice(0, middle), ...closing];
}

/** Puts a word into each blank; the same blank gets the same word within an exchange. */
function fillIn(random: Random, exchange: Exchange): string[] {
  const chosen = new Map<string, string>();
  const word = (slot: string): string => {
    const known = chosen.get(slot) ?? pick(random, words[slot] ?? [slot]);
    chosen.set(slot, known);
    return known;
  };
  return exchange.map((line) => line.replace(/\{(\w+)\}/g, (_, slot: string) => word(slot)));
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

export function clip(text: string, length: number): string {
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
