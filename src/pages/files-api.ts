/** What the pages are told of files and of transcripts on this disk, and the download of one. */

import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { checkId } from '../api/decode.ts';
import { checkFormats } from '../catalog/check.ts';
import { failures, raiseFailures, values } from '../flows/bulk.ts';
import { FoundFiles } from '../flows/files/found.ts';
import { type ListedFile, listed } from '../flows/files/listed.ts';
import { isLate } from '../flows/report/report.ts';
import { parseQuery, partsOfLine } from '../flows/search/query.ts';
import { findHits, prepareSearch } from '../flows/search/search.ts';
import { outputTarget, saveTranscripts } from '../flows/transcripts/fetch.ts';
import { mostPrecise, type TranscriptOnDisk, transcriptsOnDisk } from '../flows/transcripts/on-disk.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import type { Changes } from '../ledger/changes.ts';
import { Downloads } from '../ledger/downloads.ts';
import { Events } from '../ledger/events.ts';
import { type FileQuery, FileWindows, fileKinds, fileSorts } from '../ledger/file-windows.ts';
import { Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type LogEntry, PurchaseLog } from '../ledger/purchase-log.ts';
import { type Failure, StenoError, usage } from '../lib/errors.ts';
import { type Json, toJson } from '../lib/json.ts';
import { noReport } from '../lib/progress.ts';
import { nowMs } from '../lib/time.ts';
import { isUrl } from '../lib/url.ts';
import { zip } from '../lib/zip.ts';
import { ReceivedEvent } from '../listen/event.ts';
import { readableFormats } from '../transcripts/model.ts';
import { fileRecord } from '../views/files.ts';
import { historyJson } from '../views/history.ts';
import { hitsView } from '../views/search.ts';
import { savedJson } from '../views/transcripts.ts';
import { inThread } from './reader.ts';
import {
  type Call,
  choiceOf,
  type FileAnswer,
  type Handlers,
  missing,
  type PageSource,
  textOf,
  textsOf,
  windowOf,
  wordsOf,
} from './source.ts';

const MAX_HISTORY = 500;
/** What one download may have: of a zip, all is in memory. */
const MAX_TRANSCRIPTS = 500;
const JOBS = 4;
const MAX_FOLDER_LENGTH = 1_000;
const MAX_QUERY_LENGTH = 500;

export function fileHandlers(source: PageSource, changes: Changes): Handlers {
  const found = new FoundFiles(source.ledger, changes);
  return {
    'GET files': (call) => listWindow(source, found, call),
    'GET counts': async () => toJson(await found.counts()),
    'GET file/:': (call) => filePage(source, call),
    'POST file/:/download': (call) => download(source, call),
    'POST downloads': (call) => downloadMany(source, call),
    'POST zip': (call) => zipped(source, call),
    'GET file/:/transcript': (call) => transcript(source, call),
    'GET file/:/check': (call) => check(source, call),
    'GET search': (call) => search(source, call),
  };
}

async function listWindow(
  { ledger, settings: { currency } }: PageSource,
  found: FoundFiles,
  call: Call,
): Promise<Json> {
  const query: FileQuery = {
    words: wordsOf(call),
    states: call.query.getAll('state').filter(Boolean),
    order: call.query.get('order') || undefined,
    sort: choiceOf(call, 'sort', fileSorts) ?? 'ordered_at',
    isDescending: choiceOf(call, 'dir', ['asc', 'desc']) !== 'asc',
    kind: choiceOf(call, 'kind', fileKinds),
  };
  const { offset, limit } = windowOf(call);
  const { places, all } = await found.get(query);
  const rows = (await new FileWindows(ledger).rows(places.slice(offset, offset + limit))).map(listed);
  const downloads = await new Downloads(ledger).forFiles(rows.map(({ id }) => id));
  const now = nowMs();
  return toJson({
    ...{ total: places.length, all },
    rows: rows.map((row) => {
      const document = fileRecord.json({ row, downloads: downloads.get(row.id) ?? [], currency });
      document.delete('answer');
      return document.set('late', isLate(row, now));
    }),
  });
}

async function knownFile({ ledger }: PageSource, id: string): Promise<ListedFile> {
  const row = await new Files(ledger).get(checkId(id));
  if (!row) throw missing(`file ${id}`, 'list your files: steno files');
  return listed(row);
}

/** A file with its downloads. */
async function shownFile(source: PageSource, id: string) {
  const row = await knownFile(source, id);
  const downloads = (await new Downloads(source.ledger).forFiles([row.id])).get(row.id) ?? [];
  return { row, downloads, currency: source.settings.currency };
}

async function filePage(source: PageSource, { id }: Call): Promise<Json> {
  const { ledger } = source;
  const shown = await shownFile(source, id);
  const { row, downloads, currency } = shown;
  const entries: LogEntry[] = [];
  for await (const page of new PurchaseLog(ledger).entries({ file: row.id }, MAX_HISTORY))
    entries.push(...page);
  const pages = [false, true].map((found) => new Events(ledger).page({ file: row.id, found }, MAX_HISTORY));
  const events = (await Promise.all(pages)).flat().map((each) => new ReceivedEvent(each));
  return toJson({
    file: fileRecord.json(shown).set('late', isLate(row, nowMs())),
    history: historyJson({ row, entries, events, downloads }, currency),
    transcripts: downloads.map(({ ext, path, bytes, at }) => ({
      ...{ format: ext, path, bytes, at, here: existsSync(path) },
    })),
    playable: isUrl(row.url) && /^https?:/i.test(row.url) ? row.url : null,
  });
}

