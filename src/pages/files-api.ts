/** What the pages are told of files and of transcripts on this disk, and downloads. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { checkId } from '../api/decode.ts';
import { checkFormats } from '../catalog/check.ts';
import { failures, type Outcome, values } from '../flows/bulk.ts';
import { FoundFiles } from '../flows/files/found.ts';
import { type ListedFile, listed } from '../flows/files/listed.ts';
import { isLate } from '../flows/report/report.ts';
import { partsOfLine } from '../flows/search/query.ts';
import { outputTarget, saveTranscripts } from '../flows/transcripts/fetch.ts';
import { mostPrecise, type TranscriptOnDisk, transcriptsOnDisk } from '../flows/transcripts/on-disk.ts';
import type { Changes } from '../ledger/changes.ts';
import { Downloads } from '../ledger/downloads.ts';
import { Events } from '../ledger/events.ts';
import { FileWindows, fileKinds, fileSorts } from '../ledger/file-windows.ts';
import { Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type LogEntry, PurchaseLog } from '../ledger/purchase-log.ts';
import { type Failure, StenoError, usage } from '../lib/errors.ts';
import { type Json, toJson } from '../lib/json.ts';
import { nowMs } from '../lib/time.ts';
import { isUrl } from '../lib/url.ts';
import { zip } from '../lib/zip.ts';
import { ReceivedEvent } from '../listen/event.ts';
import { fileRecord } from '../views/files.ts';
import { historyJson } from '../views/history.ts';
import { savedJson } from '../views/transcripts.ts';
import { readInThread } from './reader.ts';
import {
  type Call,
  choiceOf,
  type FileAnswer,
  type Handlers,
  missing,
  type PageSource,
  textOf,
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
    files: (call) => listWindow(source, found, call),
    counts: async () => toJson(await found.counts()),
    'file/:': (call) => filePage(source, call),
    downloads: (call) => intoFolder(source, call),
    zip: (call) => zipped(source, call),
    'file/:/transcript': (call) => transcript(source, call),
    'file/:/check': (call) => check(source, call),
    search: (call) => search(source, call),
  };
}

async function listWindow(source: PageSource, found: FoundFiles, call: Call): Promise<Json> {
  const { ledger, settings } = source;
  const kind = choiceOf(call, 'kind', [...fileKinds, 'uncertain']);
  const isUncertain = kind === 'uncertain';
  const { places, all } = await found.get({
    words: wordsOf(call),
    states: call.query.getAll('state').filter(Boolean),
    order: call.query.get('order') || undefined,
    sort: choiceOf(call, 'sort', fileSorts) ?? 'ordered_at',
    isDescending: choiceOf(call, 'dir', ['asc', 'desc']) !== 'asc',
    kind: isUncertain ? undefined : kind,
  });
  // What is uncertain has no file yet: those are attempts.
  const shown = isUncertain ? [] : places;
  const { offset, limit } = windowOf(call);
  const rows = (await new FileWindows(ledger).rows(shown.slice(offset, offset + limit))).map(listed);
  const downloads = await new Downloads(ledger).forFiles(rows.map(({ id }) => id));
  const now = nowMs();
  return toJson({
    ...{ total: shown.length, all },
    rows: rows.map((row) => {
      const own = downloads.get(row.id) ?? [];
      const document = fileRecord.json({ row, downloads: own, currency: settings.currency });
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

async function filePage(source: PageSource, { id }: Call): Promise<Json> {
  const { ledger, settings } = source;
  const { currency } = settings;
  const row = await knownFile(source, id);
  const downloads = (await new Downloads(ledger).forFiles([row.id])).get(row.id) ?? [];
  const entries: LogEntry[] = [];
  for await (const page of new PurchaseLog(ledger).entries({ file: row.id }, MAX_HISTORY))
    entries.push(...page);
  const pages = [false, true].map((found) => new Events(ledger).page({ file: row.id, found }, MAX_HISTORY));
  const events = (await Promise.all(pages)).flat().map((each) => new ReceivedEvent(each));
  return toJson({
    file: fileRecord.json({ row, downloads, currency }).set('late', isLate(row, nowMs())),
    history: historyJson({ row, entries, events, downloads }, currency),
    transcripts: downloads.map(({ ext, path, bytes, at }) => ({
      ...{ format: ext, path, bytes, at, here: existsSync(path) },
    })),
    playable: isUrl(row.url) && /^https?:/i.test(row.url) ? row.url : null,
  });
}

/** What failed stands beside what was saved; what is there already is kept. */
async function intoFolder(source: PageSource, call: Call): Promise<Json> {
  const folder = textOf(call, 'folder') || '.';
  if (folder.length > MAX_FOLDER_LENGTH || /[\u0000-\u001f\u007f]/.test(folder))
    throw usage('no folder was named', 'write its path');
  const outcomes = await save(source, call, folder, source.ledger);
  const saved = values(outcomes).map((each) => savedJson({ ...each, path: resolve(each.path) }));
  return toJson({ folder: resolve(folder), saved, errors: errorsOf(outcomes) });
}

