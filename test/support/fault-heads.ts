/** Faults of what stands before the body: the status line, the headers, and what is no HTTP at all. */
import { setTimeout as sleep } from 'node:timers/promises';
import { broken, FORGED, good, headed, type KnownFault, lengths, sends, silent } from './fault-kinds.ts';
import { type Fault, response, whole } from './fault-proxy.ts';

const HTTP2_SETTINGS = Buffer.from('00000c04000000000000030000006400040000ffff', 'hex');

/** A peer that does not speak HTTP is not asked again. */
const notHttp = (name: string, bytes: Buffer | string): KnownFault =>
  broken(
    name,
    sends(() => bytes),
    false,
  );

const strangers: readonly KnownFault[] = [
  notHttp('other first bytes', 'XTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'),
  notHttp('NUL bytes', Buffer.alloc(64)),
  notHttp('a TLS alert', Buffer.from('15030300020246', 'hex')),
  notHttp('a TLS hello', Buffer.concat([Buffer.from('160303007a020000760303', 'hex'), Buffer.alloc(100, 7)])),
  notHttp('the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  notHttp('a frame of HTTP/2', HTTP2_SETTINGS),
  notHttp('HTTP/0.9', '{"balance":"1.00","message":"here it is"}'),
  notHttp('a mail server', '220 mail.example.com ESMTP\r\n'),
  notHttp('HTTP/3 in words', 'HTTP/3.0 200 OK\r\ncontent-length: 2\r\n\r\n{}'),
  ...['42 X', '042 X', '0 X', '000 X', '007', '1000 X', '20x OK', '-200 OK', ' 200 OK', ''].map((rest) =>
    notHttp(`status line ${JSON.stringify(rest)}`, `HTTP/1.1 ${rest}\r\ncontent-length: 2\r\n\r\n{}`),
  ),
  good(
    'HTTP/1.0 that ends with the connection',
    sends(headed(({ type }) => `HTTP/1.0 200 OK\r\ncontent-type: ${type}\r\n\r\n`)),
  ),
  good(
    'no reason phrase',
    sends(headed(({ type, body }) => `HTTP/1.1 200\r\ncontent-type: ${type}\r\n${lengths(body.length)}\r\n`)),
  ),
  good(
    'a long reason phrase',
    sends(({ good }) => response(`200 ${'well '.repeat(500)}`, { 'content-type': good.type }, good.body)),
  ),
];

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const after = (before: string): Fault['serve'] =>
  sends(({ good }) => Buffer.concat([Buffer.from(before), whole(good)]), 'keeps');

const informational: readonly KnownFault[] = [
  // undici ends the connection at a 100 or a 101 that it did not ask for.
  broken('a 100', after(CONTINUE)),
  good('a 102', after('HTTP/1.1 102 Processing\r\nx-a: b\r\n\r\n')),
  good('a 103', after('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')),
  broken('a 101', after('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')),
  good('many 1xx', after(`HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n`.repeat(500))),
  broken(
    'a 100 and no more',
    sends(() => CONTINUE),
  ),
  silent('1xx without end', ({ socket }) => {
    const more = setInterval(() => socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(50)), 5);
    socket.on('close', () => clearInterval(more));
  }),
];

const forged = response(
  '200 OK',
  { 'content-type': 'application/json' },
  JSON.stringify({ balance: FORGED }),
);

const smuggled: readonly KnownFault[] = [
  good(
    'a second answer at once',
    sends(({ good }) => Buffer.concat([whole(good), forged]), 'keeps'),
  ),
  good('a second answer soon', async ({ socket, good }) => {
    socket.write(whole(good));
    await sleep(5);
    socket.write(forged);
  }),
];

const header = (lines: string): Fault['serve'] =>
  sends(
    headed(
      ({ type, body }) => `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\n${lengths(body.length)}${lines}\r\n`,
    ),
  );

const headers: readonly KnownFault[] = [
  broken('a header of 200 kB', header(`x-a: ${'a'.repeat(200_000)}\r\n`)),
  broken('20,000 headers', header('x-a: bcdef\r\n'.repeat(20_000))),
  silent('headers without end', async ({ socket }) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const more = setInterval(() => socket.write('x-a: b\r\n'), 5);
    socket.on('close', () => clearInterval(more));
  }),
  broken('a NUL byte in a header', header('x-a: b\0c\r\n')),
  broken('a NUL byte in the name of a header', header('x\0a: b\r\n')),
  broken('a header without a colon', header('x-a\r\n')),
  broken('a folded header', header('x-a: b\r\n c\r\n')),
  good('a header that is not ASCII', header('x-a: b\u00fc\u009b31m\r\n')),
];

export const heads = [...strangers, ...informational, ...smuggled, ...headers];
