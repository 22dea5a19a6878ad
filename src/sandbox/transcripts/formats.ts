/** A made-up transcript as plain text, HTML, RTF, Word and subtitles. */

import { audioClock } from '../../lib/time.ts';
import { isUrl } from '../../lib/url.ts';
import { compose, escapeMarkup, type Transcript, type TranscriptSource } from './dialogue.ts';
import { docx } from './docx.ts';

export type { TranscriptSource } from './dialogue.ts';

function plainText(transcript: Transcript): string {
  const turns = transcript.turns.map(({ speaker, text }) => `${speaker}: ${text}\n`);
  return [heading(transcript), ...turns].join('\n');
}

function stampedText(transcript: Transcript): string {
  const turns = transcript.turns.map(
    ({ start, speaker, text }) => `[${audioClock(start)}] ${speaker}: ${text}\n`,
  );
  return [heading(transcript), ...turns].join('\n');
}

function heading({ title, link, details, notice }: Transcript): string {
  const lines = [title, ...(link ? [`Source: ${link}`] : []), ...details, ...(notice ? ['', notice] : [])];
  return `${lines.join('\n')}\n`;
}

function html({ title, link, details, notice, turns }: Transcript): string {
  const about = [...(link ? [`Source: ${anchor(link)}`] : []), ...details.map(escapeMarkup)];
  return `${[
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<title>${escapeMarkup(title)}</title>`,
    '</head>',
    '<body>',
    `<h1>${escapeMarkup(title)}</h1>`,
    `<p>${about.join('<br>\n')}</p>`,
    ...(notice ? [`<p><em>${escapeMarkup(notice)}</em></p>`] : []),
    ...turns.map(({ speaker, text }) => `<p><b>${escapeMarkup(speaker)}:</b> ${escapeMarkup(text)}</p>`),
    '</body>',
    '</html>',
  ].join('\n')}\n`;
}

/** Only a web address becomes a link: an order may name any scheme. */
function anchor(link: string): string {
  const address = isUrl(link) ? new URL(link) : undefined;
  if (address?.protocol !== 'http:' && address?.protocol !== 'https:') return escapeMarkup(link);
  return `<a href="${escapeMarkup(address.href)}">${escapeMarkup(link)}</a>`;
}

/** Escapes text for RTF: what is not ASCII becomes a signed UTF-16 unit with `?` as the fallback. */
export function escapeRtf(text: string): string {
  return text
    .replace(/[\\{}]/g, (character) => `\\${character}`)
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${(unit.charCodeAt(0) << 16) >> 16}?`);
}

function rtf({ title, link, details, notice, turns }: Transcript): string {
  const about = [...(link ? [`Source: ${link}`] : []), ...details].map(escapeRtf);
  return `${[
    '{\\rtf1\\ansi\\ansicpg1252\\deff0\\uc1',
    '{\\fonttbl{\\f0\\fswiss\\fcharset0 Arial;}}',
    '{\\stylesheet{\\s0\\sa160\\f0\\fs22 Normal;}{\\s1\\sbasedon0\\sa240\\f0\\fs36\\b Title;}}',
    `{\\info{\\title ${escapeRtf(title)}}}`,
    `\\pard\\plain\\s1\\sa240\\f0\\fs36\\b ${escapeRtf(title)}\\par`,
    `\\pard\\plain\\s0\\sa160\\f0\\fs22 ${about.join('\\line ')}\\par`,
    ...(notice ? [`{\\i ${escapeRtf(notice)}}\\par`] : []),
    ...turns.map(({ speaker, text }) => `{\\b ${escapeRtf(speaker)}:} ${escapeRtf(text)}\\par`),
    '}',
  ].join('\r\n')}\r\n`;
}

const thousandths = (ms: number): string => String(ms % 1000).padStart(3, '0');
const srtTime = (ms: number): string => `${audioClock(ms)},${thousandths(ms)}`;
const vttTime = (ms: number): string => `${audioClock(ms)}.${thousandths(ms)}`;

/** Escapes for a cue; quotes stay, since small parsers know only these three references. */
export function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Text where an arrow cannot be escaped, yet would be read as a timing. */
const withoutArrow = (text: string): string => text.replace(/--+>/g, '→');

function srt({ notice, cues: turns }: Transcript): string {
  const cues = turns.map(({ speaker, text, start, end }, index) => {
    const said = text && withoutArrow(`${speaker}: ${text}`);
    const lines = notice && index === 0 ? [notice, said] : [said];
    return [index + 1, `${srtTime(start)} --> ${srtTime(end)}`, ...lines].join('\n');
  });
  return `${cues.join('\n\n')}\n`;
}

function vtt({ title, link, details, notice, cues: turns }: Transcript): string {
  const about = [title, link, ...details, notice ?? ''].filter((line) => line !== '');
  const cues = turns.map(({ speaker, text, start, end }, index) => {
    const said = text && `<v ${escapeVtt(speaker)}>${escapeVtt(text)}</v>`;
    const lines = notice && index === 0 ? [notice, said] : [said];
    return [index + 1, `${vttTime(start)} --> ${vttTime(end)}`, ...lines].join('\n');
  });
  return `${['WEBVTT', `NOTE\n${withoutArrow(about.join('\n'))}`, ...cues].join('\n\n')}\n`;
}

type Render = (transcript: Transcript) => string | Buffer;

const renderers = new Map<string, Render>([
  ['txt', plainText],
  // Word and LibreOffice open RTF under the name .doc.
  ['doc', rtf],
  ['rtf', rtf],
  ['html', html],
  ['srt', srt],
  ['docx', docx],
  ['tstxt', stampedText],
  ['vtt', vtt],
]);

export const transcriptExtensions: readonly string[] = [...renderers.keys()];

/** The transcript of a file as the document of that extension; the same source gives the same bytes. */
export function renderTranscript(ext: string, source: TranscriptSource): Buffer {
  const render = renderers.get(ext);
  if (!render) throw new RangeError(`no transcript in the format ${ext}`);
  const content = render(compose(source));
  return typeof content === 'string' ? Buffer.from(content) : content;
}
