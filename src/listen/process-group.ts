/** A command line of the user's and every process that it starts, ended together. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Env } from '../lib/env.ts';
import { startTimer } from './timers.ts';

const onWindows = process.platform === 'win32';
/** How long a group may take to end after SIGTERM. */
const KILL_AFTER_MS = 2_000;

export const startGroup = (command: string, env: Env, stdio: StdioOptions): ChildProcess =>
  spawn(command, { shell: true, detached: !onWindows, windowsHide: true, env: { ...env }, stdio });

/** Ends the command and its children; resolves when the command is gone. */
export function endGroup(child: ChildProcess): Promise<void> {
  const { pid, exitCode, signalCode } = child;
  if (pid === undefined) return Promise.resolve();
  signalGroup(pid, 'SIGTERM');
  return new Promise((resolve, reject) => {
    if (exitCode !== null || signalCode !== null) return resolve();
    const cancelKill = startTimer(KILL_AFTER_MS, () => signalGroup(pid, 'SIGKILL'), reject);
    child.once('exit', () => {
      cancelKill();
      resolve();
    });
  });
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (onWindows) {
    // It fails where the group has ended by itself.
    spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' }).on('error', () => {});
    return;
  }
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has ended by itself.
  }
}
