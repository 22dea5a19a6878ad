/** A command line of the user's, with everything that it starts: ended as a whole. */

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Env } from '../lib/env.ts';

const onWindows = process.platform === 'win32';
/** What does not end when asked to is made to. */
const INSIST = 2_000;

export const startGroup = (command: string, env: Env, stdio: StdioOptions): ChildProcess =>
  spawn(command, { shell: true, detached: !onWindows, windowsHide: true, env: { ...env }, stdio });

/** Ends the command and its children; resolves when it is gone. */
export async function endGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined) return;
  const gone = new Promise<void>((done) => {
    if (child.exitCode !== null || child.signalCode !== null) done();
    else child.once('exit', () => done());
  });
  send(child.pid, 'SIGTERM');
  const timer = setTimeout(() => send(child.pid, 'SIGKILL'), INSIST);
  await gone;
  clearTimeout(timer);
}

function send(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    if (onWindows) spawn('taskkill', ['/pid', String(pid), '/T', '/F'], { stdio: 'ignore' });
    else process.kill(-pid, signal);
  } catch {
    // It has ended by itself.
  }
}
