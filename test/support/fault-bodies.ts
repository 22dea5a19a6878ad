/** Faults of the body: its length, its chunks, and what stands in it. */
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import {
  type BodyKind,
  broken,
  FORGED,
  good,
  headed,
  type KnownFault,
  lengths,
  sends,
} from './fault-kinds.ts';
import { type Fault, response, whole } from './fault-proxy.ts';

const cut: readonly KnownFault[] = [
  broken(
    'half a status line',
    sends(() => 'HTTP/1.1 20'),
  ),
  broken(
    'a status line and no more',
    sends(() => 'HTTP/1.1 200 OK\r\n'),
  ),
  broken(
    'half the headers',
    sends(() => 'HTTP/1.1 200 OK\r\ncontent-type: appl'),
  ),
  broken(
    'half the body',
    sends(({ good }) => whole(good).subarray(0, -9)),
  ),
  broken(
    'half the body, then reset',
    sends(({ good }) => whole(good).subarray(0, -9), 'resets'),
  ),
  broken(
    'a length that is too long',
    sends(headed(({ body }) => `HTTP/1.1 200 OK\r\n${lengths(body.length + 9)}\r\n`)),
  ),
  {
    name: 'a length that is too short',
    serve: sends(headed(({ type }) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${lengths(12)}\r\n`)),
    effect: { kind: 'body', body: 'the first bytes alone' },
  },
  ...['-5', 'five', '0x20', '5, 5', '99999999999999999999999', '5\r\ncontent-length: 6'].map((value) =>
    broken(
      `length ${JSON.stringify(value)}`,
      sends(headed(() => `HTTP/1.1 200 OK\r\n${lengths(value)}\r\n`)),
    ),
  ),
];

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n';
const chunk = (body: Buffer): string => `${body.length.toString(16)}\r\n${body.toString('latin1')}\r\n`;
const chunked = (text: (body: Buffer) => string, headers = ''): Fault['serve'] =>
  sends(({ good }) => {
    const type = `content-type: ${good.type}\r\n`;
    return Buffer.from(`${CHUNKED}${type}${headers}\r\n${text(good.body)}`, 'latin1');
  });

const chunks: readonly KnownFault[] = [
  good(
    'good chunks',
    chunked((body) => `${chunk(body.subarray(0, 7))}${chunk(body.subarray(7))}0\r\n\r\n`),
  ),
  good(
    'chunks with a trailer and garbage behind them',
    chunked((body) => `${chunk(body)}0\r\nx-sum: 1\r\n\r\ngarbage${FORGED}`),
  ),
  broken(
    'a chunk size that is none',
    chunked((body) => `zz\r\n${body.toString('latin1')}\r\n0\r\n\r\n`),
  ),
  broken(
    'a chunk size that is negative',
    chunked((body) => `-5\r\n${body.toString('latin1')}\r\n0\r\n\r\n`),
  ),
  broken(
    'a chunk size without bounds',
    chunked((body) => `fffffffffffffffffffff\r\n${body.toString('latin1')}`),
  ),
  broken(
    'a chunk that is longer than its size',
    chunked((body) => `5\r\n${body.toString('latin1')}\r\n0\r\n\r\n`),
  ),
  broken(
    'chunks without an end',
    chunked((body) => chunk(body)),
  ),
  broken(
    'chunks without an end, on a connection that closes',
    chunked((body) => chunk(body), 'connection: close\r\n'),
  ),
  broken(
    'chunks and a length',
    chunked((body) => `${chunk(body)}0\r\n\r\n`, lengths(5)),
  ),
  // The last coding is not chunked, so the body ends with the connection; only its content tells that it is plain.
  good(
    'another transfer encoding',
    sends(
      headed(
        ({ type }) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked, gzip\r\n\r\n`,
      ),
    ),
  ),
];

const bodyFault = (name: string, kind: BodyKind, serve: Fault['serve']): KnownFault => ({
  name: `200 with ${name}`,
  serve,
  effect: { kind: 'body', body: kind },
});

const json = (body: string | Buffer, more: Readonly<Record<string, string>> = {}): Fault['serve'] =>
  sends(() => response('200 OK', { 'content-type': 'application/json', ...more }, body), 'keeps');

/** More than is read of any answer, also where it is packed small. */
const hugeStart = '{"message":"';
const packedBomb = gzipSync(Buffer.concat([Buffer.from(hugeStart), Buffer.alloc(80 << 20, 'a')]));

const contents: readonly KnownFault[] = [
  bodyFault('nothing', 'nothing', json('')),
  bodyFault('white space', 'white space', json(' \r\n\t ')),
  {
    ...bodyFault(
      '204',
      'nothing',
      sends(() => 'HTTP/1.1 204 No Content\r\n\r\n', 'keeps'),
    ),
    name: 'status 204',
  },
  bodyFault('{}', 'an empty object', json('{}')),
  bodyFault(
    'a page',
    'a page',
    sends(() => response('200 OK', { 'content-type': 'text/html' }, '<html><h1>Log in</h1></html>'), 'keeps'),
  ),
  bodyFault('half a document', 'half a document', json('{"message":"here it is","order":"0')),
  ...['null', '[]', '[null]'].map((body) => bodyFault(body, 'empty JSON', json(body))),
  ...['true', '42'].map((body) => bodyFault(body, 'a bare value', json(body))),
  bodyFault('100,000 brackets', 'half a document', json('['.repeat(100_000))),
  bodyFault('70 MB', 'too much', ({ socket }) => {
    const length = lengths(hugeStart.length + (70 << 20));
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n${length}\r\n${hugeStart}`);
    Readable.from(Array.from({ length: 70 }, () => Buffer.alloc(1 << 20, 'a'))).pipe(socket);
  }),
  bodyFault('80 MB in gzip', 'too much', json(packedBomb, { 'content-encoding': 'gzip' })),
  bodyFault(
    'gzip that is none',
    'what is not as packed as it says',
    json('{"message":"here it is"}', { 'content-encoding': 'gzip' }),
  ),
  bodyFault(
    'half of a gzip',
    'what is not as packed as it says',
    sends(
      ({ good }) => response('200 OK', { 'content-encoding': 'gzip' }, gzipSync(good.body).subarray(0, -9)),
      'keeps',
    ),
  ),
  bodyFault(
    'an unknown packing',
    'an unknown packing',
    json(Buffer.from('28b52ffd04005900007b7d0a', 'hex'), { 'content-encoding': 'zstd' }),
  ),
  good(
    'good gzip',
    sends(
      ({ good }) =>
        response('200 OK', { 'content-type': good.type, 'content-encoding': 'gzip' }, gzipSync(good.body)),
      'keeps',
    ),
  ),
];

export const bodies = [...cut, ...chunks, ...contents];
