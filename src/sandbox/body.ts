import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

const MOST_BYTES = 1_000_000;
/** A client reads its 413 only after it has sent all, so some excess is read and thrown away. */
const MOST_PATIENCE = 32_000_000;

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MOST_BYTES) chunks.push(chunk);
    if (length > MOST_PATIENCE) break;
  }
  if (length > MOST_BYTES) throw new Refusal(413, `The body is larger than ${MOST_BYTES} bytes.`);
  return Buffer.concat(chunks);
}
