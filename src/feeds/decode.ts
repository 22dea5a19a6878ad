/** Turns the bytes of a feed into text: by byte order mark, then what the server and the feed itself say. */
import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { usage } from '../lib/errors.ts';
import { oneLine } from '../lib/text.ts';

/** `contentType` is the server's; a file has none. */
export function decodeFeed(bytes: Buffer, contentType: string, where: string): string {
  return decoderFor(bytes, contentType, where).decode(bytes);
}

function decoderFor(bytes: Buffer, contentType: string, where: string): TextDecoder {
  const wide = wideEncoding(bytes);
  if (wide) return new TextDecoder(wide);
  const named = [charsetIn(contentType), encodingIn(bytes)].filter((name) => name !== undefined);
  // A server's default may be wrong, but bytes beyond ASCII are valid UTF-8 only on purpose.
  const mayBeUtf8 = named.length === 0 || named.some((name) => /^utf-?8$/i.test(name));
  if (mayBeUtf8 && isUtf8(bytes)) return new TextDecoder();
  // The first bytes were read as one byte a letter, so it is no UTF-16, whatever it says.
  const narrow = named.filter((name) => !/^(?:utf-?16|ucs-2|iso-10646)/i.test(name));
  const [decoder] = narrow.flatMap((name) => knownDecoder(name));
  const [unknown] = narrow;
  if (decoder || unknown === undefined) return decoder ?? new TextDecoder();
  throw usage(`${where} is written in an encoding that is not known: ${oneLine(unknown, 40)}`);
}

/** UTF-16, by its mark or by the zeros around `<` and what follows it. */
function wideEncoding(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 4);
  if (start.startsWith('\u00ff\u00fe') || /^<\0[^\0]\0$/.test(start)) return 'utf-16le';
  if (start.startsWith('\u00fe\u00ff') || /^\0<\0[^\0]$/.test(start)) return 'utf-16be';
  return start.startsWith('\u00ef\u00bb\u00bf') ? 'utf-8' : undefined;
}

const charsetIn = (contentType: string): string | undefined =>
  /;\s*charset\s*=\s*["']?([\w.:-]{1,60})/i.exec(contentType.slice(0, 1_000))?.[1];

/** `<?xml version="1.0" encoding="ISO-8859-1"?>` */
const encodingIn = (bytes: Buffer): string | undefined =>
  /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,60})["']/i.exec(bytes.toString('latin1', 0, 1_024))?.[1];

function knownDecoder(name: string): TextDecoder[] {
  try {
    return [new TextDecoder(name)];
  } catch {
    return [];
  }
}
