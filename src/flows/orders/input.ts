import { createReadStream } from 'node:fs';
import { errorMessage, usage } from '../../lib/errors.ts';
import { readBytes } from '../../lib/streams.ts';
import { decodeUtf8 } from '../../lib/utf8.ts';

const MAX_NOTES_BYTES = 1024 * 1024;

/** Notes from the command line, a file or stdin. */
export async function readNotes(
  notes: string | undefined,
  file: string | undefined,
  stdin: NodeJS.ReadStream,
): Promise<string | undefined> {
  if (file === undefined) return notes;
  let bytes: Buffer;
  try {
    bytes = await readBytes(file === '-' ? stdin : createReadStream(file), MAX_NOTES_BYTES);
  } catch (error) {
    throw usage(`can't read the notes from ${file}: ${errorMessage(error)}`);
  }
  return decodeUtf8(bytes, file === '-' ? 'stdin' : file).replace(/\s+$/, '');
}

/** Parameters that have a flag of their own. */
const flagsOfParams: Readonly<Record<string, string>> = {
  api_key: '--api-key',
  url: 'the argument <url>',
  sku: '--sku',
  test: '--test',
  notes: '--notes',
  name: '--name',
  names: '--name',
};

/** `key=value` pairs for parameters that the API document does not list. */
export function parseParams(params: readonly string[]): Array<[string, string]> {
  return params.map((param) => {
    const at = param.indexOf('=');
    const key = param.slice(0, Math.max(at, 0));
    if (at < 1 || /[\s\u0000-\u001f]/.test(key))
      throw usage(`'${param}' is not key=value`, 'write it like --param title=Talk');
    if (Object.hasOwn(flagsOfParams, key))
      throw usage(`${key} is not for --param`, `use ${flagsOfParams[key]}`);
    return [key, param.slice(at + 1)];
  });
}
