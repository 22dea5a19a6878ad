/** A connection that is cut before or after any statement, COMMIT above all: nothing is bought twice or forgotten. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderingAccount } from '../../support/ledger.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { CuttingProxy, type Moment } from '../../support/proxies.ts';
import { KEY, User } from '../../support/steno.ts';

const order = ['order', 'https://e.example/a.mp3', '--sku', 'TRANS14', '--quiet'];
const isLong = process.env.STENO_MATRIX === 'all';

/** How a connection is cut. */
interface Way {
  readonly moment: Moment;
  readonly forGood: boolean;
}

const ways: readonly Way[] = [
  { moment: 'before', forGood: false },
  { moment: 'after', forGood: true },
  { moment: 'before', forGood: true },
  { moment: 'after', forGood: false },
];

describe.skipIf(!postgresFolder)('a command whose connection to the shared ledger is cut', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  });
  afterAll(() => server?.stop());

  async function team() {
    const { service } = await orderingAccount();
    const url = await server.newDatabase();
    const env = { STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl };
    const other = new User({ ...env, STENO_LEDGER: url });
    // Makes the tables and the account, so that each cut meets the same statements.
    expect((await other.run(['order', 'https://e.example/0.mp3', '--sku', 'TRANS14'])).code).toBe(0);
    const behind = (proxy: CuttingProxy): User => new User({ ...env, STENO_LEDGER: proxy.via(url) });
    return { service, env, url, other, behind };
  }

  type Team = Awaited<ReturnType<typeof team>>;
  /** Runs the command behind the proxy, and checks what must hold. */
  type Check = (team: Team, proxy: CuttingProxy, where: string) => Promise<void>;

  /** At each statement in one of the ways, at a COMMIT in all of them; with STENO_MATRIX=all at each in all. */
  async function atEachStatement(check: Check): Promise<number> {
    const uncut = await CuttingProxy.start(server.port);
    await check(await team(), uncut, 'not cut');
    await uncut.stop();
    for (const [at, text] of uncut.texts.entries()) {
      const isFull = isLong || text.startsWith('COMMIT');
      for (const way of isFull ? ways : ways.slice(at % ways.length).slice(0, 1)) {
        const proxy = await CuttingProxy.start(server.port, { statement: at, ...way });
        const where = `cut ${way.moment} statement ${at}${way.forGood ? ' for good' : ''}: ${text}`;
        await check(await team(), proxy, where);
        await proxy.stop();
      }
    }
    return uncut.texts.length;
  }

  it('orders once or not at all, and says which', async () => {
    const count = await atEachStatement(async ({ service, env, url, other, behind }, proxy, where) => {
      const user = behind(proxy);
      const first = await user.run(order);
      const sent = service.calls('POST /order_url').length - 1;
      // Either it was placed and says so, or nothing was sent.
      expect([first.code, sent], where + first.stderr).toEqual(first.code === 0 ? [0, 1] : [7, 0]);
      expect(first.stdout, where).toBe(sent ? '2\n' : '');
      const second = await other.run(order);
      expect(service.calls('POST /order_url').length - 1, where).toBeLessThanOrEqual(1);
      expect([0, 9], `${where} then ${second.stderr}`).toContain(second.code);
      if (sent) expect(second.code, where).toBe(9);
      // What the service accepted is in the ledger, at the latest when the same machine reaches it again.
      const back = new User({ ...env, ...user.env, STENO_LEDGER: url });
      const files = await back.run(['files', '--quiet']);
      const known = files.stdout.split('\n').includes('2');
      expect(known, `${where} ${files.stderr}`).toBe(sent === 1 || second.code === 0);
      // And what was never sent can be ordered, at the latest then.
      if (!known) expect((await other.run(order)).code, where).toBe(0);
    });
    expect(count).toBeGreaterThan(8);
  }, 600_000);

  // These two take a minute, and buy nothing: `npm run test:long` has them.
  it.skipIf(!isLong)(
    'settles an attempt or leaves it, and can do so again',
    async () => {
      await atEachStatement(async ({ service, other, behind }, proxy, where) => {
        service.on('POST /order_url', { status: 500 });
        expect((await other.run(order)).code).toBe(11);
        const settle = ['attempts', 'settle', '2', '--not-placed'];
        const { code, stderr } = await behind(proxy).run(settle);
        expect([0, 7], where + stderr).toContain(code);
        const again = await other.run(settle);
        // Settled before, or now.
        expect([0, 2], `${where} ${stderr} then ${again.stderr}`).toContain(again.code);
        if (code === 0) expect(again.code, where).toBe(2);
        service.on('POST /order_url', { body: { order: 'x1', audiofiles: [7], message: 'ok' } });
        expect((await other.run(order)).code, where).toBe(0);
      });
    },
    600_000,
  );

  it.skipIf(!isLong)(
    'takes a file in whole or not at all',
    async () => {
      await atEachStatement(async ({ service, other, behind }, proxy, where) => {
        const link = 'https://e.example/a.mp3';
        const body = { audiofile: { id: 7, statename: 'Delivered', order: 'x7', original_link: link } };
        service.allow('GET /audiofile/7', { body });
        const { code, stderr } = await behind(proxy).run(['track', '7']);
        expect([0, 7], where + stderr).toContain(code);
        const listed = (await other.run(['files', '--quiet'])).stdout.split('\n').includes('7');
        if (code === 0) expect(listed, where).toBe(true);
        expect((await other.run(['track', '7'])).code, where).toBe(0);
        expect(
          (await other.run(['files', '--quiet'])).stdout.split('\n').filter((id) => id === '7'),
        ).toHaveLength(1);
      });
    },
    600_000,
  );
});
