/** Transcripts as data: JSON of Podcasting 2.0, Whisper, whisper.cpp and Rev, and the TSV of Whisper. */
import { oneLine } from '../lib/text.ts';
import type { Segment } from './model.ts';
import { splitSpeaker } from './speakers.ts';

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The number of a segment stands for its line. Undefined for what is no transcript. */
export function jsonSegments(text: string): Segment[] | undefined {
  const all = parsed(text);
  const { segments, transcription, monologues, speakers } = fieldsOf(all);
  const list = [all, segments, transcription, monologues].find(Array.isArray);
  const names = new Map(listOf(speakers).map((each) => [fieldsOf(each).id, fieldsOf(each).name]));
  const found = list?.flatMap((each, at) => {
    const { speaker, text: said, ...times } = saidIn(fieldsOf(each));
    if (said === undefined) return [];
    const name = names.get(speaker) ?? (typeof speaker === 'number' ? `Speaker ${speaker}` : speaker);
    const named = typeof name === 'string' ? oneLine(name) || undefined : undefined;
    return [{ line: at + 1, ...times, speaker: named, text: said.trim() }];
  });
  return found?.length || list?.length === 0 ? found : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Said {
  readonly start: number | undefined;
  readonly end: number | undefined;
  readonly speaker: unknown;
  readonly text: string | undefined;
}

function saidIn({ body, text = body, speaker, startTime, endTime, start, end, ...more }: Fields): Said {
  const elements = listOf(more.elements).map(fieldsOf);
  if (elements.length) {
    const ends = elements.flatMap(({ end_ts: each }) => (each === undefined ? [] : [each]));
    const said = elements.map(({ value }) => (typeof value === 'string' ? value : '')).join('');
    const [first] = elements.filter(({ ts }) => ts !== undefined);
    return { start: msOf(first?.ts), end: msOf(ends.at(-1)), speaker, text: said };
  }
  const { from, to } = fieldsOf(more.offsets);
  const times = {
    start: msOf(startTime ?? start) ?? msOf(from, 1),
    end: msOf(endTime ?? end) ?? msOf(to, 1),
  };
  return { ...times, speaker, text: typeof text === 'string' ? text : undefined };
}

const msOf = (value: unknown, unit = 1000): number | undefined =>
  typeof value === 'number' && value >= 0 && value < 1e9 ? Math.round(value * unit) : undefined;

export function tsvSegments(text: string): Segment[] | undefined {
  const [head = '', ...rows] = text.split('\n');
  if (!/^start\tend\ttext\s*$/.test(head)) return undefined;
  return rows.flatMap((row, at) => {
    const [, start, end, said = ''] = /^(\d{1,12})\t(\d{1,12})\t(.*)$/.exec(row) ?? [];
    if (start === undefined) return [];
    return [
      { line: at + 2, start: Number(start), end: Number(end), speaker: undefined, ...splitSpeaker(said) },
    ];
  });
}
