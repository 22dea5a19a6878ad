import { clock } from './text.ts';
import type { Transcript } from './transcript.ts';

const thousandths = (ms: number): string => String(ms % 1000).padStart(3, '0');
const srtTime = (ms: number): string => `${clock(ms)},${thousandths(ms)}`;
const vttTime = (ms: number): string => `${clock(ms)}.${thousandths(ms)}`;

/** Escapes for a cue; quotes stay, since small parsers know only these three references. */
export function escapeVtt(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Text where an arrow cannot be escaped, yet would be read as a timing. */
const withoutArrow = (text: string): string => text.replace(/--+>/g, '→');

export function srt({ notice, turns }: Transcript): string {
  const cues = turns.map(({ speaker, text, start, end }, index) => {
    const said = withoutArrow(`${speaker}: ${text}`);
    const lines = notice && index === 0 ? [notice, said] : [said];
    return [index + 1, `${srtTime(start)} --> ${srtTime(end)}`, ...lines].join('\n');
  });
  return `${cues.join('\n\n')}\n`;
}

export function vtt({ title, link, details, notice, turns }: Transcript): string {
  const about = [title, link, ...details, notice ?? ''].filter((line) => line !== '');
  const cues = turns.map(({ speaker, text, start, end }, index) => {
    const said = `<v ${escapeVtt(speaker)}>${escapeVtt(text)}</v>`;
    const lines = notice && index === 0 ? [notice, said] : [said];
    return [index + 1, `${vttTime(start)} --> ${vttTime(end)}`, ...lines].join('\n');
  });
  return `${['WEBVTT', `NOTE\n${withoutArrow(about.join('\n'))}`, ...cues].join('\n\n')}\n`;
}
