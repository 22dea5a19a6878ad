/** Reads a manifest: one URL a line, CSV with a header, or JSON lines. Any bad line refuses the whole. */
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
  /** What tells this audio from others, in place of its URL. */
  readonly key?: string | undefined;
}

export interface Row extends Cells {
  /** Where it stands, for messages: `talks.csv, line 3`; empty for what no manifest holds. */
  readonly at: string;
}

const LARGEST = 256 * 1024 * 1024;
const fields = ['url', 'sku', 'notes', 'names', 'key'];

export async function readManifest(file: string, stdin: NodeJS.ReadStream): Promise<Row[]> {
  const where = file === '-' ? 'stdin' : file;
  const text = await readInput(file, stdin);
  const rows = await parseManifest(text, where);
  if (rows.length === 0) throw usage(`the manifest ${where} holds no URL`);
  return rows;
}

/** The words of a list file, such as ids: the first field of each line, so that a table of ours will do. */
export async function readWords(file: string, stdin: NodeJS.ReadStream): Promise<string[]> {
  const text = await readInput(file, stdin);
  return plainLines(text).map(({ text: line }) => line.split('\t', 1)[0]?.trim() ?? '');
}

export async function parseManifest(text: string, where: string): Promise<Row[]> {
  const lines = plainLines(text);
  const first = lines[0]?.text ?? '';
  const place = (line: number): string => `${where}, line ${line}`;
  const isHeader = !/^["']?https?:/i.test(first) && (/[,;\t]/.test(first) || isField(first));
  if (isHeader && !/^[[{]/.test(first)) return fromCsv(text, first, where, place);
  const read = /^[[{]/.test(first) ? fromJson : fromPlain;
  return lines.map(({ line, text: each }) => rowAt(place(line), () => read(each)));
}

/** Lines that say something: not blank, not a comment. */
function plainLines(text: string): Array<{ line: number; text: string }> {
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
  place: (line: number) => string,
): Promise<Row[]> {
  const [header, ...body] = await parseCsv(text, first, where);
  const columns = columnsOf(header?.record ?? [], place(header?.info.lines ?? 1));
  return body.map(({ record, info }) => {
    const breaks = record.join('').split('\n').length - 1;
    const cells = new Map(columns.map((column, at) => [column, record[at] ?? '']));
    return rowAt(place(info.lines - breaks), () => ({
      url: cells.get('url') ?? '',
      skus: words(cells.get('sku')),
      notes: cells.get('notes'),
      names: parts(cells.get('names')),
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
      // The header tells which one it is: the others may stand in the cells.
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
  return inPlace(at, () => {
    const columns = header.map(fieldName);
    const twice = columns.find((column, index) => columns.indexOf(column) !== index);
    if (twice) throw usage(`the column ${twice} is there twice`);
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
    skus: list('sku', words),
    notes: one('notes'),
    names: list('names', parts),
    key: one('key'),
  };
}

function textOf(key: string, value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = scalar(value);
  if (text === undefined) throw usage(`${key} is not a text`);
  return text;
}

/** A row, or what is wrong with it and where. */
function rowAt(at: string, read: () => Cells): Row {
  return inPlace(at, () => {
    const { url, skus = [], notes, names = [], key } = read();
    // A row without its key would be told from others by its URL, which is not what the file asks for.
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

const words = (text = ''): string[] => text.split(/[\s,;|]+/).filter(Boolean);

const parts = (text = ''): string[] =>
  text
    .split('|')
    .map((name) => name.trim())
    .filter(Boolean);

/** Says where in the manifest a mistake is. */
function inPlace<T>(at: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    throw usage(`${at}: ${error.message}`, error.hint);
  }
}

async function readInput(file: string, stdin: NodeJS.ReadStream): Promise<string> {
  try {
    return await readAll(file === '-' ? stdin : createReadStream(file), LARGEST);
  } catch (error) {
    throw usage(`can't read ${file === '-' ? 'stdin' : file}: ${errorMessage(error)}`);
  }
}
