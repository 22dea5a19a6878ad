import { errorCode } from './errors.ts';

/** Whether a process of this machine is running; EPERM means that it is, under another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
