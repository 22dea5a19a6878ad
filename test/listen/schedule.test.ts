import { describe, expect, it } from 'vitest';
import {
  fileRetries,
  pauseAfter,
  type RetrySchedule,
  targetRetries,
  unknownFileRetries,
} from '../../src/listen/action.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** The pauses of an action that never works, until it is given up. */
function pauses(schedule: RetrySchedule): number[] {
  const all: number[] = [];
  let failingMs = 0;
  for (;;) {
    const pause = pauseAfter(schedule, all.length + 1, failingMs);
    if (pause === undefined) return all;
    all.push(pause);
    failingMs += pause;
  }
}

describe('pauses between tries', () => {
  it('to a target grow to 30 s in the first ten minutes, then to five, and end after a day', () => {
    const all = pauses(targetRetries);
    expect(all.slice(0, 8)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(Math.max(...all)).toBe(5 * MINUTE);
    const total = all.reduce((sum, each) => sum + each, 0);
    expect(total).toBeGreaterThanOrEqual(DAY);
    expect(total).toBeLessThan(DAY + 5 * MINUTE + 1);
  });

  it('never shrink, and an unknown file gets fewer tries a day than a file of the ledger', () => {
    for (const schedule of [targetRetries, fileRetries, unknownFileRetries]) {
      const all = pauses(schedule);
      expect(all).toEqual([...all].sort((one, other) => one - other));
    }
    expect(pauses(unknownFileRetries).length).toBeLessThan(40);
    expect(pauses(fileRetries).length / 30).toBeGreaterThan(100);
  });
});
