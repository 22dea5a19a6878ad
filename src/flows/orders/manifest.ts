/** Reads a manifest: one URL a line, CSV with a header, or JSON lines. A wrong line is an error for the whole. */

import { createReadStream } from 'node:fs';
import { checkId, scalar } from '../../api/decode.ts';
import { findOrderSku } from '../../catalog/skus.ts';
import { errorCode, StenoError, systemReason, usage } from '../../lib/errors.ts';
import { decodeUtf8, readBytes } from '../../lib/lines.ts';
import { oneLine, shellWord } from '../../lib/text.ts';
import {
  type Cells,
  fromCsv,
  fromJson,
  headerMissing,
  isCsvHeader,
  isQuotedUrl,
  lacksHeader,
  type OnLine,
  type OnRow,
  parseObject,
  placeText,
  type Row,
  readCsv,
  rowAt,
  SEPARATOR,
  withPosition,
} from './manifest-formats.ts';

const MAX_MANIFEST_BYTES = 256 * 1024 * 1024;

/** Hands on each row as it is read: a manifest may have a million. */
export async function readManifest(
  file: string,
  stdin: NodeJS.ReadStream,
  onRow: OnRow,
  ignoreColumns: boolean,
): Promise<void> {
  let rows = 0;
  const wrong = new WrongLines();
  const addRow: OnLine = (read, line) => {
    rows += 1;
    wrong.attempt(() => onRow(read(), line));
  };
  await readRows(await readInput(file, stdin), manifestName(file), addRow, ignoreColumns);
  wrong.throwAny();
  if (rows === 0) throw usage(`${manifestName(file)} contains no URL`);
}

const MAX_WRONG_LINES = 10;

/** All lines are read before one is refused: who corrects a manifest wants to know of more than the first. */
class WrongLines {
  readonly #errors: StenoError[] = [];

  attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof StenoError) || error.kind !== 'usage') throw error;
      this.#errors.push(error);
      if (this.#errors.length > MAX_WRONG_LINES) this.throwAny();
    }
  }

  throwAny(): void {
    const [first, ...others] = this.#errors.slice(0, MAX_WRONG_LINES);
    if (!first) return;
    const isCut = this.#errors.length > MAX_WRONG_LINES;
    const more = [
      ...others.map(({ message }) => message),
      ...(isCut ? ['further lines are invalid too'] : []),
    ];
    const isForAll = others.every(({ hint }) => hint === first.hint);
    const hint = isForAll ? first.hint : hintsByLine([first, ...others]);
    throw new StenoError('usage', first.message, { hint, more });
  }
}

/** Each hint once, with the first line that it is for. */
function hintsByLine(errors: readonly StenoError[]): string {
  const lines = new Map<string, string>();
  for (const { hint, message } of errors)
    if (hint && !lines.has(hint)) lines.set(hint, message.split(': ', 1)[0] ?? '');
  return [...lines].map(([hint, line]) => `for ${line}: ${hint}`).join('; ');
}

export async function givenIds(
  command: string,
  args: readonly string[],
  from: string | undefined,
  stdin: NodeJS.ReadStream,
): Promise<string[]> {
  if (args.length === 0 && from === undefined) {
    const known =
      command === 'upgrade'
        ? 'for a file: steno upgrade <id> --sku UPGRD2; to update steno itself, install it again'
        : 'list your files: steno files';
    throw usage(`${command} requires an id or --from`, `${known}; see: steno ${command} --help`);
  }
  const listed = from === undefined ? [] : await readIds(from, stdin);
  return [...new Set([...args, ...listed].map(checkId))];
}

export async function readList(file: string, stdin: NodeJS.ReadStream): Promise<Omit<Line, 'start'>[]> {
  return fieldsOf(await readInput(file, stdin));
}

const fieldsOf = (text: string): Omit<Line, 'start'>[] =>
  Array.from(contentLines(text), ({ text: row, line }) => ({ text: firstField(row), line }));

const firstField = (row: string): string => row.split('\t', 1)[0]?.trim() ?? '';

const isAudiofile = (name: string): boolean => /^\s*"?audiofile"?\s*$/i.test(name);

