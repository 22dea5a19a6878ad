/** What the pages are told of files, and the download of a transcript. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { checkId } from '../api/decode.ts';
import { checkFormats } from '../catalog/check.ts';
import { raiseFailures } from '../flows/bulk.ts';
import { type ListedFile, listed } from '../flows/files/listed.ts';
import { dueMs } from '../flows/report/report.ts';
import { outputTarget, saveTranscripts } from '../flows/transcripts/fetch.ts';
import type { Changes } from '../ledger/changes.ts';
import { type Download, Downloads } from '../ledger/downloads.ts';
import { Events } from '../ledger/events.ts';
import {
  type FileGroup,
  type FileQuery,
  FileWindows,
  fileGroupings,
  fileSorts,
} from '../ledger/file-windows.ts';
import { Files } from '../ledger/files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type LogEntry, PurchaseLog } from '../ledger/purchase-log.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { type Json, type JsonObject, type PlainJson, toJson } from '../lib/json.ts';
import { nowMs } from '../lib/time.ts';
import { isUrl } from '../lib/url.ts';
import { ReceivedEvent } from '../listen/event.ts';
import { meaningOf } from '../views/events.ts';
import { fileRecord } from '../views/files.ts';
import { logView } from '../views/purchases.ts';
import { savedJson } from '../views/transcripts.ts';
import {
  type Call,
  choiceOf,
  type Handler,
  missing,
  numberOf,
  type PageSource,
  textOf,
  wordsOf,
} from './source.ts';

const MAX_ROWS = 500;
const MAX_HISTORY = 500;
/** Beyond these, only the groups of the window: each may have one file. */
const MAX_GROUPS = 5_000;

export function fileHandlers(source: PageSource, changes: Changes): Readonly<Record<string, Handler>> {
  const found = new FoundFiles(source.ledger, changes);
  return {
    'GET files': (call) => listWindow(source, found, call),
    'GET file/:': (call) => filePage(source, call),
    'POST file/:/download': (call) => download(source, call),
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
    sort: choiceOf(call, 'sort', fileSorts) ?? 'ordered_at',
    isDescending: choiceOf(call, 'dir', ['asc', 'desc']) !== 'asc',
    group: choiceOf(call, 'group', fileGroupings),
  };
  const offset = numberOf(call, 'offset', { initial: 0, max: Number.MAX_SAFE_INTEGER });
  const limit = numberOf(call, 'limit', { initial: 100, max: MAX_ROWS });
  const { places, groups, all } = await found.get(query);
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
    groups: groups && groupsJson(groups, query.group === 'tag', offset, limit),
  });
}

interface Found {
  readonly places: readonly number[];
  readonly groups: readonly FileGroup[] | undefined;
  /** How many files there are. */
  readonly all: number;
}

/** Who scrolls asks for one window after the other: as long as nobody writes, each is cut out of what was found. */
const MAX_KEPT = 8;

class FoundFiles {
  readonly #ledger: Ledger;
  readonly #changes: Changes;
  readonly #kept = new Map<string, Promise<Found>>();

  constructor(ledger: Ledger, changes: Changes) {
    this.#ledger = ledger;
    this.#changes = changes;
  }

