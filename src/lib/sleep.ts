import { setTimeout as wait } from 'node:timers/promises';
import { StenoError } from './errors.ts';

/** Waits, unless the user interrupts. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(Math.min(milliseconds, 2 ** 31 - 1), undefined, { signal });
  } catch {
    throw new StenoError('interrupted', 'interrupted');
  }
}
