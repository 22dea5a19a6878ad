/** Bodies over real connections: whole and in order, however they come and however slowly they are taken. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Server as PlainServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { Pool } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { exchange, type HttpResponse, readBytes, streamBody } from '../../../src/api/http/exchange.ts';
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

const serve = (listener: RequestListener): Promise<Pool> => open(createServer(listener));

/** What becomes of the response; where it ends early, the cause is thrown. */
function get<T>(
  pool: Pool,
  read: (response: HttpResponse) => Promise<T>,
  limits: { readonly limitMs?: number; readonly interrupt?: AbortSignal } = {},
): Promise<T> {
  const all = { limitMs: 60_000, interrupt: new AbortController().signal, ...limits };
  return exchange(pool, { path: '/', method: 'GET' }, all, read, ({ cause }) => {
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
});

describe('an exchange', () => {
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
});
