/** Sends events over so many connections, each the next as soon as the last was answered: <url> <events> <first id>. */
import { connect, type Socket } from 'node:net';

const CONNECTIONS = 64;
const [address = '', events = '0', first = '0'] = process.argv.slice(2);
const { hostname, port, pathname } = new URL(address);
const [total, from] = [Number(events), Number(first)];

let sent = 0;
let answered = 0;
let refused = 0;
const waits = new Float64Array(total);

function request(): string {
  const id = from + sent;
  const body = `webhook_version=4&event=TRANSCRIPT_COMPLETE&audiofile=${id}&order=o${id}&originallink=https%3A%2F%2Fexample.com%2Ftalks%2F${id}.mp3`;
  return `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

function converse(socket: Socket): void {
  let came = '';
  let started = 0;
  const next = (): void => {
    if (sent >= total) return void socket.end();
    started = performance.now();
    socket.write(request());
    sent += 1;
  };
  socket.setNoDelay(true).setEncoding('latin1');
  socket.on('data', (chunk: string) => {
    came += chunk;
    if (!isWhole(came)) return;
    waits[answered] = performance.now() - started;
    answered += 1;
    if (!came.startsWith('HTTP/1.1 200')) refused += 1;
    came = '';
    next();
  });
  next();
}

/** Whether an answer is there with all of its body. */
function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const head = text.slice(0, end);
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return text.endsWith('0\r\n\r\n');
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  return text.length >= end + 4 + length;
}

const sockets = await Promise.all(
  Array.from(
    { length: CONNECTIONS },
    () =>
      new Promise<Socket>((done, failed) => {
        const socket = connect({ host: hostname, port: Number(port) }, () => done(socket)).on(
          'error',
          failed,
        );
      }),
  ),
);
const started = performance.now();
for (const socket of sockets) converse(socket);
await Promise.all(sockets.map((socket) => new Promise((done) => socket.on('close', done))));
const took = performance.now() - started;
const p99 = waits.subarray(0, answered).sort()[Math.floor(answered * 0.99)] ?? 0;
process.stdout.write(`${JSON.stringify({ answered, refused, took, p99 })}\n`);
