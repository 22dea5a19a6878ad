/** Processes on as many machines order one audio: one order is placed, whatever lies between them and the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderingAccount } from '../../support/ledger.ts';
import {
  type Pooler,
  type PostgresServer,
  postgresFolder,
  startPooler,
  startPostgres,
} from '../../support/postgres.ts';
import { sliceOf } from '../../support/slices.ts';
import { KEY, User } from '../../support/steno.ts';

const MACHINES = 24;

describe.skipIf(!postgresFolder)(`${MACHINES} machines that order one audio at the same moment`, () => {
  let server: PostgresServer;
  let pooler: Pooler;
  beforeAll(async () => {
    server = await startPostgres();
    pooler = await startPooler(server);
  });
  afterAll(async () => {
    await pooler?.stop();
    await server?.stop();
  });

  async function race(ledger: string): Promise<void> {
    const { service } = await orderingAccount();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger };
    const users = Array.from({ length: MACHINES }, () => new User(env));
    const ends = await Promise.all(
      users.map((user, n) =>
        user.run(['order', `https://e.example/a.mp3?utm_source=${n}`, '--sku', 'TRANS14']),
      ),
    );
    const codes = ends.map(({ code }) => code).sort((a, b) => Number(a) - Number(b));
    expect(codes, ends.map(({ stderr }) => stderr).join('')).toEqual([0, ...Array(MACHINES - 1).fill(9)]);
    expect(service.calls('POST /order_url')).toHaveLength(1);
    const [first] = users;
    expect((await first?.run(['files', '--quiet']))?.stdout).toBe('1\n');
  }

  it('place one order, directly', async () => {
    await race(await server.newDatabase());
  }, 120_000);

  it('place one order, through PgBouncer in transaction mode', async () => {
    const url = await server.newDatabase();
    await race(url.replace(`:${server.port}/`, `:${pooler.port}/`));
  }, 120_000);

  const through = (url: string, isPooled: boolean): string =>
    isPooled ? url.replace(`:${server.port}/`, `:${pooler.port}/`) : url;

  async function machines(count: number, isPooled: boolean) {
    const { service } = await orderingAccount();
    const ledger = through(await server.newDatabase(), isPooled);
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, STENO_LEDGER: ledger };
    const users = Array.from({ length: count }, () => new User(env));
    const sent = (): string[] =>
      service.calls('POST /order_url').flatMap(({ body }) => body?.url as string[]);
    return { service, users, sent };
  }

  it.each(
    sliceOf(
      [
        ['directly', false],
        ['through PgBouncer', true],
      ],
      2,
    ),
  )(
    'with --skip-ordered: all are content with one order, %s',
    async (_, isPooled) => {
      const { users, sent } = await machines(12, isPooled);
      const args = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14', '--skip-ordered'];
      const ends = await Promise.all(users.map((user) => user.run(args)));
      expect(
        ends.map(({ code }) => code),
        ends.map(({ stderr }) => stderr).join(''),
      ).toEqual(Array(12).fill(0));
      expect(sent()).toHaveLength(1);
    },
    120_000,
  );

  it.each(
    sliceOf(
      [
        ['directly', false],
        ['through PgBouncer', true],
      ],
      2,
    ),
  )(
    'with --retry-unclear: what was unclear before is ordered once more, by one of them, %s',
    async (_, isPooled) => {
      const { service, users, sent } = await machines(12, isPooled);
      const args = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14'];
      service.on('POST /order_url', { status: 500 });
      expect((await users[0]?.run(args))?.code).toBe(11);
      service.on('POST /order_url', { body: { order: 'x1', audiofiles: [1], message: 'ok' } });
      // What became unclear at about the moment when a command began is left alone, to be safe.
      await sleep(4_000);
      const retry = [...args, '--skip-ordered', '--retry-unclear'];
      const ends = await Promise.all(users.map((user) => user.run(retry)));
      expect(
        ends.map(({ code }) => code),
        ends.map(({ stderr }) => stderr).join(''),
      ).toEqual(Array(12).fill(0));
      expect(sent()).toHaveLength(2);
    },
    120_000,
  );

  it.each(
    sliceOf(
      [
        ['directly', false],
        ['through PgBouncer', true],
      ],
      2,
    ),
  )(
    'with manifests that overlap, each in an order of its own: each URL once, and none waits for ever, %s',
    async (_, isPooled) => {
      const { users, sent } = await machines(8, isPooled);
      const urls = Array.from({ length: 60 }, (_, n) => `https://e.example/${n}.mp3`);
      const ends = await Promise.all(
        users.map((user, n) => {
          const rotated = [...urls.slice(n * 7), ...urls.slice(0, n * 7)];
          const mine = n % 2 ? rotated.reverse() : rotated;
          const args = [
            'order',
            '--from',
            '-',
            '--sku',
            'TRANS14',
            '--skip-ordered',
            '--per-order',
            String(3 + n),
          ];
          return user.run(args, { stdin: mine.join('\n') });
        }),
      );
      expect(
        ends.map(({ code }) => code),
        ends.map(({ stderr }) => stderr).join(''),
      ).toEqual(Array(8).fill(0));
      expect(sent().sort()).toEqual([...urls].sort());
    },
    180_000,
  );
});
