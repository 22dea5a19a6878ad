/** How much of a machine unauthenticated clients can take through the receiver: memory and connections are bounded. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { makeCertificate } from '../support/certificate.ts';
import { complete, eventsOf, FORM, Listener } from '../support/listener.ts';
import { peakMemoryOf, tellsMemory } from '../support/memory.ts';
import { User } from '../support/steno.ts';

const MEGABYTE = 1024 * 1024;
const head = (...lines: string[]): string =>
  ['POST / HTTP/1.1', 'host: x', `content-type: ${FORM}`, ...lines, '', ''].join('\r\n');
const CHUNKED = head('transfer-encoding: chunked');

const sockets: Client[] = [];

afterEach(() => {
  for (const { socket } of sockets.splice(0)) socket.destroy();
});

/** A client that sends what a test wants, and keeps what it is answered. */
class Client {
  readonly socket: Socket;
  answer = '';

  constructor(port: number, ...parts: Array<string | Buffer>) {
    this.socket = connect(port, '127.0.0.1');
    for (const part of parts) this.socket.write(part);
    this.socket.on('data', (chunk) => {
      this.answer += chunk.toString('latin1');
    });
    this.socket.on('error', () => {});
    sockets.push(this);
  }

  get isClosed(): boolean {
    return this.socket.closed || this.socket.destroyed;
  }

  get status(): string | undefined {
    return /^HTTP\/1\.1 (\d+)/.exec(this.answer)?.[1];
  }
}

/** How far its memory has ever gone above what it had when it was ready. */
async function growthOf(listener: Listener, work: () => Promise<void>): Promise<number> {
  await listener.post(complete('first'));
  const before = peakMemoryOf(listener.child.pid);
  await work();
  return peakMemoryOf(listener.child.pid) - before;
}

describe.runIf(tellsMemory)('the memory of the receiver', () => {
  it('does not grow with the number of chunks: who sends many small ones is cut off', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--quiet']);
    const chunks = Buffer.from('1\r\na\r\n'.repeat(100_000));
    const grown = await growthOf(listener, async () => {
      const senders = Array.from(
        { length: 8 },
        () => new Client(listener.port, CHUNKED, ...Array.from({ length: 10 }, () => chunks)),
      );
      await listener.until(() => senders.every(({ isClosed }) => isClosed));
      for (const { status = '400' } of senders) expect(status).toBe('400');
    });
    expect(grown).toBeLessThan(60 * MEGABYTE);
    expect((await listener.post(complete('last'))).status).toBe(200);
    expect((await eventsOf(user)).map(({ audiofile }) => audiofile)).toEqual(['last', 'first']);
  });

  it('is bounded over all bodies that are under way; the largest give way to an event', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--quiet']);
    const almost = Buffer.alloc(MEGABYTE - 1, 'a');
    let senders: Client[] = [];
    const refused = (): number => senders.filter(({ status }) => status === '503').length;
    const grown = await growthOf(listener, async () => {
      senders = Array.from(
        { length: 240 },
        () => new Client(listener.port, head(`content-length: ${MEGABYTE}`), almost),
      );
      // About 64 of them have room; each other one closes one.
      await listener.until(() => refused() >= 240 - 64);
    });
    expect(grown).toBeLessThan(170 * MEGABYTE);
    expect(refused()).toBeLessThan(240 - 56);
    expect((await listener.post(complete('last'))).status).toBe(200);
    // Those that had room can still end.
    const waiting = senders.filter(({ isClosed, answer }) => !isClosed && !answer);
    for (const { socket } of waiting) socket.write('a');
    await listener.until(() => waiting.every(({ answer, isClosed }) => answer || isClosed));
    expect(waiting.filter(({ status }) => status === '200').length).toBeGreaterThan(50);
  });
});

describe('a chunked body', () => {
  it('is one event, to the byte, in whatever pieces it comes', async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--quiet']);
    const body = `${complete('1')}&more=${'x'.repeat(200_000)}`;
    const pieces = [1, 10, 100, 1000, 10_000, 100_000, body.length];
    let from = 0;
    const parts = pieces.map((to) => {
      const piece = body.slice(from, to);
      from = to;
      return `${piece.length.toString(16)}\r\n${piece}\r\n`;
    });
    const sender = new Client(listener.port, CHUNKED);
    for (const part of parts) {
      await new Promise((sent) => sender.socket.write(part, sent));
      await new Promise((later) => setTimeout(later, 20));
    }
    sender.socket.write('0\r\n\r\n');
    await listener.until(() => sender.status !== undefined);
    expect(sender.status).toBe('200');
    const shown = await user.run(['events', 'show', '1', '--quiet']);
    expect(shown.stdout).toBe(`${body}\n`);
  });

  it('may have hundreds of small chunks', async () => {
    const listener = await Listener.start(new User(), ['--quiet']);
    const sender = new Client(listener.port, CHUNKED, '1\r\na\r\n'.repeat(900), '0\r\n\r\n');
    await listener.until(() => sender.status !== undefined);
    expect(sender.status).toBe('200');
  });
});

describe('a delivery', () => {
  const silent = (port: number, count: number): Promise<unknown> =>
    Promise.all(
      Array.from(
        { length: count },
        () => new Promise((open) => void new Client(port).socket.once('connect', open).once('close', open)),
      ),
    );

  it('gets in beside 1,200 silent connections', async () => {
    const listener = await Listener.start(new User(), ['--quiet']);
    await silent(listener.port, 1_200);
    expect((await listener.post(complete('1'))).status).toBe(200);
  });

  it('gets in beside 1,200 connections that never begin their TLS handshake', async () => {
    const { key, cert } = makeCertificate();
    const listener = await Listener.start(new User(), ['--quiet', '--tls-cert', cert, '--tls-key', key]);
    await silent(listener.port, 1_200);
    const status = await new Promise((done, failed) => {
      const options = { method: 'POST', ca: readFileSync(cert), headers: { 'content-type': FORM } };
      const call = request(listener.url, { ...options, agent: false }, (got) =>
        done(got.resume().statusCode),
      );
      call.on('error', failed).end(complete('7'));
    });
    expect(status).toBe(200);
  });

  it('comes over the connection of the last one, which clients who only connect do not close', async () => {
    const listener = await Listener.start(new User(), ['--quiet']);
    const body = complete('1');
    const delivery = head(`content-length: ${body.length}`) + body;
    const sender = new Client(listener.port, delivery);
    await listener.until(() => sender.status === '200');
    await silent(listener.port, 1_200);
    sender.socket.write(delivery);
    await listener.until(() => sender.answer.split('HTTP/1.1 200').length === 3 || sender.isClosed);
    expect(sender.isClosed).toBe(false);
  });
});
