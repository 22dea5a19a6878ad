import { pick, type Random, seeded, shuffled } from './random.ts';
import { closings, type Exchange, exchanges, openings, scene, words } from './sentences.ts';

/** What one speaker says in one go; times are in milliseconds. */
export interface Turn {
  readonly speaker: string;
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const TURNS_A_MINUTE = 9;
const FEWEST_TURNS = 8;
const MOST_TURNS = 3000;
const SHORTEST_TURN = 250;

/** A conversation of the speakers that fills the length; the id alone decides what is said. */
export function dialogue(id: string, speakers: readonly string[], length: number): Turn[] {
  const usual = Math.round((length / 60_000) * TURNS_A_MINUTE);
  const count = Math.max(Math.min(Math.max(usual, FEWEST_TURNS), MOST_TURNS), speakers.length);
  return timed(conversation(seeded(id), count), speakers, Math.max(length, count * SHORTEST_TURN));
}

function conversation(random: Random, count: number): string[] {
  const lines = [...told(random, pick(random, openings)), ...told(random, scene)];
  const farewell = told(random, pick(random, closings));
  const middle = count - farewell.length;
  while (lines.length < middle) {
    for (const exchange of shuffled(random, exchanges)) lines.push(...told(random, exchange));
  }
  return [...lines.slice(0, middle), ...farewell];
}

function told(random: Random, exchange: Exchange): string[] {
  const chosen = new Map<string, string>();
  const word = (slot: string): string => {
    const known = chosen.get(slot) ?? pick(random, words[slot] ?? [slot]);
    chosen.set(slot, known);
    return known;
  };
  return exchange.map((line) => line.replace(/\{(\w+)\}/g, (_, slot: string) => word(slot)));
}

/** Gives each line a share of the length that fits its words, with a short pause at its end. */
function timed(lines: readonly string[], speakers: readonly string[], length: number): Turn[] {
  const weights = lines.map((line) => line.split(' ').length + 4);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let passed = 0;
  return lines.map((text, index) => {
    const start = Math.round((length * passed) / whole);
    passed += weights[index] ?? 0;
    const next = Math.round((length * passed) / whole);
    const pause = Math.min(150, Math.floor((next - start) / 10));
    return { speaker: speakers[index % speakers.length] ?? '', text, start, end: next - pause };
  });
}
