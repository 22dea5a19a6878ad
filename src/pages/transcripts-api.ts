/** What transcripts on this disk say: their text, what must be looked at, and where words are. */
import { checkFiles } from '../flows/check/check.ts';
import { parseQuery } from '../flows/search/query.ts';
import { findHits, prepareSearch } from '../flows/search/search.ts';
import { mostPrecise, type TranscriptOnDisk, transcriptsOnDisk } from '../flows/transcripts/on-disk.ts';
import { StenoError } from '../lib/errors.ts';
import { type Json, toJson } from '../lib/json.ts';
import { noReport } from '../lib/progress.ts';
import { readableFormats } from '../transcripts/model.ts';
import { readTranscriptFile } from '../transcripts/read.ts';
import { findingsView } from '../views/check.ts';
import { hitsView } from '../views/search.ts';
import { knownFile } from './files-api.ts';
import { type Call, choiceOf, type Handlers, numberOf, type PageSource } from './source.ts';

/** As much as a page can show: a day of speech. */
const MAX_SEGMENTS = 20_000;
const MAX_TEXT_LENGTH = 5_000_000;
const MAX_HITS = 500;
const MAX_QUERY_LENGTH = 500;

/** As a shell would hand them over, but with the quotes of a phrase. */
const quotedOrWord = /-?"[^"]*"?\*?|[^\s"]+/g;

export function transcriptHandlers(source: PageSource): Handlers {
  return {
    'GET file/:/transcript': (call) => transcript(source, call),
    'GET file/:/check': (call) => check(source, call),
    'GET search': (call) => search(source, call),
  };
}

/** By the ledger alone: an id that looks like a path is no path. */
async function transcriptsOf(source: PageSource, { id }: Call): Promise<TranscriptOnDisk[]> {
  const found: TranscriptOnDisk[] = [];
  const { id: file } = await knownFile(source, id);
  for await (const page of transcriptsOnDisk(source.ledger, { files: [file] })) found.push(...page);
  return found;
}

/** In the format that is asked for, else in the one with the most precise times. */
async function transcript(source: PageSource, call: Call): Promise<Json> {
  const format = choiceOf(call, 'format', readableFormats);
  const all = await transcriptsOf(source, call);
  const [file] = format ? all.filter((each) => each.format === format) : mostPrecise(all);
  if (!file) throw new StenoError('missing', `no transcript of ${call.id} that can be read is on this disk`);
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

/** What `steno check` prints of the file. */
async function check(source: PageSource, call: Call): Promise<Json> {
  const files = mostPrecise(await transcriptsOf(source, call));
  const outcomes = await checkFiles(files, { rules: undefined, signal: source.signal, report: noReport });
  return findingsView(outcomes, false).json;
}

/** What `steno search --context 1` prints. */
async function search(source: PageSource, call: Call): Promise<Json> {
  const { ledger, signal } = source;
  const text = (call.query.get('q') ?? '').slice(0, MAX_QUERY_LENGTH);
  if (text.trim() === '') return [];
  const limit = numberOf(call, 'limit', 100, MAX_HITS);
  const request = { query: parseQuery(text.match(quotedOrWord) ?? []), limit };
  const place = { ...(await source.searchPlace()), signal, openLedger: async () => ledger };
  const searched = await prepareSearch(place, request, noReport);
  const hits: Json[] = [];
  for await (const page of findHits(searched, request, { value: false }, signal))
    hits.push(...(hitsView(page, 1).json as Json[]));
  return hits;
}

const seconds = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined ? null : milliseconds / 1000;
