/**
 * The service, as fast as may be: just enough of the API for the benchmark. Below /<size>/ transcripts have that size in
 * bytes, and below /<size>-<ms>/ they also take that number of milliseconds.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const CHUNK = 2 ** 20;
const line = 'Speaker 1: And so it goes on, line after line, as long as anybody listens.\n';
const text = Buffer.from(line.repeat(Math.ceil(CHUNK / line.length)).slice(0, CHUNK));
const whole = new Map<number, Buffer>();
/** Longer ones are never held whole. */
const LONGEST_HELD = 2 ** 25;

const transcript = /^\/(\d+)(?:-(\d+))?\/API4\/audiofile\/\d+\/transcript\./;
const file = /^\/API4\/audiofile\/(\d+)\?/;
let lastId = 10_000_000;

const server = createServer((request, response) => {
  request.resume().on('end', () => answer(request.url ?? '', response));
});
server.keepAliveTimeout = 600_000;
server.listen(0, '127.0.0.1', () => {
  process.stderr.write(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`);
});

function answer(url: string, response: ServerResponse): void {
  const [, size, waits] = transcript.exec(url) ?? [];
  if (size === undefined) sendJson(response, document(url));
  else if (waits === undefined) sendText(response, Number(size));
  else setTimeout(() => sendText(response, Number(size)), Number(waits));
}

function document(url: string): object | undefined {
  const id = file.exec(url)?.[1];
  if (id !== undefined) {
    const audiofile = { id: Number(id), statename: 'Delivered', title: `Talk ${id}`, duration: '12' };
    return { audiofile, message: 'ok' };
  }
  if (url.startsWith('/API4/prepay_balance')) return { balance: '100.00', message: 'ok' };
  if (!url.startsWith('/API4/order_url')) return undefined;
  lastId += 1;
  return { order: `n${lastId}`, audiofiles: [lastId], message: 'ok' };
}

function sendJson(response: ServerResponse, body: object | undefined): void {
  const bytes = JSON.stringify(body ?? { message: 'no such thing' });
  response.writeHead(body ? 200 : 404, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(bytes),
  });
  response.end(bytes);
}

function sendText(response: ServerResponse, size: number): void {
  response.writeHead(200, { 'content-type': 'text/plain', 'content-length': size });
  if (size <= LONGEST_HELD) response.end(held(size));
  else pour(response, size);
}

function held(size: number): Buffer {
  const made = whole.get(size) ?? Buffer.alloc(size, text);
  whole.set(size, made);
  return made;
}

function pour(response: ServerResponse, left: number): void {
  let more = true;
  while (left > 0 && more) {
    more = response.write(text.subarray(0, Math.min(CHUNK, left)));
    left -= Math.min(CHUNK, left);
  }
  if (left > 0) response.once('drain', () => pour(response, left));
  else response.end();
}
