import type { IncomingMessage } from 'node:http';
import { Refusal } from './refusal.ts';

const MAX_BODY_BYTES = 1_000_000;
/** Read and dropped, because many clients read a 413 only after they have sent their whole body. */
const MAX_DRAINED_BYTES = 32_000_000;

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    if (length > MAX_DRAINED_BYTES) break;
  }
  if (length > MAX_BODY_BYTES) throw new Refusal(413, `The body is larger than ${MAX_BODY_BYTES} bytes.`);
  return Buffer.concat(chunks);
}
