/** Reads a manifest: one URL a line, CSV with a header, or JSON lines. Any bad line refuses the whole. */
import { createReadStream } from 'node:fs';
import { scalar } from '../api/decode.ts';
import { StenoError, usage } from '../errors.ts';
import { isObject, type Json, parseJson } from '../json.ts';
import { didYouMean } from '../suggest.ts';
import { readAll } from '../ui/prompt.ts';
import { checkUrl } from '../urls.ts';

export interface Row {
  readonly line: number;
  readonly url: string;
  readonly skus?: readonly string[] | undefined;
  readonly notes?: string | undefined;
  readonly names?: readonly string[] | undefined;
}

const LARGEST = 256 * 1024 * 1024;
const fields = ['url', 'sku', 'notes', 'names'];

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
  if (first.startsWith('{'))
    return lines.map((each) => atLine(where, each.line, () => fromJson(each.line, each.text)));
  if (/(^|[,;\t"])\s*url\s*("|[,;\t]|$)/i.test(first)) return fromCsv(text, where);
  return lines.map(({ line, text: url }) => atLine(where, line, () => ({ line, url: checkUrl(url) })));
}

/** Lines that say something: not blank, not a comment. */
function plainLines(text: string): Array<{ line: number; text: string }> {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .map((each, at) => ({ line: at + 1, text: each.trim() }))
    .filter((each) => each.text !== '' && !each.text.startsWith('#'));
}

async function fromCsv(text: string, where: string): Promise<Row[]> {
  const { parse } = await import('csv-parse/sync');
  let records: Array<{ record: string[]; info: { lines: number } }>;
  try {
    records = parse(text, {
      bom: true,
      info: true,
      skip_empty_lines: true,
      delimiter: [',', ';', '\t'],
      relax_column_count: false,
      trim: true,
    }) as unknown as typeof records;
  } catch (error) {
    const { lines, message } = error as Error & { lines?: number };
    throw usage(`${where}${lines ? `, line ${lines}` : ''}: ${message}`);
  }
  const [header, ...body] = records;
  const columns = (header?.record ?? []).map((name) => atLine(where, 1, () => fieldName(name)));
  return body.map(({ record, info }) =>
    atLine(where, info.lines, () => {
      const cells = new Map(columns.map((column, at) => [column, record[at] ?? '']));
      return row(
        info.lines,
        cells.get('url'),
        words(cells.get('sku')),
        cells.get('notes'),
        parts(cells.get('names')),
      );
    }),
  );
}

function fromJson(line: number, text: string): Row {
  let json: Json;
  try {
    json = parseJson(text);
  } catch {
    throw usage('not a JSON object');
  }
  if (!isObject(json)) throw usage('not a JSON object');
  for (const key of json.keys()) fieldName(key);
  const list = (value: Json | undefined, split: (text: string | undefined) => string[]): string[] =>
    Array.isArray(value) ? value.map((each) => scalar(each) ?? '') : split(scalar(value));
  return row(
    line,
    scalar(json.get('url')),
    list(json.get('sku'), words),
    scalar(json.get('notes')),
    list(json.get('names'), parts),
  );
}

const row = (
  line: number,
  url: string | undefined,
  skus: string[],
  notes: string | undefined,
  names: string[],
): Row => ({
  line,
  url: checkUrl(url ?? ''),
  skus: skus.length ? skus : undefined,
  notes: notes || undefined,
  names: names.length ? names : undefined,
});

function fieldName(name: string): string {
  const known = fields.find((each) => each === name.trim().toLowerCase());
  if (known) return known;
  throw usage(`unknown field '${name}'`, didYouMean(name, fields, `a manifest has: ${fields.join(', ')}`));
}

const words = (text = ''): string[] => text.split(/[\s,;|]+/).filter(Boolean);

const parts = (text = ''): string[] =>
  text
    .split('|')
    .map((name) => name.trim())
    .filter(Boolean);

/** Says where in the manifest a mistake is. */
function atLine<T>(where: string, line: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof StenoError)) throw error;
    throw usage(`${where}, line ${line}: ${error.message}`, error.hint);
  }
}

async function readInput(file: string, stdin: NodeJS.ReadStream): Promise<string> {
  try {
    return await readAll(file === '-' ? stdin : createReadStream(file), LARGEST);
  } catch (error) {
    throw usage(`can't read ${file === '-' ? 'stdin' : file}: ${(error as Error).message}`);
  }
}
