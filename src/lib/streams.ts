import { StenoError } from './errors.ts';

/** Reads stdin to its end as text. */
export async function readAll(input: AsyncIterable<Buffer | string>, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > maxBytes) throw new StenoError('usage', `more than ${maxBytes} bytes on stdin`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