/** Ids from such a list, from CSV whose header names `audiofile`, or from JSON lines with `audiofile`. */
async function readIds(file: string, stdin: NodeJS.ReadStream): Promise<string[]> {
  const where = manifestName(file);
  const text = await readInput(file, stdin);
  const ids: string[] = [];
  const add = (id: string, line: number): void => {
    if (/^$|[\s"{}[\],]/.test(id))
      throw usage(
        `${placeText(where, line)}: '${oneLine(id, 60)}' is not an id`,
        'a list has one id per line, as printed by: steno files --quiet',
      );
    ids.push(id);
  };
  const [first] = contentLines(text);
  if (first?.text.split(SEPARATOR).some(isAudiofile)) {
    let column = -1;
    await readCsv(text.slice(first.start), { where, line: first.line }, (record, line) => {
      if (column >= 0) add(record[column] ?? '', line);
      else column = record.findIndex(isAudiofile);
    });
    return ids;
  }
  if (first && /^[[{]/.test(first.text))
    for (const { text: row, line } of contentLines(text)) add(idOf(row, placeText(where, line)), line);
  else for (const { text: field, line } of fieldsOf(text)) add(field, line);
  return ids;
}

const idOf = (line: string, at: string): string =>
  withPosition(at, () => scalar(parseObject(line).get('audiofile')) ?? '');

export async function parseManifest(given: string, where: string): Promise<Row[]> {
  const rows: Row[] = [];
  await readRows(given.replace(/\r\n?/g, '\n'), where, (read) => rows.push(read()), false);
  return rows;
}

/** `where` is the name of the file, for messages; one that ends in .csv is never a plain list. */
async function readRows(text: string, where: string, onLine: OnLine, ignoreColumns: boolean): Promise<void> {
  const [first] = contentLines(text);
  if (!first) return;
  const isJsonLines = /^[[{]/.test(first.text);
  if (!isJsonLines && isCsvHeader(first.text))
    return fromCsv(text.slice(first.start), { where, line: first.line }, onLine, ignoreColumns);
  if (!isJsonLines && lacksHeader(where, contentLines(text)))
    throw headerMissing(placeText(where, first.line));
  const read = isJsonLines ? fromJson : fromPlain;
  // Where the first line is no object, JSON is spread over lines, and all of them are wrong.
  if (isJsonLines) rowAt({ where, line: first.line }, () => fromJson(first.text, ignoreColumns));
  // Past its first line, only a plain list has comments: in CSV and JSON a `#` is part of what is ordered.
  for (const { line, text: each } of isJsonLines ? lines(text) : contentLines(text))
    if (line >= first.line) onLine(() => rowAt({ where, line }, () => read(each, ignoreColumns)), line);
}

interface Line {
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

function fromPlain(line: string): Cells {
  if (isQuotedUrl(line)) return { url: line.slice(1, -1) };
  const url = line;
  const [, ...rest] = url.split(/[,;]/);
  if (rest.some((each) => findOrderSku(each.trim()))) {
    throw usage(`'${url}' has a SKU after the URL`, 'start the manifest with the line: url,sku');
  }
  return { url };
}

export const manifestName = (file: string): string => (file === '-' ? 'stdin' : file);

function inputHint(file: string, error: unknown): string | undefined {
  if (/^https?:\/\//i.test(file))
    return `it is a URL; fetch it first: curl -fsS ${shellWord(file)} | steno order --from -`;
  return errorCode(error) === 'EISDIR'
    ? `to order the audio in it: steno order ${shellWord(file)} --sku TRANS14`
    : undefined;
}

/** With a line feed alone at the end of each line. */
async function readInput(file: string, stdin: NodeJS.ReadStream): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readBytes(file === '-' ? stdin : createReadStream(file), MAX_MANIFEST_BYTES);
  } catch (error) {
    throw usage(`can't read ${manifestName(file)}: ${systemReason(error)}`, inputHint(file, error));
  }
  return decodeUtf8(bytes, manifestName(file)).replace(/\r\n?/g, '\n');
}
