/** Reads a manifest: one URL a line, CSV with a header, or JSON lines. One bad line is an error for the whole. */
import { open } from 'node:fs/promises';
import { checkId } from '../../api/decode.ts';
import { findOrderSku } from '../../catalog/skus.ts';
import { errorMessage, usage } from '../../lib/errors.ts';
import { limitHeapGrowth, limitYoungSpace } from '../../lib/memory.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { readBytes } from '../../lib/streams.ts';
import { oneLine } from '../../lib/text.ts';
import { checkUtf8 } from '../../lib/utf8.ts';
import {
  type Cells,
  fromCsv,
  fromJson,
  headerMissing,
  isCsvHeader,
  isQuotedUrl,
  lacksHeader,
  type ManifestReading,
  type OnRow,
  placeText,
  type Row,
  rowAt,
} from './manifest-formats.ts';

const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/** So often the memory is looked at. */
const ROWS_BETWEEN_LIMITS = 10_000;

/** Hands on each row as it is read: a manifest may have a million. */
export async function readManifest(
  file: string,
  stdin: NodeJS.ReadStream,
  onRow: OnRow,
  reading: ManifestReading = {},
): Promise<void> {
  let rows = 0;
  limitHeapGrowth();
  const addRow: OnRow = (row, line) => {
    rows += 1;
    if (rows % ROWS_BETWEEN_LIMITS === 0) limitYoungSpace();
    onRow(row, line);
  };
  await readRows(await readInput(file, stdin), manifestName(file), addRow, reading);
  if (rows === 0) throw usage(`the manifest ${manifestName(file)} holds no URL`);
}

/** The ids that a command was given, each once. */
export async function givenIds(
  command: string,
  args: readonly string[],
  from: string | undefined,
  stdin: NodeJS.ReadStream,
): Promise<string[]> {
  if (args.length === 0 && from === undefined) {
    const known =
      command === 'upgrade'
        ? 'for a file: steno upgrade <id> --sku UPGRD2; for steno itself: npm install -g steno-cli@latest'
        : 'ids of your files: steno files';
    throw usage(`${command} requires an id or --from`, `${known}; see: steno ${command} --help`);
  }
  const listed = from === undefined ? [] : await readIds(from, stdin);
  return [...new Set([...args, ...listed].map(checkId))];
}

/** Ids from a file: the first field of each line, so that a table that steno printed is accepted too. */
async function readIds(file: string, stdin: NodeJS.ReadStream): Promise<string[]> {
  const text = (await readInput(file, stdin)).toString().replace(/\r\n?/g, '\n');
  const where = file === '-' ? 'stdin' : file;
  return Array.from(contentLines(text), ({ text: row, line }) => {
    const id = row.split('\t', 1)[0]?.trim() ?? '';
    if (/[\s"{}[\],]/.test(id))
      throw usage(
        `${placeText(where, line)}: '${oneLine(id, 60)}' is not an id`,
        'a list has one id a line: steno files --quiet',
      );
    return id;
  });
}

export async function parseManifest(given: string, where: string): Promise<Row[]> {
  const rows: Row[] = [];
  await readRows(Buffer.from(given), where, (row) => rows.push(row), {});
  return rows;
}

/** `where` is the name of the file, for messages; one that ends in .csv is never a plain list. */
async function readRows(given: Buffer, where: string, onRow: OnRow, reading: ManifestReading): Promise<void> {
  const bytes = withPlainLineBreaks(given);
  const first = firstContentLine(bytes);
  if (!first) return;
  // As bytes, as the parser takes them: as a text too, a large manifest would lie in memory twice.
  if (isCsvHeader(first.text) && !isJson(first))
    return fromCsv(bytes.subarray(first.start), { where, line: first.line }, onRow, reading);
  const text = bytes.toString();
  // Past its first line, only a plain list has comments: in CSV and JSON a `#` is part of what is ordered.
  const isJsonLines = isJson(first);
  if (!isJsonLines && lacksHeader(where, texts(contentLines(text))))
    throw headerMissing(placeText(where, first.line));
  const read = isJsonLines ? fromJson : fromPlain;
  for (const { line, text: each } of isJsonLines ? linesFrom(text, first.line) : contentLines(text))
    onRow(
      rowAt({ where, line }, () => read(each, reading)),
      line,
    );
}

const [LF, CR] = [0x0a, 0x0d];

/** Each line ends with a line feed alone. In place: a copy of a large manifest would take as much memory again. */
function withPlainLineBreaks(bytes: Buffer): Buffer {
  let to = bytes.indexOf(CR);
  if (to < 0) return bytes;
  for (let from = to; from < bytes.length; from += 1) {
    const byte = bytes[from] as number;
    if (byte === CR && bytes[from + 1] === LF) continue;
    bytes[to] = byte === CR ? LF : byte;
    to += 1;
  }
  return bytes.subarray(0, to);
}

/** The first line that is neither blank nor a comment; `start` is where it begins, in bytes. */
function firstContentLine(bytes: Buffer): Line | undefined {
  for (let [start, line] = [0, 1]; start < bytes.length; line += 1) {
    const lineBreak = bytes.indexOf(LF, start);
    const end = lineBreak < 0 ? bytes.length : lineBreak;
    const text = bytes.toString('utf8', start, end).trim();
    if (text !== '' && !text.startsWith('#')) return { line, start, text };
    start = end + 1;
  }
  return undefined;
}

interface Line {
  /** From 1. */
  readonly line: number;
  readonly start: number;
  /** Without the blanks around it. */
  readonly text: string;
}

/** One at a time: a manifest may have millions. */
function* lines(text: string): Generator<Line> {
  let [line, start] = [1, 0];
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
  for (const each of lines(text)) if (!each.text.startsWith('#')) yield each;
}

/** From a line on, comments or not. */
function* linesFrom(text: string, first: number): Generator<Line> {
  for (const each of lines(text)) if (each.line >= first) yield each;
}

function* texts(all: Iterable<Line>): Generator<string> {
  for (const { text } of all) yield text;
}

const isJson = ({ text }: Line): boolean => /^[[{]/.test(text);

function fromPlain(line: string): Cells {
  if (isQuotedUrl(line)) return { url: line.slice(1, -1) };
  const url = line;
  const [, ...rest] = url.split(/[,;]/);
  if (rest.some((each) => findOrderSku(each.trim()))) {
    throw usage(`'${url}' holds a SKU beside the URL`, 'begin the manifest with the line: url,sku');
  }
  return { url };
}

/** As messages name it. */
export const manifestName = (file: string): string => (file === '-' ? 'stdin' : file);

async function readInput(file: string, stdin: NodeJS.ReadStream): Promise<Buffer> {
  let bytes: Buffer;
  try {
    bytes = file === '-' ? await readBytes(stdin, MAX_MANIFEST_BYTES) : await readFile(file);
  } catch (error) {
    const hint = /^https?:\/\//i.test(file)
      ? `it is a URL: fetch it first, with curl -fsS ${shellWord(file)} | steno order --from -`
      : undefined;
    throw usage(`can't read ${manifestName(file)}: ${errorMessage(error)}`, hint);
  }
  return checkUtf8(bytes, manifestName(file));
}

/** A plain file in one piece; a pipe or a device in parts, for its size is not known. */
async function readFile(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { size } = await handle.stat();
    if (size > 0 && size <= MAX_MANIFEST_BYTES) return await handle.readFile();
    return await readBytes(handle.createReadStream({ autoClose: false }), MAX_MANIFEST_BYTES);
  } finally {
    await handle.close();
  }
}
