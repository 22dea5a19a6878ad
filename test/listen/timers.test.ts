/** Errors of timers and of work that nothing waits for. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { repeat, runInBackground, startTimer } from '../../src/listen/background.ts';

const thrown = (): void => {
  throw new Error('thrown');
};
const rejected = (): Promise<void> => Promise.reject(new Error('rejected'));

describe('timers of the receiver', () => {
  it.each([
    ['thrown', thrown],
    ['rejected', rejected],
  ])('pass on an error that is %s', async (message, work) => {
    const errors: unknown[] = [];
    runInBackground(work, (error) => errors.push(error));
    startTimer(1, work, (error) => errors.push(error));
    await expect.poll(() => errors).toEqual([new Error(message), new Error(message)]);
  });

  it('can be cancelled', async () => {
    const ran: string[] = [];
    const cancel = startTimer(10, () => void ran.push('first'), thrown);
    startTimer(20, () => void ran.push('second'), thrown);
    cancel();
    await expect.poll(() => ran).toEqual(['second']);
  });

  it('do not end at once where they are set for longer than node can wait', async () => {
    const ran: string[] = [];
    const cancel = startTimer(2 ** 40, () => void ran.push('too early'), thrown);
    await sleep(50);
    cancel();
    expect(ran).toEqual([]);
  });

  it('repeat work until the signal fires, one run after the other', async () => {
    const stop = new AbortController();
    const log: string[] = [];
    await repeat(1, stop.signal, async () => {
      log.push('begin');
      await sleep(5);
      log.push('end');
      if (log.length === 6) stop.abort();
    });
    expect(log).toEqual(['begin', 'end', 'begin', 'end', 'begin', 'end']);
  });

  it('are set in one file', () => {
    const files = readdirSync('src/listen', { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts'))
      .filter((path) => /\bset(Timeout|Interval)\(/.test(readFileSync(join('src/listen', path), 'utf8')));
    expect(files).toEqual(['background.ts']);
  });
});
