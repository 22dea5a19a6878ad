import { StenoError } from './errors.ts';

/** Reads a stream to its end as text, up to a limit. */
export async function readAll(input: AsyncIterable<Buffer | string>, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > limit) throw new StenoError('usage', `more than ${limit} bytes on stdin`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
