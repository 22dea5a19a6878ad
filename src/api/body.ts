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

export async function readText(response: Response, limit: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of await plainBody(response)) {
    size += (chunk as Buffer).length;
    if (size > limit) throw new StenoError('failed', `the answer is larger than ${limit / 1024 / 1024} MB`);
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString('utf8');
}
