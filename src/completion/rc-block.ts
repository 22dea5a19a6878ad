/**
 * A block of lines of ours in a file that belongs to a person. It is found by its marks, and taking it out gives the
 * file back as it was, to the byte: what had to be added besides is said in the first mark.
 */
import { usage } from '../lib/errors.ts';

const BEGIN = '# >>> steno completion';
const END = '# <<< steno completion <<<';
const NEW_FILE = ', which made this file';
const NEW_LINE = ', which ended the line above';

/** Windows PowerShell writes its profile in UTF-16. */
type Encoding = 'latin1' | 'utf16le';

const BOM = '\ufeff';

/** The file with the block, at its end or where it was; the same file if that changes nothing. */
export function withBlock(file: Buffer | undefined, lines: readonly string[]): Buffer {
  const text = file ? decode(file) : '';
  const encoding = file ? encodingOf(file) : 'latin1';
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  const found = findBlock(text);
  const isOpen = text !== '' && text !== BOM && !text.endsWith('\n');
  const made = file ? '' : NEW_FILE;
  const note = found ? found.note : made + (isOpen ? NEW_LINE : '');
  const block = [`${BEGIN}${note} >>>`, ...lines.map((line) => encodable(line, encoding)), END, ''].join(
    lineEnd,
  );
  if (found) return encode(text.slice(0, found.start) + block + text.slice(found.end), encoding);
  return encode(`${text}${isOpen ? lineEnd : ''}${block}`, encoding);
}

/** The file without the block: undefined if it was made for it, the same file if it has none. */
export function withoutBlock(file: Buffer): Buffer | undefined {
  const text = decode(file);
  const found = findBlock(text);
  if (!found) return file;
  const after = text.slice(found.end);
  let before = text.slice(0, found.start);
  // Where something follows, the line must stay ended.
  if (found.note.includes(NEW_LINE) && after === '') before = before.replace(/\r?\n$/, '');
  if (found.note.includes(NEW_FILE) && before + after === '') return undefined;
  return withoutBlock(encode(before + after, encodingOf(file)));
}

export const hasBlock = (file: Buffer): boolean => findBlock(decode(file)) !== undefined;

interface Found {
  readonly start: number;
  readonly end: number;
  readonly note: string;
}

function findBlock(text: string): Found | undefined {
  const begin = new RegExp(`^${BEGIN}(.*) >>>\\r?$`, 'm').exec(text.replace(BOM, '\n'));
  if (!begin) return undefined;
  const start = begin.index;
  const endMark = text.indexOf(END, start);
  if (endMark < 0)
    throw usage(
      `the lines of steno have no end: '${END}' is missing`,
      'take them out by hand, from the line with >>>',
    );
  const lineEnd = text.indexOf('\n', endMark);
  return { start, end: lineEnd < 0 ? text.length : lineEnd + 1, note: begin[1] ?? '' };
}

function encodingOf(file: Buffer): Encoding {
  if (file[0] === 0xfe && file[1] === 0xff)
    throw usage('the file is UTF-16 with its bytes swapped', 'save it as UTF-8');
  return file[0] === 0xff && file[1] === 0xfe ? 'utf16le' : 'latin1';
}

/** As latin1, every byte of UTF-8, or of anything else, stays what it is. */
const decode = (file: Buffer): string => file.toString(encodingOf(file));

const encode = (text: string, encoding: Encoding): Buffer => Buffer.from(text, encoding);

const encodable = (line: string, encoding: Encoding): string =>
  encoding === 'latin1' ? Buffer.from(line).toString('latin1') : line;