  async get(query: FileQuery): Promise<Found> {
    const key = `${await this.#changes.version()} ${JSON.stringify(query)}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const finding = this.#find(query);
    this.#kept.set(key, finding);
    finding.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MAX_KEPT && oldest !== undefined) this.#kept.delete(oldest);
    return finding;
  }

  async #find(query: FileQuery): Promise<Found> {
    const windows = new FileWindows(this.#ledger);
    const { group } = query;
    return {
      places: await windows.places(query),
      groups: group && (await windows.groups({ ...query, group })),
      all: await new Files(this.#ledger).count({}),
    };
  }
}

/** Open, and past the target of its SKU. */
function isLate(row: ListedFile, now: number): boolean {
  if (row.ended || row.test === 1) return false;
  const skus = row.skus ? row.skus.split(',') : [];
  const due = dueMs({ skus, hold: row.hold ?? '', dueFrom: row.upgraded_at ?? row.ordered_at });
  return due !== undefined && now > due;
}

/** Each with the place of its first row. */
function groupsJson(
  groups: readonly FileGroup[],
  areTags: boolean,
  offset: number,
  limit: number,
): PlainJson {
  let at = 0;
  const placed = groups.map(({ name, count }) => {
    const group = { name: areTags ? tagsText(name) : name, count: Number(count), offset: at };
    at += group.count;
    return group;
  });
  if (placed.length <= MAX_GROUPS) return placed;
  return placed.filter((each) => each.offset < offset + limit && each.offset + each.count > offset);
}

/** `["a","b"]` as people read it. */
function tagsText(json: string): string {
  try {
    const tags: unknown = JSON.parse(json || '[]');
    return Array.isArray(tags) ? tags.join(', ') : json;
  } catch {
    return json;
  }
}

export async function knownFile({ ledger }: PageSource, id: string): Promise<ListedFile> {
  const row = await new Files(ledger).get(checkId(id));
  if (!row) throw missing(`file ${id}`, 'list your files: steno files');
  return listed(row);
}

/** A file with its downloads. */
async function shownFile(source: PageSource, id: string) {
  const row = await knownFile(source, id);
  const downloads = (await new Downloads(source.ledger).forFiles([row.id])).get(row.id) ?? [];
  return { row, downloads };
}

async function filePage(source: PageSource, { id }: Call): Promise<Json> {
  const { row, downloads } = await shownFile(source, id);
  const { currency } = source.settings;
  return toJson({
    file: fileRecord.json({ row, downloads, currency }).set('late', isLate(row, nowMs())),
    history: await historyOf(source, row, downloads),
    transcripts: downloads.map(({ ext, path, bytes, at }) => ({
      ...{ format: ext, path, bytes, at, here: existsSync(path) },
    })),
    playable: isUrl(row.url) && /^https?:/i.test(row.url) ? row.url : null,
  });
}

interface HistoryEntry {
  readonly at: string;
  readonly what: string;
  readonly by: string;
  readonly text: string;
  readonly event?: number;
  readonly [name: string]: PlainJson;
}

/** What was bought and what became of it, newest first. */
async function historyOf(
  { ledger, settings: { currency } }: PageSource,
  { id, changed_at: changedAt, state }: ListedFile,
  downloads: readonly Download[],
): Promise<HistoryEntry[]> {
  const entries: LogEntry[] = [];
  for await (const page of new PurchaseLog(ledger).entries({ file: id }, MAX_HISTORY)) entries.push(...page);
  const events = new Events(ledger);
  const heard = [
    ...(await events.page({ file: id }, MAX_HISTORY)),
    ...(await events.page({ file: id, found: true }, MAX_HISTORY)),
  ].map((row) => new ReceivedEvent(row));
  const all: HistoryEntry[] = [
    ...purchasesOf(entries, currency),
    ...heard.map((event) => ({
      ...{
        at: event.receivedAt,
        what: event.event || 'event',
        by: '',
        text: meaningOf(event),
        event: event.n,
      },
    })),
    ...downloads.map(({ at, ext, path }) => ({
      at,
      what: 'download',
      by: '',
      text: `${ext} saved as ${path}`,
    })),
    ...(changedAt ? [{ at: changedAt, what: 'state', by: '', text: state }] : []),
  ];
  return all.sort((one, other) => (one.at < other.at ? 1 : -1)).slice(0, MAX_HISTORY);
}

/** In the words of `steno log`. */
function purchasesOf(entries: readonly LogEntry[], currency: string): HistoryEntry[] {
  const { columns, rows } = logView(entries, currency, false);
  return rows.map((cells) => {
    const cell = (name: string): string => cells[columns.findIndex((column) => column.name === name)] ?? '';
    const source = cell('cost_source');
    const cost = cell('cost') && [cell('cost'), cell('currency'), source && `(${source})`].join(' ');
    const said = [cell('status'), cell('skus'), cost, cell('test'), cell('detail'), cell('settlements')];
    return { at: cell('at'), what: cell('kind'), by: cell('by'), text: said.filter(Boolean).join('; ') };
  });
}

const MAX_FOLDER_LENGTH = 1_000;

/** Beside the other downloads of the file unless told; what is there already is kept. */
async function download(source: PageSource, call: Call): Promise<Json> {
  const { ledger } = source;
  const { row, downloads } = await shownFile(source, call.id);
  const format = textOf(call, 'format');
  if (!format) throw usage('format is missing', 'name one: txt');
  const formats = checkFormats([format], '');
  const folder = checkFolder(
    textOf(call, 'folder') || dirname(downloads.at(-1)?.path ?? resolve('.', row.id)),
  );
  ledger.checkInPlace();
  const target = await outputTarget(`${folder}/`, undefined, false, 'skip');
  const selection = { ids: [row.id], formats, test: false, deprecatedPath: false };
  const transport = await source.connect();
  const outcomes = await saveTranscripts(selection, target, { transport, ledger, jobs: 1 });
  raiseFailures(outcomes);
  const [saved] = outcomes;
  if (!saved?.value) throw new StenoError('failed', 'nothing was downloaded');
  return (savedJson(saved.value) as JsonObject).set('path', resolve(saved.value.path));
}

function checkFolder(folder: string): string {
  if (folder.length <= MAX_FOLDER_LENGTH && !/[\u0000-\u001f\u007f]/.test(folder)) return resolve(folder);
  throw usage('that is no folder', 'write its path');
}
