import type { Readable } from 'node:stream';
import { StenoError } from '../errors.ts';
import type { Response } from './transport.ts';

const decoders = {
  gzip: 'createGunzip',
  'x-gzip': 'createGunzip',
  deflate: 'createInflate',
  br: 'createBrotliDecompress',
} as const;

/** The body without its transfer coding: nobody asked for one, but it may come all the same. */
export async function plainBody(response: Response): Promise<Readable> {
  const coding = (response.headers['content-encoding'] ?? '').toLowerCase();
  if (!(coding in decoders)) return response.body;
  const zlib = await import('node:zlib');
  const decoder = zlib[decoders[coding as keyof typeof decoders]]();
  response.body.on('error', (error) => decoder.destroy(error));
  return response.body.pipe(decoder);
}

/** The beginning of a text of any length. */
export async function readStart(response: Response, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of await plainBody(response)) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size >= limit) break;
    }
  } catch {
    // What came before it broke off may still say something.
  }
  return Buffer.concat(chunks).toString('utf8', 0, limit);
}

export const readText = async (response: Response, limit: number): Promise<string> =>
  (await readBytes(response, limit)).toString('utf8');

export async function readBytes(response: Response, limit: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of await plainBody(response)) {
    size += (chunk as Buffer).length;
    if (size > limit) throw new StenoError('failed', `the answer is larger than ${limit / 1024 / 1024} MB`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
}