const errorsOf = (outcomes: ReadonlyArray<Outcome<unknown>>): string[] => [
  ...new Set(failures(outcomes).map((each) => each.error.message)),
];

/** The same as one archive, for the browser to save; a text in it names what is missing. */
async function zipped(source: PageSource, call: Call): Promise<FileAnswer> {
  const folder = await mkdtemp(join(tmpdir(), 'steno-zip-'));
  try {
    const outcomes = await save(source, call, folder, undefined);
    const saved = values(outcomes);
    const errors = errorsOf(outcomes);
    const [failed] = failures(outcomes);
    if (failed && saved.length === 0) throw new StenoError(failed.error.kind, errors.join('; '));
    const read = saved.map(async ({ path }) => ({ name: basename(path), data: await readFile(path) }));
    const entries = await Promise.all(read);
    if (failed) entries.push({ name: 'missing.txt', data: Buffer.from(`${errors.join('\n')}\n`) });
    return { name: 'transcripts.zip', type: 'application/zip', content: zip(entries) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function save(source: PageSource, call: Call, folder: string, ledger: Ledger | undefined) {
  const asked = [...new Set(textsOf(call, 'ids').map(checkId))];
  const formats = checkFormats(textsOf(call, 'formats'), '');
  if (asked.length * formats.length > MAX_TRANSCRIPTS)
    throw usage(`at most ${MAX_TRANSCRIPTS} transcripts at once`, 'for more, run: steno sync --download .');
  const known = await new Files(source.ledger).getAll(asked);
  const refused: Failure[] = [];
  const ids = asked.filter((id) => {
    const row = known.get(id);
    if (!row) throw missing(`file ${id}`);
    const why = refusalOf(listed(row));
    if (why) refused.push({ what: id, error: new StenoError('failed', `file ${id} ${why}`) });
    return !why;
  });
  if (ids.length === 0) return refused;
  source.ledger.db.checkInPlace();
  const target = await outputTarget(`${resolve(folder)}/`, undefined, false, 'skip');
  const selection = { ids, formats, test: false, deprecatedPath: false };
  const options = { transport: await source.connect(), ledger, jobs: JOBS };
  return [...(await saveTranscripts(selection, target, options)), ...refused];
}

/** Why there is nothing to ask the service for. */
function refusalOf({ ended, state, hold }: ListedFile): string {
  if (ended === 'delivered' || !(ended || hold)) return '';
  return `has no transcript: ${ended ? `it ended as ${state}` : `its order is on hold (${hold})`}`;
}

function textsOf({ body }: Call, name: string): string[] {
  const given = body.get(name);
  const texts = Array.isArray(given) ? given.filter((each) => typeof each === 'string') : [];
  if (!Array.isArray(given) || texts.length !== given.length || !texts.length)
    throw usage(`${name} must be a list of texts`);
  return texts;
}

/** The one with the most precise times. By the ledger alone: an id that looks like a path is no path. */
async function transcriptOf(source: PageSource, id: string): Promise<TranscriptOnDisk | undefined> {
  const found: TranscriptOnDisk[] = [];
  const { id: file } = await knownFile(source, id);
  for await (const page of transcriptsOnDisk(source.ledger, { files: [file] })) found.push(...page);
  return mostPrecise(found)[0];
}

async function transcript(source: PageSource, { id, signal }: Call): Promise<Json> {
  const file = await transcriptOf(source, id);
  if (!file) throw new StenoError('missing', `no transcript of ${id} that can be read is on this disk`);
  return readInThread(source.build, file, signal);
}

async function check(source: PageSource, { id, signal }: Call): Promise<Json> {
  const file = await transcriptOf(source, id);
  return file ? source.run(['check', '--json'], signal, [file.path]) : [];
}

async function search(source: PageSource, call: Call): Promise<Json> {
  const words = partsOfLine((call.query.get('q') ?? '').slice(0, MAX_QUERY_LENGTH));
  if (words.length === 0) return [];
  const options = ['--json', '--context', '1', '--limit', String(windowOf(call).limit)];
  return source.run(['search', ...options], call.signal, words);
}
