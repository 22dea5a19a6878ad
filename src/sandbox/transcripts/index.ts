import { docx } from './docx.ts';
import { html } from './html.ts';
import { plainText, stampedText } from './plain.ts';
import { rtf } from './rtf.ts';
import { srt, vtt } from './subtitles.ts';
import { compose, type Transcript, type TranscriptSource } from './transcript.ts';

export type { TranscriptSource } from './transcript.ts';

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
