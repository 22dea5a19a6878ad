/** Bodies over real connections: whole and in order, however they come and however slowly they are taken. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createPlainServer, type Server as PlainServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import {
  exchange,
  type HttpResponse,
  readBytes,
  readStart,
  type Send,
  streamBody,
} from '../../../src/api/http/exchange.ts';
import { runs } from '../../support/runs.ts';

const ends: Array<() => unknown> = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(server: Server | PlainServer): Promise<Pool> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 4 });
  ends.push(() => server.close());
  ends.push(() => pool.destroy());
  return pool;
}

const toRoot = { path: '/', method: 'GET', headers: {} } as const;
const sendOn =
  (pool: Pool): Send =>
  (request, handler) =>
    void pool.dispatch(request, handler);

const serve = (listener: RequestListener): Promise<Pool> => open(createServer(listener));

/** What becomes of the response; where it ends early, the cause is thrown. */
function get<T>(
  pool: Pool,
  read: (response: HttpResponse) => Promise<T>,
  limits: { readonly limitMs?: number; readonly interrupt?: AbortSignal } = {},
): Promise<T> {
  const all = { limitMs: 60_000, interrupt: new AbortController().signal, ...limits };
  return exchange(sendOn(pool), toRoot, all, read, ({ cause }) => {
    throw cause;
  });
}
const bytesOf =
  (maxBytes: number) =>
  (response: HttpResponse): Promise<Buffer> =>
    readBytes(response, maxBytes);

describe('a body', () => {
  it('comes whole and in order, whatever its parts and however slowly they are taken', async () => {
    let parts: Uint8Array[] = [];
    const pool = await serve((_request, response) => {
      const next = (at: number): void => {
        if (at === parts.length) response.end();
        else response.write(parts[at] ?? '', () => setImmediate(next, at + 1));
      };
      next(0);
    });
    const sizes = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 8 });
    const delays = fc.infiniteStream(fc.constantFrom(undefined, undefined, 0, 1, 3));
    await fc.assert(
      fc.asyncProperty(sizes, delays, async (lengths, pauses) => {
        parts = lengths.map((length, at) => Buffer.alloc(length, at + 1));
        const taken: Buffer[] = [];
        let taking = false;
        const take = (chunk: Buffer): Promise<void> | undefined => {
          expect(taking).toBe(false);
          taken.push(Buffer.from(chunk));
          const pause = pauses.next().value;
          if (pause === undefined) return undefined;
          taking = true;
          return sleep(pause).then(() => {
            taking = false;
          });
        };
        await get(pool, (answer) => streamBody(answer, take));
        expect(Buffer.concat(taken).equals(Buffer.concat(parts))).toBe(true);
      }),
      { numRuns: runs(40) },
    );
  });

  it('that is not read yet is held back, not piled up', async () => {
    const ALL = 64 * 2 ** 20;
    let sent = 0;
    const part = Buffer.alloc(65_536, 'x');
    const pool = await serve((_request, response) => {
      const more = (): void => {
        sent += part.length;
        if (sent > ALL) response.end();
        else response.write(part, more);
      };
      more();
    });
    let size = 0;
    await get(pool, async (answer) => {
      await sleep(300);
      // What the system's own buffers take is some megabytes.
      expect(sent).toBeLessThan(ALL / 2);
      await streamBody(answer, (chunk) => {
        size += chunk.length;
      });
    });
    expect(size).toBe(ALL);
  });

  it('fails with what its taker says, at once or later, and gives the connection up', async () => {
    let closed = 0;
    const pool = await serve((request, response) => {
      request.socket.once('close', () => {
        closed += 1;
      });
      response.write('first');
    });
    const trouble = new Error('the disk is full');
    const refusals = [
      (): never => {
        throw trouble;
      },
      (): Promise<never> => Promise.reject(trouble),
      (): Promise<never> =>
        sleep(20).then(() => {
          throw trouble;
        }),
    ];
    for (const refuse of refusals)
      await expect(get(pool, (answer) => streamBody(answer, refuse))).rejects.toBe(trouble);
    // One that nobody reads.
    await get(pool, async () => {});
    while (closed < refusals.length + 1) await sleep(5);
  });

  it('that breaks off says so, also if it is read only later', async () => {
    const pool = await serve((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 });
      response.write('some', () => response.socket?.destroy());
    });
    await expect(get(pool, bytesOf(5000))).rejects.toThrow();
    const late = async (answer: HttpResponse): Promise<Buffer> => {
      await sleep(50);
      return readBytes(answer, 5000);
    };
    await expect(get(pool, late)).rejects.toThrow();
    expect(await get(pool, (answer) => readStart(answer, 5000))).toBe('some');
  });

  it('is decoded where it is coded, and a broken coding is an error, not a hang', async () => {
    const text = 'So it goes. '.repeat(50_000);
    const codings = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text) };
    let coding = '';
    let body: Buffer = Buffer.alloc(0);
    let stays = false;
    const pool = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': coding });
      if (stays) response.write(body);
      else response.end(body);
    });
    for (const [name, coded] of Object.entries(codings)) {
      [coding, body] = [name, coded];
      expect((await get(pool, bytesOf(2 ** 20))).toString()).toBe(text);
      const slowly: Buffer[] = [];
      const take = async (chunk: Buffer): Promise<void> => {
        await sleep(1);
        slowly.push(chunk);
      };
      await get(pool, (answer) => streamBody(answer, take));
      expect(Buffer.concat(slowly).toString()).toBe(text);
      await expect(get(pool, bytesOf(1000))).rejects.toThrow('larger than');
      expect(await get(pool, (answer) => readStart(answer, 5))).toBe('So it');
    }
    [coding, body] = ['gzip', Buffer.alloc(0)];
    expect(await get(pool, bytesOf(1000))).toHaveLength(0);
    [coding, body] = ['constructor', Buffer.from('as it is')];
    expect(String(await get(pool, bytesOf(1000)))).toBe('as it is');
    [coding, body, stays] = ['gzip', Buffer.from('this is not gzip at all'), true];
    await expect(get(pool, bytesOf(1000))).rejects.toThrow();
    [body] = [gzipSync(text).subarray(0, 100)];
    stays = false;
    await expect(get(pool, bytesOf(2 ** 20))).rejects.toThrow();
  });
});

