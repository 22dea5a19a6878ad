import { clock } from './text.ts';
import type { Transcript } from './transcript.ts';

export function plainText(transcript: Transcript): string {
  const turns = transcript.turns.map(({ speaker, text }) => `${speaker}: ${text}\n`);
  return [heading(transcript), ...turns].join('\n');
}

export function stampedText(transcript: Transcript): string {
  const turns = transcript.turns.map(({ start, speaker, text }) => `[${clock(start)}] ${speaker}: ${text}\n`);
  return [heading(transcript), ...turns].join('\n');
}

function heading({ title, link, details, notice }: Transcript): string {
  const lines = [title, ...(link ? [`Source: ${link}`] : []), ...details, ...(notice ? ['', notice] : [])];
  return `${lines.join('\n')}\n`;
}
