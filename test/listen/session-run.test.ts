/** When a listener takes others for gone that are silent: not right after the ledger was out of reach for all of them. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Ledger } from '../../src/ledger/ledger.ts';
import type { Commits } from '../../src/listen/commits.ts';
import { SessionRun } from '../../src/listen/session-run.ts';

const db = {
  get: async (sql: string) => (sql.startsWith('INSERT INTO runs') ? { id: 1 } : undefined),
  run: async () => 1,
};
const ledger = { db, profile: 'default', hide: (text: string) => text } as unknown as Ledger;
const commits = {
  add: (work: (tables: object) => Promise<number>) => work(ledger),
} as unknown as Commits;

let seconds = 0;
const at = (time: number): void => {
  seconds = time;
};

async function begun(time: number): Promise<SessionRun> {
  vi.spyOn(process, 'hrtime').mockImplementation((() => [seconds, 0]) as unknown as NodeJS.HRTime);
  at(0);
  const run = new SessionRun([]);
  at(time);
  await run.begin(ledger);
  return run;
}

afterEach(() => vi.restoreAllMocks());

describe('a listener', () => {
  it('takes silent ones for gone from its start on, while it can write its own heartbeats', async () => {
    const run = await begun(1);
    for (const time of [5, 20, 40]) {
      at(time);
      expect(run.canTellWhoIsGone).toBe(true);
      await run.renew(commits);
      expect(run.canTellWhoIsGone).toBe(true);
    }
  });

  it('does not while it can not, and for the time of a lease after that', async () => {
    const run = await begun(1);
    at(22);
    expect(run.canTellWhoIsGone).toBe(false);
    await run.renew(commits);
    for (const [time, can] of [
      [22, false],
      [40, false],
      [52, false],
      [53, true],
    ] as const) {
      at(time);
      expect([time, run.canTellWhoIsGone]).toEqual([time, can]);
      await run.renew(commits);
    }
  });

  it('does not where the ledger was out of reach when it was started', async () => {
    const run = await begun(25);
    expect(run.canTellWhoIsGone).toBe(false);
  });
});
