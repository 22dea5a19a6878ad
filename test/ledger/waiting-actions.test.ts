/** What a listener begins next is found by an index, however much waits. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Actions } from '../../src/ledger/actions.ts';
import { migrations } from '../../src/ledger/stores/schema.ts';
import type { Store } from '../../src/ledger/stores/store.ts';
import { openDatabase } from '../../src/lib/sqlite.ts';
import type { Value } from '../../src/lib/sqlite-driver.ts';
import { freshFolder } from '../support/files.ts';

it('is neither sorted nor looked for among all that waits', async () => {
  const database = await openDatabase(join(freshFolder(), 'ledger.db'), migrations);
  const steps: string[] = [];
  const plan = async (sql: string, ...values: Value[]): Promise<[]> => {
    const rows = database.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, ...values);
    steps.push(...rows.map(({ detail }) => detail));
    return [];
  };
  const get = async (sql: string, ...values: Value[]): Promise<undefined> =>
    void (await plan(sql, ...values));
  const actions = new Actions({
    db: { all: plan, get } as unknown as Store,
    profile: 'default',
    hide: (text) => text,
  });
  const key = { kind: 'forward', target: 'http://127.0.0.1:9/' };
  await actions.next(key, 1, { now: '2026-01-01T00:00:00.000Z', upTo: 9, limit: 4 });
  await actions.nextDueAfter(key, 1, '2026-01-01T00:00:00.000Z');
  database.close();
  expect(steps.length).toBe(4);
  for (const step of steps)
    expect(step).toMatch(/USING (COVERING )?INDEX actions_next \(.*is_unknown=\? AND due_at/);
});
