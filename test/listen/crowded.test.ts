/** A listener whose ledger holds very much that waits takes it in bit by bit, and answers meanwhile. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { makeCrowdedLedger } from '../bench/crowded.ts';
import { queryLedger } from '../support/ledger.ts';
import { complete, Listener } from '../support/listener.ts';
import { User } from '../support/steno.ts';

/** Nothing listens there. */
const TARGET = 'http://127.0.0.1:9/';
const LIMIT_MS = 120_000;

/** Writes the longest time that the processor took between two turns of the event loop, in milliseconds. */
function loopWatch(user: User): { readonly env: Record<string, string>; longest(): number } {
  const [preload, result] = [join(user.home, 'loop.cjs'), join(user.home, 'longest')];
  writeFileSync(
    preload,
    `const { writeFileSync } = require('node:fs');
let [longest, before] = [0, process.cpuUsage()];
setInterval(() => {
  const { user, system } = process.cpuUsage(before);
  before = process.cpuUsage();
  if (user + system <= longest) return;
  longest = user + system;
  writeFileSync(${JSON.stringify(result)}, String(longest / 1000));
}, 1).unref();`,
  );
  return {
    env: { NODE_OPTIONS: `--require ${preload}` },
    longest: () => Number(readFileSync(result, 'utf8')),
  };
}

/** The longest turn until all is taken in. */
async function longestTurn(count: number): Promise<number> {
  const user = new User({ STENO_TEST_TICK_MS: '50' });
  const env = { STENO_STATE_DIR: user.env.STENO_STATE_DIR ?? '' };
  const crowd = { openFiles: count, due: 0, actions: count };
  await makeCrowdedLedger(env, crowd, { kind: 'forward', target: TARGET });
  const watch = loopWatch(user);
  const listener = await Listener.start(user, ['--forward-to', TARGET], { env: watch.env });
  expect((await listener.post(complete('1'))).status).toBe(200);
  const left = (sql: string): number => queryLedger<{ n: number }>(user, sql)[0]?.n ?? 0;
  await listener.until(
    () =>
      left('SELECT count(*) AS n FROM actions WHERE run = 1') === 0 &&
      left("SELECT count(*) AS n FROM files WHERE due_since = ''") === 0 &&
      // The event of the first file has come.
      left('SELECT count(*) AS n FROM files WHERE awaited = 1') === count - 1,
    LIMIT_MS,
  );
  await listener.stop('SIGKILL');
  return watch.longest();
}

it(
  'takes in forty times as many open files and actions with turns that are no longer',
  async () => {
    const few = await longestTurn(1_000);
    const many = await longestTurn(40_000);
    // The start of the program is the longest of its turns.
    expect(many).toBeLessThan(few * 2);
  },
  2 * LIMIT_MS,
);

it(
  'shows other processes that it is there, while it takes over actions',
  async () => {
    const user = new User({ STENO_TEST_TICK_MS: '50' });
    const env = { STENO_STATE_DIR: user.env.STENO_STATE_DIR ?? '' };
    // With a pause after every hundred, that takes at least a second.
    await makeCrowdedLedger(
      env,
      { openFiles: 1, due: 0, actions: 4_000 },
      { kind: 'forward', target: TARGET },
    );
    const listener = await Listener.start(user, ['--forward-to', TARGET]);
    const renewals = new Set<unknown>();
    const isLeft = (): boolean => queryLedger(user, 'SELECT 1 FROM actions WHERE run = 1 LIMIT 1').length > 0;
    expect(isLeft()).toBe(true);
    while (isLeft()) {
      for (const { seen_at: seenAt } of queryLedger(user, 'SELECT seen_at FROM runs WHERE id <> 1'))
        renewals.add(seenAt);
      await sleep(10);
    }
    expect(renewals.size).toBeGreaterThan(5);
    await listener.stop('SIGKILL');
  },
  LIMIT_MS,
);
