import type { Transcript } from './transcript.ts';

/** Escapes text for RTF: what is not ASCII becomes a signed UTF-16 unit with `?` as the fallback. */
export function escapeRtf(text: string): string {
  return text
    .replace(/[\\{}]/g, (character) => `\\${character}`)
    .replace(/[^\x20-\x7e]/g, (unit) => `\\u${(unit.charCodeAt(0) << 16) >> 16}?`);
}

export function rtf({ title, link, details, notice, turns }: Transcript): string {
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
