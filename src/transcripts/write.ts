/** Writes a transcript as captions, as the JSON of Podcasting 2.0, or to read: part by part, so that it can be stopped. */
import { audioClock } from '../lib/time.ts';
import { type Cue, joined, MARK, tidied } from './fit.ts';
import type { Segment } from './model.ts';
import { splitSpeaker } from './speakers.ts';

export const convertedFormats = ['vtt', 'srt', 'json', 'md', 'txt'] as const;

export type ConvertedFormat = (typeof convertedFormats)[number];

/** What has a time for each text. */
export const isCaptions = (format: ConvertedFormat): format is 'vtt' | 'srt' | 'json' =>
  format === 'vtt' || format === 'srt' || format === 'json';

const timing = ({ start, end }: Cue, point: string): string =>
  [start, end].map((ms) => audioClock(ms, point)).join(' --> ');

// Captions.

const escapeVtt = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function* toVtt(cues: Iterable<Cue>): Generator<string> {
  yield 'WEBVTT\n';
  for (const cue of cues) {
    const { speaker, text } = cue;
    const said = speaker ? `<v ${escapeVtt(speaker)}>${escapeVtt(text)}` : escapeVtt(marked(text));
    yield `\n${timing(cue, '.')}\n${said}\n`;
  }
}

export function* toSrt(cues: Iterable<Cue>): Generator<string> {
  let count = 0;
  for (const cue of cues) {
    count += 1;
    yield `${count > 1 ? '\n' : ''}${count}\n${timing(cue, ',')}\n${prefixed(cue)}\n`;
  }
}

/**
 * SubRip has no escapes, and a name is only a text with a colon. The mark stands where a text would be taken for a name,
 * a tag or a time, and around a name that would not be taken for one: `Ada: text`.
 */
function prefixed({ speaker, text }: Cue): string {
  const plain = (said: string): string =>
    said.replace(/<(?=[a-z/])|\{(?=\\)|--(?=>)|&(?=#?\w+;)/gi, `$&${MARK}`);
  if (!speaker) return marked(plain(text));
  const [first = '', ...more] = plain(text).split('\n');
  const read = splitSpeaker(`${speaker}: ${first}`);
  const name = read.speaker === speaker && read.text === first ? speaker : `${MARK}${plain(speaker)}${MARK}`;
  return [`${name}: ${first}`, ...more.map(marked)].join('\n');
}

const marked = (text: string): string =>
  text
    .split('\n')
    .map((line) => (splitSpeaker(line).speaker === undefined ? line : line.replace(/[:：]/, `${MARK}$&`)))
    .join('\n');

/** A segment without these marks; one at the end of a line says whether a blank was there. */
export function unmarked(segment: Segment): Segment {
  if (!segment.text.includes(MARK)) return segment;
  const [all = '', name] = /^\u2060(.+?)\u2060: /.exec(segment.text) ?? [];
  const text = segment.text
    .slice(all.length)
    .replace(/\u2060+(?:(\n|$)|)/g, (run, lineEnd) => (lineEnd === undefined ? '' : run));
  return { ...segment, speaker: name?.replaceAll(MARK, '') ?? segment.speaker, text };
}

/** https://github.com/Podcastindex-org/podcast-namespace/blob/main/transcripts/transcripts.md */
export function* toJson(cues: Iterable<Cue>): Generator<string> {
  yield '{\n  "version": "1.0.0",\n  "segments": [';
  let before = '\n';
  for (const { speaker, start, end, text } of cues) {
    const times = { startTime: start / 1000, endTime: end / 1000 };
    const segment = { speaker: speaker || undefined, ...times, body: textOf(text.split('\n')) };
    yield `${before}${JSON.stringify(segment, null, 2)}`.replaceAll('\n', '\n    ');
    before = ',\n';
  }
  yield before === '\n' ? ']\n}\n' : '\n  ]\n}\n';
}

const textOf = (lines: readonly string[]): string => joined(lines).replace(/(?<!\u2060)\u2060+$/, '');

// To read.

interface Paragraph {
  readonly speaker: string | undefined;
  readonly start: number | undefined;
  readonly text: string;
}

/** A paragraph ends with the first sentence beyond this. */
const PARAGRAPH_LENGTH = 500;

/** What a speaker says, up to the next speaker. */
function* paragraphsOf(segments: readonly Segment[], length = PARAGRAPH_LENGTH): Generator<Paragraph> {
  let [parts, size]: [string[], number] = [[], 0];
  let first: Segment | undefined;
  const taken = ({ speaker, start }: Segment): Paragraph => {
    const paragraph = { speaker, start, text: textOf(parts) };
    [parts, size, first] = [[], 0, undefined];
    return paragraph;
  };
  for (const segment of segments) {
    const lines = tidied(segment.text).split('\n').filter(Boolean);
    if (lines.length === 0) continue;
    if (first && (first.speaker !== segment.speaker || segment.end === undefined)) yield taken(first);
    first ??= segment;
    for (const line of lines) parts.push(line);
    size += segment.text.length;
    if (size > length && /[.!?…。！？]["'”’»)\]」』]*\u2060?$/.test(segment.text)) yield taken(first);
  }
  if (first) yield taken(first);
}

export function* toText(segments: readonly Segment[]): Generator<string> {
  let before = '';
  for (const { speaker, text } of paragraphsOf(segments, Number.POSITIVE_INFINITY)) {
    yield `${before}${speaker ? `${speaker}: ` : ''}${text}\n`;
    before = '\n';
  }
}

/** `link` has `{seconds}` in it. */
export function* toMarkdown(segments: readonly Segment[], title: string, link?: string): Generator<string> {
  yield `# ${escapeMarkdown(title)}\n`;
  let last: string | undefined;
  for (const { speaker, start, text } of paragraphsOf(segments)) {
    if (speaker && speaker !== last) yield `\n## ${escapeMarkdown(speaker)}\n`;
    last = speaker;
    const time = start === undefined ? '' : `${timeMark(start, link)} `;
    yield `\n${time}${escapeMarkdown(text)}\n`;
  }
}

const timeMark = (ms: number, link: string | undefined): string =>
  link === undefined
    ? `*${audioClock(ms)}*`
    : `[${audioClock(ms)}](${markdownUrl(link.replaceAll('{seconds}', String(Math.floor(ms / 1000))))})`;

const markdownUrl = (url: string): string =>
  new URL(url).href.replace(/[()*_<>[\]\\]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

/** Whatever it says stays text: no emphasis, link, list, heading, table, formula, entity or HTML. */
export const escapeMarkdown = (text: string): string =>
  text
    .replace(/\s{2,}|[^\S ]/g, ' ')
    .trim()
    .replace(/[\\`*_[\]<>~|$#]|&(?=#?\w)|:(?=\/\/)|(?<=\bwww)\./gi, '\\$&')
    .replace(/^(?:[-+=]|\d{1,9}(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`));
