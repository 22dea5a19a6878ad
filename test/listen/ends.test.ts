/**
 * Listeners that end in every way, at any moment, while events come in: every event that was answered is kept to the
 * byte, shown by one session or the next, and leads to one run of the command.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { orderingAccount } from '../support/ledger.ts';
import { complete, eventsOf, Listener } from '../support/listener.ts';
import { isLong } from '../support/slices.ts';
import { isShared } from '../support/store.ts';

const STORE = isShared ? 'a shared ledger' : 'a local ledger';
const random = (below: number): number => Math.floor(Math.random() * below);
const ROUNDS = isLong ? 24 : 8;
const SENDERS = 8;

/** How a session ends, by itself or with a signal. */
const ENDS: ReadonlyArray<{ readonly args: readonly string[]; readonly signal?: NodeJS.Signals }> = [
  { args: [], signal: 'SIGTERM' },
  { args: ['--count', '7'] },
  { args: [], signal: 'SIGKILL' },
  { args: ['--until', 'TRANSCRIPT_COMPLETE'] },
  { args: [], signal: 'SIGINT' },
  { args: ['--timeout', '3s'] },
  { args: ['--count', '1'] },
  { args: ['--count', '1000'], signal: 'SIGKILL' },
];

it(
  `shows every event and runs its command once, however its listener ends, with ${STORE}`,
  async () => {
    const { user } = await orderingAccount({ STENO_TEST_TICK_MS: '50' });
    const exec = ['--exec', 'printf "%s %s\\n" "$STENO_EVENT_AUDIOFILE" "$STENO_EVENT_TRY" >> ran', '--json'];
    const sent = new Map<string, string>();
    const answered: string[] = [];
    const shown: string[] = [];
    let next = 1;
    const sender = async (listener: Listener): Promise<void> => {
      while (listener.child.exitCode === null && listener.child.signalCode === null) {
        const id = String(next++);
        const body = `${complete(id)}&noise=${encodeURIComponent('ä%'.repeat(random(40)))}`;
        sent.set(id, body);
        const answer = await listener.post(body).catch(() => undefined);
        if (answer?.status === 200) answered.push(id);
        await sleep(random(15));
      }
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      const { args, signal } = ENDS[round % ENDS.length] as (typeof ENDS)[number];
      const listener = await Listener.start(user, [...exec, ...args]);
      const senders = Array.from({ length: SENDERS }, () => sender(listener));
      if (signal) {
        await sleep(50 + random(400));
        await listener.stop(signal);
      } else await listener.ended;
      await Promise.all(senders);
      // The last line of one that was killed may have been cut.
      shown.push(...listener.stdout.split('\n').slice(0, -1));
    }
    const ran = (): string[] =>
      existsSync(join(user.home, 'ran'))
        ? readFileSync(join(user.home, 'ran'), 'utf8').trim().split('\n')
        : [];
    const ranFor = (): Set<string | undefined> => new Set(ran().map((line) => line.split(' ')[0]));
    const last = await Listener.start(user, exec);
    await last.until(() => answered.every((id) => ranFor().has(id)), 60_000);
    const shownBy = (): Set<unknown> =>
      new Set(
        [...shown, ...last.lines].map((line) => (JSON.parse(line) as Record<string, unknown>).audiofile),
      );
    await last.until(() => answered.every((id) => shownBy().has(id)), 60_000);
    await last.stop();
    // A second run tells by its number that a kill left the end of the first one unknown.
    const [first, again] = [0, 1].map((repeated) =>
      ran().filter((line) => Number(line.split(' ')[1]) > 1 === Boolean(repeated)),
    ) as [string[], string[]];
    expect(first).toHaveLength(new Set(first).size);
    expect(again.length).toBeLessThan(ROUNDS * 4);
    const kept = await eventsOf(user);
    expect(kept.map(({ audiofile }) => audiofile)).toHaveLength(
      new Set(kept.map(({ audiofile }) => audiofile)).size,
    );
    const bodies = new Map(kept.map(({ audiofile, fields }) => [audiofile, fields]));
    for (const id of answered)
      expect(bodies.get(id)).toEqual(Object.fromEntries(new URLSearchParams(sent.get(id) ?? '')));
    expect(answered.length).toBeGreaterThan(ROUNDS);
    // Nothing is left to show.
    const after = await user.run(['listen', '--port', '0', '--quiet', '--timeout', '1s']);
    expect(after.stdout).toBe('');
  },
  isLong ? 240_000 : 90_000,
);
