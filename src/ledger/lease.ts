/** Whether the process that sends an order is still there. Its heartbeat is a lease: without one, it runs out. */

import { isCertainlySame, isOfThisMachine, isSameProcess, type ProcessMark } from '../lib/processes.ts';
import { monotonicMs } from '../lib/time.ts';

export const HEARTBEAT_INTERVAL_MS = 10_000;
const MAX_SILENCE_MS = 45_000;

export interface Lease extends ProcessMark {
  readonly seenAt: string;
}

/** What tells whether a lease has run out. */
export interface LeaseClock {
  /** The time, by the clock that the heartbeats are written by. */
  readonly nowMs: number;
  /** On a shared ledger hosts may have the same name, and processes of different containers the same number. */
  readonly isShared: boolean;
  readonly maxSilenceMs?: number;
}

const here = (): LeaseClock => ({ nowMs: Date.now(), isShared: false });

/**
 * On another machine, or in another container, only the heartbeat tells. On this one a process that is gone ends its lease at once, and one that
 * is there keeps it, whatever the clock says: it may be stopped (Ctrl-Z), and sends its order when it goes on.
 */
export function holdsLease(lease: Lease, clock = here()): boolean {
  const { nowMs, isShared, maxSilenceMs = MAX_SILENCE_MS } = clock;
  const silent = isSilent(lease.seenAt, maxSilenceMs, nowMs);
  if (isShared) return !silent;
  if (!isOfThisMachine(lease)) return lease.host !== '' && !silent;
  return silent ? isCertainlySame(lease) : isSameProcess(lease);
}

/**
 * Whether the last heartbeat of a process is older than the limit. One from further in the future was written by a wrong
 * clock and says nothing: it would count as fresh until the right clock catches up.
 */
export const isSilent = (seenAt: string, limitMs = MAX_SILENCE_MS, nowMs = Date.now()): boolean =>
  Math.abs(nowMs - Date.parse(seenAt)) > limitMs;

/** A lease that was taken longer ago than this is asked about before an order is sent. */
const RECHECK_AFTER_MS = 2_000;

/** Starts a timer; gives a function that tells whether it is over. Two clocks: the monotonic clock stops during sleep. */
export function recheckTimer(): () => boolean {
  const [begun, begunMonotonic] = [Date.now(), monotonicMs()];
  return () => Math.max(Date.now() - begun, monotonicMs() - begunMonotonic) > RECHECK_AFTER_MS;
}
