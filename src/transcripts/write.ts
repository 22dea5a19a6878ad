/** Writes a transcript as captions, as the JSON of Podcasting 2.0, or to read. */
import { audioClock } from '../lib/time.ts';
import { type Cue, joined, tidied } from './fit.ts';
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

export function toVtt(cues: readonly Cue[]): string {
  const blocks = cues.map((cue) => {
    const { speaker, text } = cue;
    const said = speaker ? `<v ${escapeVtt(speaker)}>${escapeVtt(text)}` : escapeVtt(marked(text));
    return `${timing(cue, '.')}\n${said}\n`;
  });
  return ['WEBVTT\n', ...blocks].join('\n');
}

export function toSrt(cues: readonly Cue[]): string {
  const blocks = cues.map((cue, at) => `${at + 1}\n${timing(cue, ',')}\n${prefixed(cue)}\n`);
  return blocks.join('\n');
}

/**
 * SubRip has no escapes, and a name is only a text with a colon. A word joiner, which shows nothing, stands where a text
 * would be taken for a name, a tag or a time, and around a name that would not be taken for one.
 */
const MARK = '\u2060';

/** `Ada: text` */
function prefixed({ speaker, text }: Cue): string {
  const plain = (said: string): string => said.replace(/<(?=[a-z/])|\{(?=\\)|--(?=>)/gi, `$&${MARK}`);
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

/** A segment without these marks. */
export function unmarked(segment: Segment): Segment {
  if (!segment.text.includes(MARK)) return segment;
  const [all = '', name] = /^\u2060(.+?)\u2060: /.exec(segment.text) ?? [];
  const text = segment.text.slice(all.length).replaceAll(MARK, '');
  return { ...segment, speaker: name?.replaceAll(MARK, '') ?? segment.speaker, text };
}

/** https://github.com/Podcastindex-org/podcast-namespace/blob/main/transcripts/transcripts.md */
export function toJson(cues: readonly Cue[]): string {
  const segments = cues.map(({ speaker, start, end, text }) => ({
    ...{ speaker: speaker || undefined, startTime: start / 1000, endTime: end / 1000 },
    body: text.split('\n').reduce(joined, ''),
  }));
  return `${JSON.stringify({ version: '1.0.0', segments }, null, 2)}\n`;
}

// To read.

interface Paragraph {
  readonly speaker: string | undefined;
  readonly start: number | undefined;
  readonly text: string;
}

/** A paragraph ends with the first sentence beyond this. */
const PARAGRAPH_LENGTH = 500;

/** What a speaker says, up to the next speaker. */
function paragraphsOf(segments: readonly Segment[], length = PARAGRAPH_LENGTH): Paragraph[] {
  const paragraphs: Paragraph[] = [];
  let [parts, size]: [string[], number] = [[], 0];
  let first: Segment | undefined;
  const end = (): void => {
    if (first)
      paragraphs.push({ speaker: first.speaker, start: first.start, text: parts.reduce(joined, '') });
    [parts, size, first] = [[], 0, undefined];
  };
  for (const segment of segments) {
    const lines = tidied(segment.text).split('\n').filter(Boolean);
    if (lines.length === 0) continue;
    if (first && (first.speaker !== segment.speaker || segment.end === undefined)) end();
    first ??= segment;
    parts.push(...lines);
    size += segment.text.length;
    if (size > length && /[.!?…。！？]["'”’»)\]」』]*$/.test(segment.text)) end();
  }
  end();
  return paragraphs;
}

export const toText = (segments: readonly Segment[]): string =>
  paragraphsOf(segments, Number.POSITIVE_INFINITY)
    .map(({ speaker, text }) => `${speaker ? `${speaker}: ` : ''}${text}\n`)
    .join('\n');

/** `link` has `{seconds}` in it. */
export function toMarkdown(segments: readonly Segment[], title: string, link?: string): string {
  const blocks = [`# ${escapeMarkdown(title)}`];
  let last: string | undefined;
  for (const { speaker, start, text } of paragraphsOf(segments)) {
    if (speaker && speaker !== last) blocks.push(`## ${escapeMarkdown(speaker)}`);
    last = speaker;
    const time = start === undefined ? '' : `${timeMark(start, link)} `;
    blocks.push(`${time}${escapeMarkdown(text)}`);
  }
  return `${blocks.join('\n\n')}\n`;
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
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/[\\`*_[\]<>~|$#]|&(?=#?\w)|:(?=\/\/)|(?<=\bwww)\./gi, '\\$&')
    .replace(/^(?:[-+=]|\d{1,9}(?=[.)]))/, (start) => (/\d/.test(start) ? `${start}\\` : `\\${start}`));
