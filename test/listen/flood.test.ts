/**
 * A flood: deliveries over many connections beside idle, slow and hostile clients. Every delivery is answered and kept
 * once, and memory stays bounded. `npm run test:long` sends all of it, other runs a slice.
 */
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { queryLedger } from '../support/ledger.ts';
import { complete, FORM, Listener } from '../support/listener.ts';
import { peakMemoryOf, tellsMemory } from '../support/memory.ts';
import { isLong } from '../support/slices.ts';
import { User } from '../support/steno.ts';

const CONNECTIONS = isLong ? 64 : 16;
const DELIVERIES = isLong ? 10_000 : 1_000;
const IDLE = isLong ? 300 : 60;
const SLOW = isLong ? 100 : 20;
/** Clients that send a megabyte but for its last byte. */
const UNFINISHED = 180;

const MEGABYTE = 1024 * 1024;
const head = (...lines: string[]): string =>
  ['POST / HTTP/1.1', 'host: x', `content-type: ${FORM}`, ...lines, '', ''].join('\r\n');

/** What each of the hostile clients sends, again and again, on a new connection each time. */
const hostile: Readonly<Record<string, Buffer>> = {
  'tiny chunks': Buffer.from(head('transfer-encoding: chunked') + '1\r\na\r\n'.repeat(50_000)),
  'bodies that never end': Buffer.from(head(`content-length: ${MEGABYTE}`) + 'a'.repeat(MEGABYTE - 1)),
  'no HTTP': Buffer.alloc(100_000, '\u0000\u0001\u0002'),
  'headers that never end': Buffer.from(`POST / HTTP/1.1\r\n${'a: b\r\n'.repeat(2_000)}`),
  'half a megabyte of fields': Buffer.from(head('content-length: 524288') + 'a&'.repeat(262_144)),
};

const sockets = new Set<Socket>();
let over = false;

afterEach(() => {
  over = true;
  for (const socket of sockets) socket.destroy();
});

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1');
  sockets.add(socket);
  return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
}

/** Sends a byte of a request now and then. */
async function drip(port: number): Promise<void> {
  const text = head('content-length: 100');
  const socket = open(port);
  for (let at = 0; !over && socket.writable; at += 1) {
    socket.write(text[at % text.length] ?? '');
    await sleep(100);
  }
}

async function attack(port: number, bytes: Buffer): Promise<void> {
  while (!over) {
    const socket = open(port);
    socket.on('data', () => {});
    await new Promise((sent) => {
      socket.once('close', sent);
      socket.write(bytes, () => setTimeout(sent, 20));
    });
    // A bounded number of them stays open.
    if (sockets.size > IDLE + SLOW + UNFINISHED + 200) socket.destroy();
  }
}

describe('a flood', () => {
  it(`of ${DELIVERIES} deliveries beside idle, slow and hostile clients loses none`, async () => {
    const user = new User();
    const listener = await Listener.start(user, ['--quiet']);
    const { port } = listener;
    await listener.post(complete('first'));
    const before = tellsMemory ? peakMemoryOf(listener.child.pid) : 0;
    for (let n = 0; n < IDLE; n += 1) open(port);
    for (let n = 0; n < UNFINISHED; n += 1) open(port).write(hostile['bodies that never end'] ?? '');
    const clients = [
      ...Array.from({ length: SLOW }, () => drip(port)),
      ...Object.values(hostile).map((bytes) => attack(port, bytes)),
    ];
    const statuses = await deliverAll(port);
    over = true;
    for (const socket of sockets) socket.destroy();
    await Promise.all(clients);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    // 64 MiB of it are bodies; without a bound it takes more than twice as much.
    if (tellsMemory) expect(peakMemoryOf(listener.child.pid) - before).toBeLessThan(170 * MEGABYTE);
    expect((await listener.post(complete('last'))).status).toBe(200);
    expect((await listener.stop()).code).toBe(130);
    const kept = queryLedger<{ audiofile: string }>(
      user,
      "SELECT audiofile FROM events WHERE audiofile GLOB 'f-*' ORDER BY audiofile",
    );
    const sent = Array.from({ length: DELIVERIES }, (_, n) => `f-${n}`).sort();
    expect(kept.map(({ audiofile }) => audiofile)).toEqual(sent);
  }, 120_000);
});

/** The status of each delivery; 0 where there was no answer. */
async function deliverAll(port: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const statuses: number[] = [];
  const deliver = (id: string): Promise<number> =>
    new Promise((done) => {
      const body = complete(id);
      const headers = { 'content-type': FORM, 'content-length': body.length };
      const call = request({ port, host: '127.0.0.1', method: 'POST', agent, headers }, (got) => {
        got.resume().on('end', () => done(got.statusCode ?? 0));
      });
      call.on('error', () => done(0)).end(body);
    });
  let next = 0;
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (next < DELIVERIES) {
        const n = next;
        next += 1;
        statuses[n] = await deliver(`f-${n}`);
      }
    }),
  );
  agent.destroy();
  return statuses;
}
