import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Mutex } from '../../src/lib/mutex.ts';

it('one piece of work at a time, however many wait for it', async () => {
  const mutex = new Mutex();
  let running = 0;
  let most = 0;
  const work = async (): Promise<void> => {
    running += 1;
    most = Math.max(most, running);
    await sleep(1);
    running -= 1;
  };
  const all = Array.from({ length: 8 }, () => mutex.run(work));
  await Promise.all([...all, expect(mutex.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')]);
  await mutex.idle();
  expect([most, running]).toEqual([1, 0]);
});
