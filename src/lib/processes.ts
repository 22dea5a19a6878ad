import { errorCode } from './errors.ts';

/** Whether a process of this machine is running; one of another user counts too. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
