import { StenoError } from './errors.ts';

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
    if (size > maxBytes) throw new StenoError('usage', `more than ${maxBytes} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** A single item, for what reads items as they come. */
export async function* justOne<Item>(item: Item): AsyncGenerator<Item> {
  yield item;
}