describe('an exchange', () => {
  it('waits for the real answer behind early hints', async () => {
    const pool = await serve((_request, response) => {
      response.writeProcessing();
      response.writeEarlyHints({ link: '</a>; rel=preload' });
      response.setHeader('set-cookie', ['a=1', 'b=2']).end('done');
    });
    const { status, headers, bytes } = await get(pool, async (answer) => ({
      ...answer,
      bytes: await readBytes(answer, 100),
    }));
    expect([status, headers['set-cookie'], String(bytes)]).toEqual([200, 'a=1,b=2', 'done']);
  });

  it('ends at the signal: before it began, while it waits, and in the middle of the body', async () => {
    const pool = await serve((_request, response) => {
      setTimeout(() => response.write('first'), 40);
    });
    const ended = { name: 'AbortError' };
    const before = get(pool, bytesOf(1000), { interrupt: AbortSignal.abort() });
    await expect(before).rejects.toMatchObject(ended);
    for (const at of [10, 70]) {
      await expect(get(pool, bytesOf(1000), { limitMs: at })).rejects.toMatchObject(ended);
      const waiting = new AbortController();
      setTimeout(() => waiting.abort(), at);
      const { signal: interrupt } = waiting;
      await expect(get(pool, bytesOf(1000), { interrupt })).rejects.toMatchObject(ended);
    }
  });

  it('says how it ended', async () => {
    const pool = await serve((_request, response) => {
      setTimeout(() => response.write('first'), 40);
    });
    const endOf = (limitMs: number, interrupt = new AbortController().signal): Promise<unknown> =>
      exchange<unknown>(sendOn(pool), toRoot, { limitMs, interrupt }, bytesOf(1000), (end) => end);
    expect(await endOf(10)).toMatchObject({ interrupted: false, timedOut: true, answered: false });
    expect(await endOf(70)).toMatchObject({ interrupted: false, timedOut: true, answered: true });
    expect(await endOf(500, AbortSignal.timeout(10))).toMatchObject({ interrupted: true, timedOut: false });
  });

  it('ends at the signal while another call has the only connection', async () => {
    const silent = createPlainServer(() => {});
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const single = new Pool(`http://127.0.0.1:${(silent.address() as AddressInfo).port}`, { connections: 1 });
    ends.push(
      () => silent.close(),
      () => single.destroy(),
    );
    const first = new AbortController();
    const busy = get(single, bytesOf(1000), { interrupt: first.signal });
    await expect(get(single, bytesOf(1000), { limitMs: 50 })).rejects.toThrow(/aborted/);
    first.abort();
    await expect(busy).rejects.toThrow(/aborted/);
  });

  it('says what is wrong where no answer comes, or none that is HTTP', async () => {
    const pool = await open(createPlainServer((socket) => void socket.end('SSH-2.0-hello\r\n')));
    await expect(get(pool, bytesOf(1000))).rejects.toThrow();
    const closed = new Pool('http://127.0.0.1:1');
    ends.push(() => closed.destroy());
    await expect(get(closed, bytesOf(1000))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
