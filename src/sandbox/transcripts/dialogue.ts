import { pick, type Random, seeded, shuffled } from './random.ts';
import { closings, type Exchange, exchanges, openings, scene, words } from './sentences.ts';

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
