/** Decodes a file that must be UTF-8; anything else is refused by name, never read with wrong letters. */
import { isUtf8 } from 'node:buffer';
import { StenoError, usage } from './errors.ts';
import { shellWord } from './text.ts';

interface Encoding {
  /** As people call it. */
  readonly name: string;
  /** As iconv calls it. */
  readonly iconv: string;
}

const encodings = {
  utf16le: { name: 'UTF-16 LE', iconv: 'UTF-16LE' },
  utf16be: { name: 'UTF-16 BE', iconv: 'UTF-16BE' },
  utf32: { name: 'UTF-32', iconv: 'UTF-32' },
  latin1: { name: 'Latin-1', iconv: 'ISO-8859-1' },
  windows: { name: 'Windows-1252', iconv: 'WINDOWS-1252' },
} as const satisfies Record<string, Encoding>;

/** `where` is the name of the file, or `stdin`. A byte order mark is left out. */
export const decodeUtf8 = (bytes: Buffer, where: string): string => checkUtf8(bytes, where).toString();

/** The bytes without a byte order mark, as they are. */
export function checkUtf8(bytes: Buffer, where: string): Buffer {
  if (startsWith(bytes, 'PK\u0003\u0004')) {
    const hint = 'save it as CSV in UTF-8';
    throw usage(`${where}, line 1: a spreadsheet or a zip file, not a text file`, hint);
  }
  const wide = wideEncoding(bytes);
  if (wide) throw notUtf8(where, 1, wide);
  const zero = bytes.indexOf(0);
  if (zero >= 0) {
    const line = lineEnds(bytes.subarray(0, zero)).length;
    throw usage(`${where}, line ${line}: it contains a zero byte, so this is not a text file`);
  }
  if (!isUtf8(bytes)) throw notUtf8(where, firstBadLine(bytes), narrowEncoding(bytes));
  return startsWith(bytes, '\u00ef\u00bb\u00bf') ? bytes.subarray(3) : bytes;
}

const startsWith = (bytes: Buffer, latin1: string): boolean =>
  bytes.toString('latin1', 0, latin1.length) === latin1;

/** UTF-16 and UTF-32, told by their byte order mark or by the zero bytes around Latin letters. */
function wideEncoding(bytes: Buffer): Encoding | undefined {
  const marks = ['\u00ff\u00fe\u0000\u0000', '\u0000\u0000\u00fe\u00ff'];
  if (marks.some((mark) => startsWith(bytes, mark))) return encodings.utf32;
  if (startsWith(bytes, '\u00ff\u00fe')) return encodings.utf16le;
  if (startsWith(bytes, '\u00fe\u00ff')) return encodings.utf16be;
  const sample = bytes.subarray(0, 1024);
  const zeros = { even: 0, odd: 0 };
  for (const [at, byte] of sample.entries()) if (byte === 0) zeros[at % 2 ? 'odd' : 'even'] += 1;
  const [many, few] = [sample.length / 5, sample.length / 50];
  if (zeros.odd > many && zeros.even <= few) return encodings.utf16le;
  if (zeros.even > many && zeros.odd <= few) return encodings.utf16be;
  return undefined;
}

/** The encoding of one byte a letter that it most likely is; nothing where some of it is UTF-8. */
function narrowEncoding(bytes: Buffer): Encoding | undefined {
  const ends = lineEnds(bytes);
  const isMixed = ends.some((end, at) => {
    const line = bytes.subarray(ends[at - 1] ?? 0, end);
    return isUtf8(line) && line.some((byte) => byte > 0x7f);
  });
  if (isMixed) return undefined;
  return bytes.some((byte) => byte >= 0x80 && byte < 0xa0) ? encodings.windows : encodings.latin1;
}

function firstBadLine(bytes: Buffer): number {
  const ends = lineEnds(bytes);
  return 1 + ends.findIndex((end, at) => !isUtf8(bytes.subarray(ends[at - 1] ?? 0, end)));
}

/** Where each line ends, its line break included. */
function lineEnds(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] === 0x0a || (bytes[at] === 0x0d && bytes[at + 1] !== 0x0a)) ends.push(at + 1);
  }
  ends.push(bytes.length);
  return ends;
}

function notUtf8(where: string, line: number, encoding: Encoding | undefined): Error {
  if (!encoding) {
    return usage(
      `${where}, line ${line} is not UTF-8, though other lines are`,
      'correct that line, or save the whole file as UTF-8',
    );
  }
  const command = `iconv -f ${encoding.iconv} -t UTF-8`;
  return usage(
    `${where} is not UTF-8 (it looks like ${encoding.name}): the first byte that can't be read is in line ${line}`,
    where === 'stdin'
      ? `pipe it through: ${command} |`
      : `save it as UTF-8, or: ${command} ${shellWord(where)} > ${shellWord(utf8Name(where))}`,
  );
}

const utf8Name = (file: string): string => file.replace(/(\.[^./\\]*)?$/, '.utf8$1');

/** The lines of a stream, one after the other: only \n ends one, and none is longer than `maxBytes`. */
export async function* linesOf(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  tooLong: (line: number) => Error,
): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let size = 0;
  let line = 1;
  const add = (part: Buffer): void => {
    size += part.length;
    if (size > maxBytes) throw tooLong(line);
    if (part.length) parts.push(part);
  };
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      add(bytes.subarray(from, end));
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
      line += 1;
      from = end + 1;
    }
    add(bytes.subarray(from));
  }
  if (size) yield Buffer.concat(parts);
}

/** Reads stdin to its end as text. */
export async function readAll(input: AsyncIterable<Buffer | string>, maxBytes: number): Promise<string> {
  return (await readBytes(input, maxBytes)).toString('utf8');
}

/** Reads a stream to its end. */
export async function readBytes(input: AsyncIterable<Buffer | string>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) throw new StenoError('usage', `it is larger than ${maxBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** A single item, for what reads items as they come. */
export async function* justOne<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}
