/** The pauses of everything that tries again or waits for a lock. */
import { monotonicMs, sleep } from './time.ts';

export interface Pauses {
  readonly firstMs: number;
  readonly maxMs?: number;
}

/** A lock is held for milliseconds. */
export const LOCK_PAUSES: Pauses = { firstMs: 10, maxMs: 40 };

/** After failure number `nth`: twice as long each time. */
export const doubledMs = (nth: number, { firstMs, maxMs = Number.POSITIVE_INFINITY }: Pauses): number =>
  Math.min(maxMs, firstMs * 2 ** (nth - 1));

/** With jitter, so that processes that wait together do not collide again. */
export const backoffMs = (nth: number, pauses: Pauses): number =>
  doubledMs(nth, pauses) * (0.5 + Math.random());

interface Waiting {
  readonly limitMs: number;
  /** Whether an error may be gone soon. */
  readonly mayPass: (error: unknown) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Tries until it works, while that may help; an interruption or the end of the time leads to one last try. */
export async function untilFree<Result>(
  attempt: () => Result | Promise<Result>,
  { limitMs, mayPass, signal = new AbortController().signal }: Waiting,
): Promise<Result> {
  const deadline = monotonicMs() + limitMs;
  for (let nth = 1; ; nth += 1) {
    const isLast = signal.aborted || monotonicMs() > deadline;
    try {
      return await attempt();
    } catch (error) {
      if (isLast || !mayPass(error)) throw error;
      await sleep(backoffMs(nth, LOCK_PAUSES), signal).catch(() => {});
    }
  }
}
