import { compose, type Transcript, type TranscriptSource } from './dialogue.ts';
import { docx } from './docx.ts';
import { html, plainText, rtf, srt, stampedText, vtt } from './formats.ts';

export type { TranscriptSource } from './dialogue.ts';

type Render = (transcript: Transcript) => string | Buffer;

const renderers: ReadonlyMap<string, Render> = new Map<string, Render>([
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
