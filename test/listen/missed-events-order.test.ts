/** Which files are asked about first for events that never came, and how many: tests run at 100 ms a tick, so that a minute takes 1.2 s. */
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type OrderingAccount, orderingAccount, queryLedger } from '../support/ledger.ts';
import { Listener } from '../support/listener.ts';
import { notShared } from '../support/store.ts';
import { until } from '../support/until.ts';

const TICK_MS = 100;
const MINUTE_MS = 12 * TICK_MS;
const DAY_MS = 86_400_000;
/** For what takes ten seconds where nothing else runs. */
const LIMIT_MS = 60_000;

interface Ordered {
  readonly sku: string;
  readonly daysAgo: number;
  readonly count: number;
}

/** An account with open files, in this order; gives their ids by SKU and age. */
async function withOpenFiles(...groups: readonly Ordered[]): Promise<OrderingAccount & { ids: string[][] }> {
  const made = await orderingAccount({ STENO_TEST_TICK_MS: String(TICK_MS) });
  await made.user.run(['files']);
  let last = 0;
  const ids = groups.map(({ sku, daysAgo, count }) => {
    const at = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
    const some = Array.from({ length: count }, (_, at) => String(last + 1 + at));
    last += count;
    const order = `o${some[0]}`;
    queryLedger(
      made.user,
      `INSERT INTO purchases (id, profile, kind, outcome, named, status, order_id, test, started_at, skus)
         VALUES ('p${order}', 'default', 'order', 'placed', '${order}', 'placed', '${order}', 0, '${at}', '${sku}')`,
    );
    const rows = some.map(
      (id) => `('default', '${id}', 'p${order}', '${order}', 'https://e.example/${id}', 0, '${at}')`,
    );
    queryLedger(
      made.user,
      `INSERT INTO files (profile, id, purchase, order_id, link, test, ordered_at) VALUES ${rows.join(', ')}`,
    );
    for (const id of some) made.states.set(id, ['Transcribing']);
    return some;
  });
  return { ...made, ids };
}

describe('the search for missed events', { timeout: 2 * LIMIT_MS }, () => {
  it('asks about what is due by the target of its SKU first, and about at most sixty files a minute', async () => {
    const { user, askedFiles, service, ids } = await withOpenFiles(
      { sku: 'TRANS14,TSTMP1', daysAgo: 13, count: 200 },
      { sku: 'TRANS2', daysAgo: 2, count: 15 },
      { sku: 'TRANS7', daysAgo: 7, count: 15 },
      { sku: 'TRANS14', daysAgo: 15, count: 15 },
    );
    const [, ...due] = ids;
    const listener = await Listener.start(user);
    await until(() => askedFiles().length >= 240, 'two hundred and forty questions', LIMIT_MS);
    await listener.stop();
    // One in fifteen is kept for the others.
    const asked = askedFiles().slice(0, 50);
    expect(asked).toEqual(expect.arrayContaining(due.flat()));
    expect(new Set(asked).size).toBe(50);
    // Four minutes' worth; on a slow machine it takes longer.
    const [first, last] = [service.got[0]?.at ?? 0, service.got[239]?.at ?? 0];
    expect(last - first).toBeGreaterThan(2.5 * MINUTE_MS);
  });

  it('finds what is delivered before its target too, though more is due than it can ask about', async () => {
    const { user, states, ids } = await withOpenFiles(
      { sku: 'TRANS2', daysAgo: 30, count: 600 },
      { sku: 'TRANS14', daysAgo: 1, count: 3 },
    );
    const early = ids[1] ?? [];
    for (const id of early) states.set(id, ['Delivered']);
    const listener = await Listener.start(user, ['--json']);
    const isFound = (id: string): boolean => listener.json.some(({ audiofile }) => audiofile === id);
    await listener.until(() => early.every(isFound), LIMIT_MS);
    await listener.stop();
  });

  it('leaves a file that the service does not know for later, also where it is due', async () => {
    const { user, service, askedFiles, states, ids } = await withOpenFiles({
      sku: 'TRANS2',
      daysAgo: 30,
      count: 100,
    });
    const [unknown, last] = [ids[0]?.slice(0, -1) ?? [], ids[0]?.at(-1) ?? ''];
    for (const id of unknown) service.allow(`GET /audiofile/${id}`, { status: 404, body: {} });
    states.set(last, ['Delivered']);
    const listener = await Listener.start(user, ['--json', '--count', '1']);
    expect((await listener.ended).code).toBe(0);
    expect(listener.json).toMatchObject([{ audiofile: last, source: 'found' }]);
    expect(askedFiles().filter((id) => id === last)).toHaveLength(1);
  });

  it('asks again about what it asked about while the clock was ahead', async () => {
    const { user, states } = await withOpenFiles({ sku: 'TRANS14', daysAgo: 15, count: 1 });
    const first = await Listener.start(user);
    await first.until(() => queryLedger(user, "SELECT 1 AS n FROM files WHERE polled_at > ''").length === 1);
    await first.stop();
    const future = "'2199-01-01T00:00:00.000Z'";
    queryLedger(
      user,
      `UPDATE files SET polled_at = ${future}, due_since = ${future}, checked_at = ${future}`,
    );
    states.set('1', ['Delivered']);
    const next = await Listener.start(user, ['--json', '--count', '1']);
    expect((await next.ended).code).toBe(0);
    expect(next.json).toMatchObject([{ audiofile: '1', source: 'found' }]);
  });

  it.skipIf(notShared('only a heartbeat tells there whether a process is gone'))(
    'is the same for several listeners together, and the next one goes on with it',
    async () => {
      const { user, askedFiles } = await withOpenFiles({ sku: 'TRANS14', daysAgo: 1, count: 400 });
      const listeners = await Promise.all([1, 2, 3].map(() => Listener.start(user)));
      await until(() => askedFiles().length > 0, 'a question');
      const startedAt = Date.now();
      await sleep(3 * MINUTE_MS);
      const minutes = (Date.now() - startedAt) / MINUTE_MS;
      expect(askedFiles().length).toBeLessThanOrEqual(60 * (minutes + 1));
      expect(new Set(askedFiles()).size).toBe(askedFiles().length);
      const [{ run } = { run: 0 }] = queryLedger<{ run: number }>(user, 'SELECT run FROM leader_tasks');
      const [{ pid } = { pid: 0 }] = queryLedger<{ pid: number }>(
        user,
        `SELECT pid FROM runs WHERE id = ${run}`,
      );
      const killed = listeners.find(({ child }) => child.pid === pid);
      expect(killed).toBeDefined();
      await killed?.stop('SIGKILL');
      const before = askedFiles().length;
      await until(() => askedFiles().length > before, 'a question of another listener');
      for (const listener of listeners) if (listener !== killed) await listener.stop();
    },
  );
});
