/** Who ordered what, on a ledger that several machines use; and machines whose clocks are wrong. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseCsv } from '../../support/csv.ts';
import { orderingAccount } from '../../support/ledger.ts';
import { machine } from '../../support/machine.ts';
import { type PostgresServer, postgresFolder, startPostgres } from '../../support/postgres.ts';
import { finished, KEY } from '../../support/steno.ts';

const url = 'https://e.example/a.mp3';
const order = ['order', url, '--sku', 'TRANS14'];
const HOUR = 3_600_000;

describe.skipIf(!postgresFolder)('a ledger that several machines use', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres(['fsync = off']);
  });
  afterAll(() => server?.stop());

  async function team() {
    const { service } = await orderingAccount();
    const env = {
      ...{ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl },
      STENO_LEDGER: await server.newDatabase(),
    };
    const job = `https://ci.example/jobs/7?token=${encodeURIComponent(KEY)}`;
    return {
      service,
      ann: machine({ host: 'laptop', user: 'ann' }, env),
      bob: machine({ host: 'desk', user: 'bob' }, env),
      ci: machine({ host: 'runner', user: 'ci' }, { ...env, CI_JOB_URL: job }),
      fast: machine({ host: 'fast', user: 'eve', clockAheadMs: 5 * HOUR }, env),
      slow: machine({ host: 'slow', user: 'sam', clockAheadMs: -5 * HOUR }, env),
    };
  }

  it('says in files who ordered what, and the job of CI without the key', async () => {
    const { ann, bob, ci } = await team();
    expect((await ann.run(order)).code).toBe(0);
    expect((await ci.run(['order', 'https://e.example/b.mp3', '--sku', 'TRANS14'])).code).toBe(0);
    const { stdout } = await bob.run(['files', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { audiofile: '2', by: { user: 'ci', host: 'runner', job: 'https://ci.example/jobs/7?token=****' } },
      { audiofile: '1', by: { user: 'ann', host: 'laptop', job: null } },
    ]);
    const [header = [], , anns = []] = parseCsv((await bob.run(['files', '--csv'])).stdout);
    expect([anns[header.indexOf('by')], anns[header.indexOf('job')]]).toEqual(['ann@laptop', '']);
    const table = (await bob.onTerminal('steno files', { columns: 250 })).stdout;
    expect(table).toContain('ann@laptop');
    // What only oneself ordered needs no name.
    expect((await ann.onTerminal('steno files', { columns: 250 })).stdout).toContain('ci@runner');
  });

  it('shows nobody where all is one’s own', async () => {
    const { ann } = await team();
    await ann.run(order);
    expect((await ann.onTerminal('steno files', { columns: 250 })).stdout).not.toContain('ann@laptop');
    expect((await ann.run(order)).stderr).not.toContain('ann@laptop');
  });

  it('names in a refusal who has ordered it: a person or a job', async () => {
    const { ann, bob, ci } = await team();
    await ann.run(order);
    expect((await bob.run(order)).stderr).toMatch(
      / was ordered as order o1 (?:just now|\d+s ago) by ann@laptop\nhint: /,
    );
    const other = ['order', 'https://e.example/b.mp3', '--sku', 'TRANS14'];
    await ci.run(other);
    expect((await bob.run(other)).stderr).toContain(' by https://ci.example/jobs/7?token=****\n');
  });

  it('says in attempts who sent one without a clear answer', async () => {
    const { service, ci, bob } = await team();
    service.on('POST /order_url', { status: 500 });
    expect((await ci.run(order)).code).toBe(11);
    const { stdout } = await bob.run(['attempts', '--json']);
    expect(JSON.parse(stdout)).toMatchObject([
      { by: { user: 'ci', host: 'runner', job: 'https://ci.example/jobs/7?token=****' } },
    ]);
    expect((await bob.run(['attempts'])).stdout).toMatch(/\tci@runner, pid \d+, https:\/\/ci\.example\//);
    expect((await bob.run(order)).stderr).toContain('by https://ci.example/jobs/7');
    // The order that is settled is still that of who sent it.
    expect((await bob.run(['attempts', 'settle', '1', '--placed', 'x7', '--file', '9'])).code).toBe(0);
    const files = JSON.parse((await bob.run(['files', '--json'])).stdout);
    expect(files).toMatchObject([{ order: 'x7', by: { user: 'ci' } }]);
  });

  it.each(['fast', 'slow'] as const)(
    'goes by its own clock where that of a machine is %s: what was unclear before is retried, once',
    async (wrong) => {
      const machines = await team();
      const { service, ann } = machines;
      const retry = [...order, '--skip-ordered', '--retry-unclear'];
      service.on('POST /order_url', { status: 500 });
      expect((await machines[wrong].run(order)).code).toBe(11);
      service.on('POST /order_url', { body: { order: 'x1', audiofiles: [1] } });
      // Neither a time of the future nor one long past makes a difference.
      const ended = await ann.run(retry);
      expect([ended.code, ended.stderr]).toEqual([0, '']);
      expect(service.calls('POST /order_url')).toHaveLength(2);
      const [row] = JSON.parse((await ann.run(['files', '--json'])).stdout);
      expect(Math.abs(Date.parse(row.ordered_at) - Date.now())).toBeLessThan(HOUR);
    },
  );

  it.each(['fast', 'slow'] as const)(
    'goes by its own clock where the machine that retries is %s: what becomes unclear meanwhile is not sent again',
    async (wrong) => {
      const machines = await team();
      const { service, ann } = machines;
      let answer = (): void => {};
      service.on('POST /order_url', (_, response) => {
        answer = () => void response.writeHead(500).end();
      });
      const first = ann.run(order);
      await expect.poll(() => service.calls('POST /order_url').length, { timeout: 20_000 }).toBe(1);
      const retry = machines[wrong].start([...order, '--skip-ordered', '--retry-unclear']);
      const second = finished(retry);
      await once(retry.stderr, 'data');
      answer();
      expect((await first).code).toBe(11);
      const { code, stderr } = await second;
      expect([code, stderr]).toEqual([9, expect.stringMatching(/^Waiting for .*may have gone through/s)]);
      expect(service.calls('POST /order_url')).toHaveLength(1);
    },
    60_000,
  );
});
