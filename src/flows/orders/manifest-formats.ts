/** A row of a manifest, whichever way it is written. */

import type { CsvError } from 'csv-parse/sync';
import { scalar } from '../../api/decode.ts';
import { findOrderSku } from '../../catalog/skus.ts';
import type { Audio } from '../../ledger/purchase.ts';
import { errorMessage, StenoError, usage } from '../../lib/errors.ts';
import { isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts';
import { didYouMean, nearest, oneLine, plural } from '../../lib/text.ts';
import { secondsOfMinutes } from '../../lib/time.ts';
import { checkUrl } from '../../lib/url.ts';
import type { CountedRows, FileMark, LeftOut } from '../uploads/audio-files.ts';

export interface Cells {
  readonly url: string;
  readonly skus?: readonly string[] | undefined;
  readonly notes?: string | undefined;
  readonly names?: readonly string[] | undefined;
  readonly key?: string | undefined;
  readonly minutes?: string | undefined;
  /** In place of the URL: a file of this machine. */
  readonly path?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface Row extends Omit<Cells, 'minutes'> {
  readonly seconds?: number | undefined;
  /** For messages: `talks.csv, line 3`; empty for a URL that is not from a manifest. */
  readonly at: string;
  /** Where more is known of the audio than its URL or key. */
  readonly audio?: Audio | undefined;
  /** What that file was when its content was read. */
  readonly mark?: FileMark | undefined;
}

/** What a folder or a feed holds. */
export interface FoundRows {
  readonly rows: readonly Row[];
  /** Files and episodes that are not ordered. */
  readonly leftOut: readonly LeftOut[];
  readonly counted: readonly CountedRows[];
}

export interface Place {
  readonly where: string;
  readonly line: number;
}

export const placeText = (where: string, line: number): string => `${where}, line ${line}`;

export type OnRow = (row: Row, line: number) => void;
/** Gets each row as what makes it, which throws where its line is wrong. */
export type OnLine = (read: () => Row, line: number) => void;

const fields = ['url', 'path', 'sku', 'notes', 'names', 'key', 'minutes', 'tags'];

export const HEADER = 'url,sku,notes,names';

const isField = (name: string): boolean => fields.includes(name.trim().toLowerCase());

/** Empty for one that is not known, where such columns are passed over. */
function fieldName(name: string, ignoreColumns: boolean): string {
  if (isField(name)) return name.trim().toLowerCase();
  if (ignoreColumns) return '';
  const list = `known fields: ${fields.join(', ')}; --ignore-columns ignores others`;
  if (name.trim() === '') throw usage('a field has no name', list);
  throw usage(`unknown field '${name}'`, didYouMean(name, fields, list));
}

export function rowAt({ where, line }: Place, read: () => Cells): Row {
  const at = placeText(where, line);
  return withPosition(at, () => {
    const { url, skus = [], notes, names = [], key, minutes, path, tags = [] } = read();
    // With an empty key the row would be identified by its URL, which is not what the file asks for.
    if (key?.trim() === '') throw usage('the key is empty', 'give the row a key, or remove the column key');
    if (names.some((name) => name.trim() === ''))
      throw usage('a name is empty', 'leave it out, or write the names like Ada|Grace');
    checkPlace(url, path, key);
    return {
      at,
      url: path ? '' : checkUrl(url),
      path: path || undefined,
      skus: skus.length ? skus : undefined,
      notes: notes || undefined,
      names: names.length ? names : undefined,
      key: key?.trim(),
      seconds: secondsOf(minutes),
      tags: tags.length ? checkTags(tags) : undefined,
    };
  });
}

function checkPlace(url: string, path: string | undefined, key: string | undefined): void {
  if (path && url) throw usage('the row has both a url and a path', 'leave one of them empty');
  if (path && key)
    throw usage(
      'the row has both a path and a key',
      'a file is identified by its content: leave the key empty',
    );
  if (!path && url === '')
    throw usage(path === undefined ? 'the url is missing' : 'both url and path are empty');
}

export function checkTags(tags: readonly string[]): string[] {
  const all = tags.map((tag) => oneLine(tag.trim()));
  if (all.some((tag) => tag === '')) throw usage('a tag is empty', 'leave it out');
  return [...new Set(all)];
}

/** A year; more is a mistake. */
const MAX_MINUTES = 525_600;

export function secondsOf(minutes: string | undefined): number | undefined {
  if (minutes === undefined || minutes.trim() === '') return undefined;
  const length = /^\d+(\.\d+)?$/.test(minutes.trim()) ? Number(minutes) : Number.NaN;
  if (length > 0 && length <= MAX_MINUTES) return secondsOfMinutes(length);
  throw usage(`'${minutes}' is not a length in minutes`, 'write it like 35 or 35.5');
}

const splitTags = (text = ''): string[] =>
  text.trim() === '' ? [] : text.split(/[|,;]/).map((tag) => tag.trim());

export const splitSkus = (text = ''): string[] => text.split(/[\s,;|]+/).filter(Boolean);

export const splitNames = (text = ''): string[] =>
  text.trim() === '' ? [] : text.split('|').map((name) => name.trim());

/** `listed`: the values of a field that is a list already. */
function cellsOf(
  text: (field: string) => string | undefined,
  listed: (field: string) => string[] | undefined = () => undefined,
): Cells {
  return {
    url: text('url') ?? '',
    skus: listed('sku') ?? splitSkus(text('sku')),
    notes: text('notes'),
    names: listed('names') ?? splitNames(text('names')),
    key: text('key'),
    minutes: text('minutes'),
    path: text('path'),
    tags: listed('tags') ?? splitTags(text('tags')),
  };
}

export function withPosition<T>(at: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    throw usage(`${at}: ${error.message}`, error.hint);
  }
}

// A manifest in JSON lines: one object a line.

const ONE_A_LINE = 'a JSON manifest has one object per line';

export function fromJson(line: string, ignoreColumns: boolean): Cells {
  const found = fieldsOf(parseObject(line), ignoreColumns);
  const listed = (key: string): string[] | undefined => {
    const value = found.get(key);
    return Array.isArray(value) ? value.map((each) => textOf(key, each) ?? '') : undefined;
  };
  return cellsOf((key) => textOf(key, found.get(key)), listed);
}

export function parseObject(line: string): JsonObject {
  if (line.startsWith('['))
    throw usage('not a JSON object', `${ONE_A_LINE}, not an array; convert it with: jq -c '.[]'`);
  let json: Json;
  const repeated: string[] = [];
  try {
    json = parseJson(line, (key) => repeated.push(key));
  } catch {
    throw usage('not a JSON object', `${ONE_A_LINE}; convert it with: jq -c .`);
  }
  if (!isObject(json)) throw usage('not a JSON object', ONE_A_LINE);
  if (repeated.length) throw occursTwice(repeated[0] ?? '');
  return json;
}

/** Names in any case: `URL` beside `url` would hide one of the two. */
function fieldsOf(object: JsonObject, ignoreColumns: boolean): Map<string, Json> {
  const found = new Map<string, Json>();
  for (const [key, value] of object) {
    const name = fieldName(key, ignoreColumns);
    if (name === '') continue;
    if (found.has(name)) throw occursTwice(name);
    found.set(name, value);
  }
  return found;
}

const occursTwice = (key: string): Error =>
  usage(`'${key}' occurs twice`, 'give each audio a line of its own');

function textOf(key: string, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = scalar(value);
  if (text === undefined) throw usage(`${key} is not a text`);
  return text;
}

// A manifest in CSV: a header, then a row for each audio; commas, semicolons or tabs, as the header has them.

export const SEPARATOR = /[,;\t]/;

export const isCsvHeader = (line: string): boolean =>
  !startsWithUrl(line) && (SEPARATOR.test(line) || isField(line.replaceAll('"', '')));

const startsWithUrl = (line: string): boolean => /^["']?https?:/i.test(line);

/** Whether lines that begin with a URL are rows of a CSV whose header is missing. */
export function lacksHeader(where: string, lines: Iterable<{ readonly text: string }>): boolean {
  let found = false;
  for (const { text: line } of lines) {
    if (/\.[ct]sv$/i.test(where)) return true;
    if (isQuotedUrl(line)) return false;
    if (line.startsWith('"')) return true;
    // A URL may hold commas and semicolons too: only if all do are they taken for separators.
    if (!isUrlAndMore(line)) return false;
    found = true;
  }
  return found;
}

const isSku = (text: string): boolean => findOrderSku(text.trim()) !== undefined;

/** A URL in quotes, and nothing else. */
export const isQuotedUrl = (line: string): boolean => /^"https?:[^"]*"$/i.test(line);

function isUrlAndMore(line: string): boolean {
  const [, separator, rest = ''] = /^https?:\/\/[^\s,;]+(,|;|\s*\t)(.*)$/i.exec(line) ?? [];
  if (separator === undefined) return false;
  // A comma in the query is part of the URL, unless a SKU or a text of several words follows.
  const before = line.slice(0, line.length - rest.length);
  if (separator === ',' && before.includes('?') && !/\s/.test(rest) && !rest.split(',').some(isSku))
    return false;
  // In a URL, what follows a semicolon is `name=value`.
  return separator !== ';' || rest.split(';').some((part) => !part.includes('='));
}

export const headerMissing = (at: string): StenoError =>
  usage(
    `${at}: this looks like CSV, but the header line is missing`,
    `start it with a header line: ${HEADER} (put a URL that contains commas in quotes)`,
  );

/** The text begins with the header, which is at that line of the manifest. */
export async function fromCsv(
  text: string,
  at: Place,
  onLine: OnLine,
  ignoreColumns: boolean,
): Promise<void> {
  const { where } = at;
  let columns: string[] | undefined;
  await readCsv(text, at, (record, line) => {
    const named = columns;
    if (named) onLine(() => toRow(named, record, { where, line }), line);
    else columns = toColumns(record, placeText(where, line), ignoreColumns);
  });
}

/** Hands on each record, the header too, with its line in the manifest. */
export async function readCsv(
  text: string,
  { where, line: firstLine }: Place,
  onRecord: (record: string[], line: number) => void,
): Promise<void> {
  const { parse } = await import('csv-parse/sync');
  const [header = ''] = text.split('\n', 1);
  const delimiter = SEPARATOR.exec(header)?.[0] ?? ',';
  let lastLine = 0;
  const addRecord = (record: string[], lines: number): null => {
    lastLine = lines;
    // The parser tells the line at which a record ends.
    onRecord(record, firstLine - 1 + lines - lineBreaksIn(record));
    return null;
  };
  try {
    parse(text, {
      skip_empty_lines: true,
      relax_column_count: true,
      delimiter,
      record_delimiter: '\n',
      trim: true,
      // Made into a row at once, so that the records of a large manifest never lie in memory together.
      on_record: (record: string[], { lines }) => addRecord(record, lines),
    });
  } catch (error) {
    if (error instanceof StenoError) throw error;
    const { code, lines = 1 } = error as Partial<CsvError> & { lines?: number };
    // The parser looks for the closing quote to the end of the text: what to correct is where the record begins.
    const line = code === 'CSV_QUOTE_NOT_CLOSED' ? nextRecord(text, lastLine) : lines;
    throw usage(
      `${placeText(where, firstLine - 1 + line)}: ${explanations[code ?? ''] ?? errorMessage(error)}`,
      QUOTES,
    );
  }
}

const lineBreaksIn = (record: readonly string[]): number =>
  record.reduce((sum, cell) => sum + (cell.includes('\n') ? cell.split('\n').length - 1 : 0), 0);

function nextRecord(text: string, line: number): number {
  const after = text.split('\n').slice(line);
  const next = after.findIndex((each) => each.trim() !== '');
  return line + 1 + Math.max(0, next);
}

const QUOTES =
  'quote a cell that contains a separator, a quote or a line break, and double the quotes in it: "say ""hi"""';

const explanations: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE: 'there is text after the closing quote of a cell',
  INVALID_OPENING_QUOTE: 'a cell contains a quote but does not start with one',
};

function toColumns(header: readonly string[], at: string, ignoreColumns: boolean): string[] {
  if (header.some(startsWithUrl)) throw headerMissing(at);
  return withPosition(at, () => {
    if (!header.some((name) => nearest(name.trim().toLowerCase(), ['url', 'path'])))
      throw usage('the column url is missing', `a header looks like: ${HEADER}`);
    const columns = header.map((name) => fieldName(name, ignoreColumns));
    const twice = columns.find((column, index) => column && columns.indexOf(column) !== index);
    if (twice) throw usage(`the column ${twice} occurs twice`);
    if (!columns.includes('url') && !columns.includes('path'))
      throw usage('the column url is missing', `a header looks like: ${HEADER}`);
    return columns;
  });
}

function toRow(columns: readonly string[], record: readonly string[], at: Place): Row {
  return rowAt(at, () => {
    if (record.length !== columns.length) {
      throw usage(
        `${plural(record.length, 'cell')}, but the header has ${plural(columns.length, 'column')}`,
        record.length > columns.length ? QUOTES : 'write the separators of empty cells too',
      );
    }
    const cells = cellsOf((name) => record[columns.indexOf(name)]);
    // An empty cell means none.
    return { ...cells, key: cells.key || undefined };
  });
}
