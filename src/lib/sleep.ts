import { setTimeout as wait } from 'node:timers/promises';
import { StenoError } from './errors.ts';

/** The longest delay that a timer of Node takes. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Waits; throws `interrupted` as soon as the user interrupts. */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(Math.min(milliseconds, MAX_DELAY_MS), undefined, { signal });
  } catch {
    throw new StenoError('interrupted', 'interrupted');
  }
}
