/** Reads a manifest: one URL a line, CSV with a header, or JSON lines. One bad line is an error for the whole. */
import { createReadStream } from 'node:fs';
import { findOrderSku } from '../../catalog/skus.ts';
import { errorMessage, usage } from '../../lib/errors.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { readBytes } from '../../lib/streams.ts';
import { decodeUtf8 } from '../../lib/utf8.ts';
import { fromCsv, headerMissing, isCsvHeader, isQuotedUrl, lacksHeader } from './manifest-csv.ts';
import { fromJson } from './manifest-json.ts';
import { type Cells, type Row, rowAt } from './manifest-row.ts';

const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

export async function readManifest(file: string, stdin: NodeJS.ReadStream): Promise<Row[]> {
  const rows = await parseManifest(await readInput(file, stdin), nameOf(file));
  if (rows.length === 0) throw usage(`the manifest ${nameOf(file)} holds no URL`);
  return rows;
}

/** Ids from a file: the first field of each line, so that a table that steno printed is accepted too. */
export async function readIds(file: string, stdin: NodeJS.ReadStream): Promise<string[]> {
  const text = (await readInput(file, stdin)).replace(/\r\n?/g, '\n');
  return Array.from(contentLines(text), ({ text: line }) => line.split('\t', 1)[0]?.trim() ?? '');
}

/** `where` is the name of the file, for messages; one that ends in .csv is never a plain list. */
export async function parseManifest(given: string, where: string): Promise<Row[]> {
  const text = given.includes('\r') ? given.replace(/\r\n?/g, '\n') : given;
  const position = (line: number): string => `${where}, line ${line}`;
  const [first] = contentLines(text);
  if (!first) return [];
  if (isCsvHeader(first.text) && !isJson(first))
    return fromCsv(text.slice(first.start), first.line, position);
  // Past its first line, only a plain list has comments: in CSV and JSON a `#` is part of what is ordered.
  if (isJson(first)) return rowsOf(lines(text, first), position, fromJson);
  if (lacksHeader(where, texts(contentLines(text)))) throw headerMissing(position(first.line));
  return rowsOf(contentLines(text), position, fromPlain);
}

interface Line {
  /** From 1. */
  readonly line: number;
  /** Where in the text it begins. */
  readonly start: number;
  /** Without the blanks around it. */
  readonly text: string;
}

/** One at a time: a manifest may have millions. */
function* lines(text: string, from: { line: number; start: number }): Generator<Line> {
  let { line, start } = from;
  while (start < text.length) {
    const lineBreak = text.indexOf('\n', start);
    const end = lineBreak < 0 ? text.length : lineBreak;
    const content = text.slice(start, end).trim();
    if (content !== '') yield { line, start, text: content };
    start = end + 1;
    line += 1;
  }
}

/** Lines that are neither blank nor comments. */
function* contentLines(text: string): Generator<Line> {
  for (const each of lines(text, { line: 1, start: 0 })) if (!each.text.startsWith('#')) yield each;
}

function* texts(all: Iterable<Line>): Generator<string> {
  for (const { text } of all) yield text;
}

const isJson = ({ text }: Line): boolean => /^[[{]/.test(text);

const rowsOf = (
  all: Iterable<Line>,
  position: (line: number) => string,
  read: (text: string) => Cells,
): Row[] => Array.from(all, ({ line, text }) => rowAt(position(line), () => read(text)));

function fromPlain(line: string): Cells {
  if (isQuotedUrl(line)) return { url: line.slice(1, -1) };
  const url = line;
  const [, ...rest] = url.split(/[,;]/);
  if (rest.some((each) => findOrderSku(each.trim()))) {
    throw usage(`'${url}' holds a SKU beside the URL`, 'begin the manifest with the line: url,sku');
  }
  return { url };
}

const nameOf = (file: string): string => (file === '-' ? 'stdin' : file);

async function readInput(file: string, stdin: NodeJS.ReadStream): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readBytes(file === '-' ? stdin : createReadStream(file), MAX_MANIFEST_BYTES);
  } catch (error) {
    const hint = /^https?:\/\//i.test(file)
      ? `it is a URL: fetch it first, with curl -fsS ${shellWord(file)} | steno order --from -`
      : undefined;
    throw usage(`can't read ${nameOf(file)}: ${errorMessage(error)}`, hint);
  }
  return decodeUtf8(bytes, nameOf(file));
}
