/** What transcripts on this disk say: their text, what must be looked at, and where words are. */
import { mostPrecise, type TranscriptOnDisk, transcriptsOnDisk } from '../flows/transcripts/on-disk.ts';
import { StenoError } from '../lib/errors.ts';
import { type Json, toJson } from '../lib/json.ts';
import { readableFormats } from '../transcripts/model.ts';
import { readTranscriptFile } from '../transcripts/read.ts';
import { knownFile } from './files-api.ts';
import { type Call, choiceOf, type Handler, type PageSource } from './source.ts';

/** As much as a page can show: a day of speech. */
const MAX_SEGMENTS = 20_000;
const MAX_TEXT_LENGTH = 5_000_000;

export function transcriptHandlers(source: PageSource): Readonly<Record<string, Handler>> {
  return { 'GET file/:/transcript': (call) => transcript(source, call) };
}

/** In the format that is asked for, else in the one with the most precise times. */
async function transcript(source: PageSource, call: Call): Promise<Json> {
  const format = choiceOf(call, 'format', readableFormats);
  const { id } = await knownFile(source, call.id);
  // By the ledger alone: an id that looks like a path is no path.
  const all: TranscriptOnDisk[] = [];
  for await (const page of transcriptsOnDisk(source.ledger, { files: [id] })) all.push(...page);
  const [file] = format ? all.filter((each) => each.format === format) : mostPrecise(all);
  if (!file) throw new StenoError('missing', `no transcript of ${id} that can be read is on this disk`);
  const { text } = await readTranscriptFile(file, source.signal);
  let left = MAX_TEXT_LENGTH;
  const shown = text.segments.slice(0, MAX_SEGMENTS).filter((segment) => {
    left -= segment.text.length;
    return left >= 0;
  });
  return toJson({
    format: file.format,
    segments: shown.map(({ line, start, end, speaker = null, text: said }) => ({
      ...{ line, start: seconds(start), end: seconds(end), speaker, text: said },
    })),
    truncated: shown.length < text.segments.length,
  });
}

const seconds = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined ? null : milliseconds / 1000;
