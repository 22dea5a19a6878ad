/** The text of a Word document: of its zip file only the one part that has the text, bounded in size. */
import { errorCode, StenoError } from '../lib/errors.ts';
import { bytesText } from '../lib/text.ts';
import { decodeEntities, type TextLine } from './page.ts';

const DOCUMENT = 'word/document.xml';
/** Markup is up to ten times its text. A thousand bytes of a zip file may stand for a megabyte. */
const MAX_UNPACKED_BYTES = 50_000_000;

const END_OF_DIRECTORY = Buffer.from('PK\u0005\u0006');
const ENTRY = 0x02014b50;
const FILE = 0x04034b50;
const ENCRYPTED = 1;
const [STORED, DEFLATED] = [0, 8];

/** One line for each line of a paragraph; its number is that of the paragraph. */
export function docxLines(bytes: Buffer, path: string): TextLine[] {
  return linesOf(unpack(bytes, path).toString());
}

const failed = (message: string, cause?: unknown): StenoError => new StenoError('failed', message, { cause });

function unpack(bytes: Buffer, path: string): Buffer {
  try {
    const { method, packed } = findDocument(bytes, path);
    if (method === STORED) return packed;
    if (method !== DEFLATED) throw failed(`${path} is compressed in a way that no Word document is`);
    // Speed: loaded on first use, because few transcripts need it.
    const { inflateRawSync } = process.getBuiltinModule('node:zlib');
    return inflateRawSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (error) {
    if (error instanceof StenoError) throw error;
    if (errorCode(error) === 'ERR_BUFFER_TOO_LARGE')
      throw failed(
        `${path} unpacks to more than ${bytesText(MAX_UNPACKED_BYTES)}, too large for a transcript`,
        error,
      );
    throw failed(`${path} is damaged: this Word document can't be unpacked`, error);
  }
}

/** Throws a RangeError where the file ends too early. */
function findDocument(bytes: Buffer, path: string): { method: number; packed: Buffer } {
  const end = bytes.lastIndexOf(END_OF_DIRECTORY);
  if (end < 0) throw failed(`${path} is not a Word document`);
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0 && bytes.readUInt32LE(at) === ENTRY; left -= 1) {
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28);
    if (bytes.toString('utf8', at + 46, nameEnd) === DOCUMENT) {
      if (bytes.readUInt16LE(at + 8) & ENCRYPTED) throw failed(`${path} has a password`);
      const file = bytes.readUInt32LE(at + 42);
      if (bytes.readUInt32LE(file) !== FILE) throw new RangeError('no file where the directory has one');
      const start = file + 30 + bytes.readUInt16LE(file + 26) + bytes.readUInt16LE(file + 28);
      const size = bytes.readUInt32LE(at + 20);
      if (start + size > bytes.length) throw new RangeError('the file ends too early');
      return { method: bytes.readUInt16LE(at + 10), packed: bytes.subarray(start, start + size) };
    }
    at = nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
  }
  throw failed(`${path} is a zip file, but not a Word document`);
}

/** mc:Fallback repeats for old programs what stands before it, w:moveFrom what was moved elsewhere. */
const element =
  /<(\/?)(w:p|w:t|w:tab|w:br|w:cr|w:noBreakHyphen|mc:Fallback|w:moveFrom)((?:\s[^<>]*)?\/?)>([^<]*)/g;
/** What stands for a character of the text. */
const characters = new Map([
  ['w:tab', '\t'],
  ['w:br', '\n'],
  ['w:cr', '\n'],
  ['w:noBreakHyphen', '-'],
]);

/** With entities in place of marked sections. Speed: none is looked for after the last end of one. */
function withoutCdata(xml: string): string {
  const end = xml.lastIndexOf(']]>') + 3;
  const asEntities = (said: string): string => said.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return xml.slice(0, end).replace(/<!\[CDATA\[(.*?)\]\]>/gs, (_, said) => asEntities(said)) + xml.slice(end);
}

function linesOf(xml: string): TextLine[] {
  const paragraphs = [''];
  let isRepeated = false;
  for (const [, slash, name = '', more = '', said = ''] of withoutCdata(xml).matchAll(element)) {
    const isOpen = slash === '' && !more.endsWith('/');
    if (name === 'mc:Fallback' || name === 'w:moveFrom') isRepeated = isOpen;
    else if (isRepeated || slash) continue;
    else if (name === 'w:p') paragraphs.push('');
    else paragraphs[paragraphs.length - 1] += characters.get(name) ?? (isOpen ? decodeEntities(said) : '');
  }
  return paragraphs.flatMap((text, line) =>
    [...text.split('\n'), ''].map((each) => ({ line, text: each.trim() })),
  );
}
