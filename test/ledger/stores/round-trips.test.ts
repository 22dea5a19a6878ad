/** How often a command waits for a shared ledger: with a database far away, that is what it takes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type OrderingAccount, orderingAccount, reply } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { CountingProxy } from '../../support/proxies.ts';
import { setAll } from '../../support/settings.ts';
import { KEY, User } from '../../support/steno.ts';

const urls = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `https://e.example/${n}.mp3`);

describe.skipIf(!postgresFolder)('round trips to a shared ledger', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  });
  afterAll(() => server?.stop());

  interface Setup extends Pick<OrderingAccount, 'service' | 'states'> {
    readonly user: User;
    readonly proxy: CountingProxy;
    readonly url: string;
  }

  /** A user of a ledger that has its tables. */
  async function setUp(): Promise<Setup> {
    const { service, states } = await orderingAccount();
    const url = await server.newDatabase();
    const proxy = await CountingProxy.start(server.port);
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl };
    expect((await new User({ ...env, STENO_LEDGER: url }).run(['files'])).code).toBe(0);
    return { service, states, url, proxy, user: new User({ ...env, STENO_LEDGER: proxy.via(url) }) };
  }

  /** Runs an order; gives the round trips before it was sent, and those after. */
  async function tripsOf(
    { service, user, proxy }: Setup,
    args: string[],
    code = 0,
  ): Promise<[number, number]> {
    let sent = 0;
    let files = 0;
    service.on('POST /order_url', (got, response) => {
      sent = proxy.roundTrips;
      const audiofiles = ((got.body?.url ?? []) as string[]).map(
        (_, n) => `f${proxy.roundTrips}_${++files}_${n}`,
      );
      if (code === 0) reply(response, { order: `o${sent}`, audiofiles, message: 'ok' });
      else response.writeHead(400).end('{"error":"no"}');
    });
    const before = proxy.roundTrips;
    const result = await user.run(['order', '--sku', 'TRANS14', ...args]);
    expect(result.code, result.stderr).toBe(code);
    return [sent - before, proxy.roundTrips - sent];
  }

  it('of an order: three before it is sent, one after, also of the first one of an account', async () => {
    const setup = await setUp();
    expect(await tripsOf(setup, ['https://e.example/first.mp3'])).toEqual([3, 1]);
    expect(await tripsOf(setup, ['https://e.example/second.mp3'])).toEqual([3, 1]);
    expect(await tripsOf(setup, urls(50))).toEqual([3, 1]);
    expect(await tripsOf(setup, ['--skip-ordered', ...urls(60)])).toEqual([3, 1]);
    expect(await tripsOf(setup, ['--again', ...urls(1)])).toEqual([3, 1]);
    expect(await tripsOf(setup, ['https://e.example/refused.mp3'], 1)).toEqual([3, 1]);
  });

  it('of an order under budgets: no more than without one', async () => {
    const setup = await setUp();
    const { user } = setup;
    expect((await user.run(['budget', 'set', '100/month'])).code).toBe(0);
    setAll(user, { budget: '50/day', 'price.TRANS14': '1' });
    const orderOf = (name: string): string[] => {
      writeFileSync(join(user.home, name), `url,minutes\nhttps://e.example/${name}.mp3,10\n`);
      return ['--from', name];
    };
    expect(await tripsOf(setup, orderOf('first'))).toEqual([3, 1]);
    expect(await tripsOf(setup, [...orderOf('second'), '--up-to-budget'])).toEqual([3, 1]);
    setAll(user, { budget: undefined });
    expect(await tripsOf(setup, orderOf('third'))).toEqual([3, 1]);
    expect((await user.run(['budget', 'unset'])).code).toBe(0);
    setAll(user, { budget: '100/year' });
    expect(await tripsOf(setup, orderOf('fourth'))).toEqual([3, 1]);
  });

  /** Puts open files into the ledger, each of an order of its own. */
  async function addFiles(url: string, count: number): Promise<void> {
    const database = new URL(url).pathname.slice(1);
    await server.query(
      `INSERT INTO steno.purchases (id, profile, kind, outcome, named, status, order_id, test, started_at, skus)
         SELECT 'p' || n, 'default', 'order', 'placed', 'o' || n, 'placed', 'o' || n, 0, '2026-01-01T00:00:00.000Z', 'TRANS14'
         FROM generate_series(1, ${count}) AS n`,
      database,
    );
    await server.query(
      `INSERT INTO steno.files (profile, id, purchase, order_id, link, test, state, ordered_at)
         SELECT 'default', n::text, 'p' || n, 'o' || n, 'https://e.example/' || n, 0, 'Transcribing', '2026-01-01T00:00:00.000Z'
         FROM generate_series(1, ${count}) AS n`,
      database,
    );
  }

  it.each([['sync'], ['files', '--refresh', '--quiet']])(
    'of %s: at most one a hundred files',
    async (...args) => {
      const FILES = 2_000;
      const setup = await setUp();
      const { service, url, user, proxy } = setup;
      await addFiles(url, FILES);
      const ids = Array.from({ length: FILES }, (_, n) => String(n + 1));
      service.on('*', ({ path }, response) => {
        const id = path.replace('/audiofile/', '');
        reply(response, { audiofile: { id, statename: 'In Review', title: `Talk ${id}` } });
      });
      const result = await user.run(args);
      expect(result.code, result.stderr).toBe(0);
      const shown =
        args[0] === 'sync' ? ids.map((id) => `${id}\tstate\tTranscribing\tIn Review\t\t\t\t`) : ids.reverse();
      expect(result.stdout.replace(/\n$/, '').split('\n')).toEqual(shown);
      // Beside those for the files there are some in any case: opening, listing.
      expect(proxy.roundTrips).toBeLessThanOrEqual(FILES / 100 + (args[0] === 'sync' ? 0 : FILES / 200));
      const database = new URL(url).pathname.slice(1);
      const kept = await server.query(
        "SELECT count(*)::integer AS n FROM steno.files WHERE state = 'In Review' AND checked_at IS NOT NULL",
        database,
      );
      expect(kept).toEqual([{ n: FILES }]);
    },
    60_000,
  );
});
