/** The program, run to one of its steps and killed there; `steps.py` says what a step is. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { BIN, type User } from '../support/steno.ts';

export interface Step {
  readonly call: string;
  /** A path, a connection as `tcp 40000-4100`, `stdout`, `stderr`, or the process that is started. */
  readonly target: string;
}

const STEPS = resolve('test/crash/steps.py');

/** Python itself: a version manager puts a slow script in front of it. */
const python = (): string =>
  execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();

/** Whether processes can be traced here at all. */
export const canTrace =
  process.platform === 'linux' &&
  spawnSync('python3', [STEPS, '/dev/null', '0', 'true'], { stdio: 'ignore' }).status === 0;

if (!canTrace && process.env.CI) throw new Error('CI must be able to trace processes: python3 on Linux');
if (!canTrace) console.warn('crash points are not tested: that needs python3 on Linux, and ptrace');

const PYTHON = canTrace ? python() : '';

const logOf = ({ home }: User): string => join(home, 'steps');

/** Starts the program, to be killed right before the step of that number; with 0 it runs to its end. */
export const startTraced = (
  user: User,
  args: readonly string[],
  killAt: number,
): ChildProcessWithoutNullStreams =>
  spawn(PYTHON, [STEPS, logOf(user), String(killAt), process.execPath, BIN, ...args], {
    cwd: user.home,
    env: user.env,
  });

/** The steps of the last traced run; the last one was not taken, if it was killed there. */
export function stepsOf(user: User): Step[] {
  if (!existsSync(logOf(user))) return [];
  const lines = readFileSync(logOf(user), 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Step);
}

/** Without what differs from run to run. */
export const nameOf = ({ call, target }: Step, home: string): string =>
  `${call} ${target.replace(home, '~').replace(/^tcp \d+-/, 'tcp ')}`;

/**
 * The numbers of the steps that are tried, from 1. Of calls in a row that do the same with the same file (the pages of
 * one commit), the first and the last are: before the first nothing is written, before the last all but the end.
 */
export function pointsOf(steps: readonly Step[]): number[] {
  const isSame = (one: Step | undefined, other: Step | undefined): boolean =>
    one?.call === other?.call && one?.target === other?.target;
  return steps.flatMap((step, at) => {
    // The index of SQLite's log: the next process that opens it makes it anew.
    if (step.target.endsWith('-shm')) return [];
    const isInside = isSame(step, steps[at - 1]) && isSame(step, steps[at + 1]);
    return isInside ? [] : [at + 1];
  });
}
