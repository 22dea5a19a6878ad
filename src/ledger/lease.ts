/** Whether the process that sends an order is still there. Its heartbeat is a lease: without one, it runs out. */
import { hostname } from 'node:os';
import { isSameProcess, type ProcessMark } from '../lib/processes.ts';

export const HEARTBEAT_INTERVAL_MS = 10_000;
const MAX_SILENCE_MS = 45_000;

export interface Lease extends ProcessMark {
  readonly seenAt: string;
}

/** On another machine only the heartbeat tells; on this one a process that is gone ends its lease at once. */
export function holdsLease(lease: Lease, now = Date.now()): boolean {
  if (now - Date.parse(lease.seenAt) > MAX_SILENCE_MS) return false;
  return lease.host === hostname() ? isSameProcess(lease) : lease.host !== '';
}
