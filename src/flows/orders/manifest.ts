/** Reads a manifest: one URL a line, CSV with a header, or JSON lines. One bad line is an error for the whole. */
import { createReadStream } from 'node:fs';
import { scalar } from '../../api/decode.ts';
import { findOrderSku } from '../../catalog/skus.ts';
import { errorMessage, StenoError, usage } from '../../lib/errors.ts';
import { isObject, type Json, parseJson } from '../../lib/json.ts';
import { readAll } from '../../lib/streams.ts';
import { didYouMean } from '../../lib/suggest.ts';
import { checkUrl } from '../../lib/urls.ts';

interface Cells {
  readonly url: string;
  readonly skus?: readonly string[] | undefined;
  readonly notes?: string | undefined;
  readonly names?: readonly string[] | undefined;
  /** Identifies the audio in place of its URL. */
  readonly key?: string | undefined;
}

export interface Row extends Cells {
  /** For messages: `talks.csv, line 3`; empty for a URL that is not from a manifest. */
  readonly at: string;
}

const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;
const fields = ['url', 'sku', 'notes', 'names', 'key'];

export async function readManifest(file: string, stdin: NodeJS.ReadStream): Promise<Row[]> {
  const where = file === '-' ? 'stdin' : file;
  const text = await readInput(file, stdin);
  const rows = await parseManifest(text, where);
  if (rows.length === 0) throw usage(`the manifest ${where} holds no URL`);
  return rows;
}

/** Ids from a file: the first field of each line, so that a table that steno printed is accepted too. */
export async function readIds(file: string, stdin: NodeJS.ReadStream): Promise<string[]> {
  const text = await readInput(file, stdin);
  return contentLines(text).map(({ text: line }) => line.split('\t', 1)[0]?.trim() ?? '');
}

export async function parseManifest(text: string, where: string): Promise<Row[]> {
  const lines = contentLines(text);
  const first = lines[0]?.text ?? '';
  const position = (line: number): string => `${where}, line ${line}`;
  const isHeader = !/^["']?https?:/i.test(first) && (/[,;\t]/.test(first) || isField(first));
  if (isHeader && !/^[[{]/.test(first)) return fromCsv(text, first, where, position);
  const read = /^[[{]/.test(first) ? fromJson : fromPlain;
  return lines.map(({ line, text: each }) => rowAt(position(line), () => read(each)));
}

/** Lines that are neither blank nor comments. */
function contentLines(text: string): Array<{ line: number; text: string }> {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .map((each, at) => ({ line: at + 1, text: each.trim() }))
    .filter((each) => each.text !== '' && !each.text.startsWith('#'));
}

function fromPlain(url: string): Cells {
  const [, ...rest] = url.split(/[,;]/);
  if (rest.some((each) => findOrderSku(each.trim()))) {
    throw usage(`'${url}' holds a SKU beside the URL`, 'begin the manifest with the line: url,sku');
  }
  return { url };
}

interface CsvRecord {
  readonly record: string[];
  /** The line at which it ends. */
  readonly info: { readonly lines: number };
}

async function fromCsv(
  text: string,
  first: string,
  where: string,
  position: (line: number) => string,
): Promise<Row[]> {
  const [header, ...body] = await parseCsv(text, first, where);
  const columns = columnsOf(header?.record ?? [], position(header?.info.lines ?? 1));
  return body.map(({ record, info }) => {
    const breaks = record.join('').split('\n').length - 1;
    const cells = new Map(columns.map((column, at) => [column, record[at] ?? '']));
    return rowAt(position(info.lines - breaks), () => ({
      url: cells.get('url') ?? '',
      skus: splitSkus(cells.get('sku')),
      notes: cells.get('notes'),
      names: splitNames(cells.get('names')),
      key: cells.get('key'),
    }));
  });
}

async function parseCsv(text: string, first: string, where: string): Promise<CsvRecord[]> {
  const { parse } = await import('csv-parse/sync');
  try {
    // One kind of line break, or the parser counts some lines twice.
    return parse(text.replace(/\r\n?/g, '\n'), {
      bom: true,
      info: true,
      skip_empty_lines: true,
      comment: '#',
      comment_no_infix: true,
      // The first one in the header; the others may occur in cells.
      delimiter: /[,;\t]/.exec(first)?.[0] ?? ',',
      record_delimiter: '\n',
      trim: true,
    }) as unknown as CsvRecord[];
  } catch (error) {
    const { lines, message } = error as Error & { lines?: number };
    throw usage(`${where}${lines ? `, line ${lines}` : ''}: ${message}`);
  }
}

function columnsOf(header: readonly string[], at: string): string[] {
  return withPosition(at, () => {
    const columns = header.map(fieldName);
    const twice = columns.find((column, index) => columns.indexOf(column) !== index);
    if (twice) throw usage(`the column ${twice} occurs twice`);
    if (!columns.includes('url')) throw usage('there is no column url');
    return columns;
  });
}

function fromJson(text: string): Cells {
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    throw usage('not a JSON object', 'a manifest of JSON has one object a line');
  }
  if (!isObject(json)) throw usage('not a JSON object', 'a manifest of JSON has one object a line');
  const found = new Map([...json].map(([key, value]) => [fieldName(key), value]));
  const one = (key: string): string | undefined => textOf(key, found.get(key));
  const list = (key: string, split: (text: string | undefined) => string[]): string[] => {
    const value = found.get(key);
    return Array.isArray(value) ? value.map((each) => textOf(key, each) ?? '') : split(textOf(key, value));
  };
  return {
    url: one('url') ?? '',
    skus: list('sku', splitSkus),
    notes: one('notes'),
    names: list('names', splitNames),
    key: one('key'),
  };
}

function textOf(key: string, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = scalar(value);
  if (text === undefined) throw usage(`${key} is not a text`);
  return text;
}

/** A checked row; an error says where it is. */
function rowAt(at: string, read: () => Cells): Row {
  return withPosition(at, () => {
    const { url, skus = [], notes, names = [], key } = read();
    // With an empty key the row would be identified by its URL, which is not what the file asks for.
    if (key?.trim() === '')
      throw usage('the key is empty', 'give the row a key, or leave out the column key');
    return {
      at,
      url: checkUrl(url),
      skus: skus.length ? skus : undefined,
      notes: notes || undefined,
      names: names.length ? names : undefined,
      key: key?.trim(),
    };
  });
}

const isField = (name: string): boolean => fields.includes(name.trim().toLowerCase());

function fieldName(name: string): string {
  if (isField(name)) return name.trim().toLowerCase();
  throw usage(`unknown field '${name}'`, didYouMean(name, fields, `a manifest has: ${fields.join(', ')}`));
}

const splitSkus = (text = ''): string[] => text.split(/[\s,;|]+/).filter(Boolean);

const splitNames = (text = ''): string[] =>
  text
    .split('|')
    .map((name) => name.trim())
    .filter(Boolean);

/** Adds to an error where in the manifest it is. */
function withPosition<T>(at: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    throw usage(`${at}: ${error.message}`, error.hint);
  }
}

async function readInput(file: string, stdin: NodeJS.ReadStream): Promise<string> {
  try {
    return await readAll(file === '-' ? stdin : createReadStream(file), MAX_MANIFEST_BYTES);
  } catch (error) {
    throw usage(`can't read ${file === '-' ? 'stdin' : file}: ${errorMessage(error)}`);
  }
}
