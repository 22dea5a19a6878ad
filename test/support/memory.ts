/** What the memory of another process comes to, where the system tells: in bytes. */
import { readFileSync } from 'node:fs';

export const tellsMemory = process.platform === 'linux';

/** The most that it ever had. */
export function peakMemoryOf(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) * 1024;
}