/** Beside the other downloads of the file unless told; what is there already is kept. */
async function download(source: PageSource, call: Call): Promise<Json> {
  const { row, downloads } = await shownFile(source, call.id);
  const formats = checkFormats([textOf(call, 'format') ?? ''], '');
  const folder = checkFolder(textOf(call, 'folder')) || dirname(downloads.at(-1)?.path ?? 'here');
  const outcomes = await save(source, { rows: [row], formats }, folder, source.ledger);
  raiseFailures(outcomes);
  return values(outcomes).map(savedOf)[0] ?? null;
}

/** Several files in several formats, into one folder. What failed stands beside what was saved. */
async function downloadMany(source: PageSource, call: Call): Promise<Json> {
  const folder = checkFolder(textOf(call, 'folder')) || 'here';
  const outcomes = await save(source, await selectionOf(source, call), folder, source.ledger);
  const errors = failures(outcomes).map((each) => each.error.message);
  return toJson({
    folder: resolve(folder),
    saved: values(outcomes).map(savedOf),
    errors: [...new Set(errors)],
  });
}

/** The same as one archive, for the browser to save. */
async function zipped(source: PageSource, call: Call): Promise<FileAnswer> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-zip-'));
  try {
    const outcomes = await save(source, await selectionOf(source, call), folder, undefined);
    const saved = values(outcomes);
    if (saved.length === 0) raiseFailures(outcomes);
    const entries = saved.map(async ({ path }) => ({ name: basename(path), data: await readFile(path) }));
    return { name: 'transcripts.zip', type: 'application/zip', content: zip(await Promise.all(entries)) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Selection {
  readonly rows: readonly ListedFile[];
  readonly formats: readonly string[];
}

async function selectionOf({ ledger }: PageSource, call: Call): Promise<Selection> {
  const ids = [...new Set(textsOf(call, 'ids').map(checkId))];
  const formats = checkFormats(textsOf(call, 'formats'), '');
  if (ids.length * formats.length > MAX_TRANSCRIPTS)
    throw usage(`at most ${MAX_TRANSCRIPTS} transcripts at once`, 'for more, run: steno sync --download .');
  const known = await new Files(ledger).getAll(ids);
  const rows = ids.map((id) => {
    const row = known.get(id);
    if (!row) throw missing(`file ${id}`);
    return listed(row);
  });
  return { rows, formats };
}

async function save(
  source: PageSource,
  { rows, formats }: Selection,
  folder: string,
  ledger: Ledger | undefined,
) {
  const refused = rows.flatMap((row) => refusalOf(row) ?? []);
  const ids = rows.filter((row) => !refusalOf(row)).map(({ id }) => id);
  if (ids.length === 0) return refused;
  source.ledger.checkInPlace();
  const target = await outputTarget(`${resolve(folder)}/`, undefined, false, 'skip');
  const selection = { ids, formats, test: false, deprecatedPath: false };
  const options = { transport: await source.connect(), ledger, jobs: JOBS };
  return [...(await saveTranscripts(selection, target, options)), ...refused];
}

/** Why there is nothing to ask the service for. */
function refusalOf({ id, ended, state, hold }: ListedFile): Failure | undefined {
  if (ended === 'delivered' || !(ended || hold)) return undefined;
  const why = ended ? `it ended as ${state}` : `its order is on hold (${hold})`;
  return { what: id, error: new StenoError('failed', `file ${id} has no transcript: ${why}`) };
}

const savedOf = (saved: Saved): Json => savedJson({ ...saved, path: resolve(saved.path) });

function checkFolder(folder = ''): string {
  if (folder.length <= MAX_FOLDER_LENGTH && !/[\u0000-\u001f\u007f]/.test(folder)) return folder;
  throw usage('that is no folder', 'write its path');
}

/** By the ledger alone: an id that looks like a path is no path. */
async function transcriptsOf(source: PageSource, { id }: Call): Promise<TranscriptOnDisk[]> {
  const found: TranscriptOnDisk[] = [];
  const { id: file } = await knownFile(source, id);
  for await (const page of transcriptsOnDisk(source.ledger, { files: [file] })) found.push(...page);
  return found;
}

/** In the format that is asked for, else in the one with the most precise times. */
async function transcript(source: PageSource, call: Call): Promise<FileAnswer> {
  const format = choiceOf(call, 'format', readableFormats);
  const all = await transcriptsOf(source, call);
  const [file] = format ? all.filter((each) => each.format === format) : mostPrecise(all);
  if (!file) throw new StenoError('missing', `no transcript of ${call.id} that can be read is on this disk`);
  return inThread(readerOf(source), { what: 'read', file }, source.signal);
}

/** What `steno check` prints of the file. */
async function check(source: PageSource, call: Call): Promise<Json | FileAnswer> {
  const [file] = mostPrecise(await transcriptsOf(source, call));
  return file ? inThread(readerOf(source), { what: 'check', file }, source.signal) : [];
}

const readerOf = ({ assets }: PageSource): string => join(dirname(assets), 'reader.js');

/** What `steno search --context 1` prints. */
async function search(source: PageSource, call: Call): Promise<Json> {
  const { ledger, signal } = source;
  const text = (call.query.get('q') ?? '').slice(0, MAX_QUERY_LENGTH);
  if (text.trim() === '') return [];
  const { limit } = windowOf(call);
  const request = { query: parseQuery(partsOfLine(text)), limit };
  const place = { ...(await source.searchPlace()), signal, openLedger: async () => ledger };
  const searched = await prepareSearch(place, request, noReport);
  const hits: Json[] = [];
  for await (const page of findHits(searched, request, { value: false }, signal))
    hits.push(...(hitsView(page, 1).json as Json[]));
  return hits;
}
