import { readFileSync } from 'node:fs';
import { errorCode } from './errors.ts';

/** Whether a process of this machine is running; EPERM means that it is, under another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** Whether a process has ended and its parent has not asked yet how: in a container that may last for ever. */
function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    // The state follows the name, which stands in brackets and may hold brackets itself.
    return /\) Z [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
