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
