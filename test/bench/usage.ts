/** What a command takes, as the kernel counts it: memory and processor time. Linux tells, others do not. */
import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import type { Env } from './place.ts';

const MEGABYTE = 1e6;
const POLL_MS = 10;
/** A tick of the kernel's clock, by which it counts. */
const TICK_MS = 10;

export const noProc = existsSync('/proc/self/status') ? undefined : 'this system has no /proc';

export interface Usage {
  readonly exit: number | null;
  readonly megabytes: number;
  /** Of the processor. */
  readonly milliseconds: number;
  readonly stderr: string;
}

export interface RunOptions {
  /** A file that takes what is printed. */
  readonly output?: string;
  /** The exit code that is expected. */
  readonly exit?: number;
}

/** Runs a command to its end, without stopping this process, in which a service may run. */
export function usageOf(
  args: readonly string[],
  env: Env,
  { output, exit = 0 }: RunOptions = {},
): Promise<Usage> {
  const stdout = output === undefined ? undefined : openSync(output, 'w');
  const child = spawn(process.execPath, args, {
    env,
    cwd: env.BENCH_FOLDER,
    stdio: ['ignore', stdout ?? 'ignore', 'pipe'],
  });
  if (stdout !== undefined) closeSync(stdout);
  let [megabytes, milliseconds, stderr] = [0, 0, ''];
  child.stderr?.on('data', (text: Buffer) => {
    stderr += text;
  });
  const timer = setInterval(() => {
    megabytes = Math.max(megabytes, peak(child.pid ?? 0));
    milliseconds = Math.max(milliseconds, processorTime(child.pid ?? 0));
  }, POLL_MS);
  return new Promise((done, failed) => {
    child.on('close', (code) => {
      clearInterval(timer);
      if (code !== exit) failed(new Error(`${args.join(' ')}: exit ${code}\n${stderr.slice(0, 2000)}`));
      else done({ exit: code, megabytes: Math.round(megabytes), milliseconds, stderr });
    });
  });
}

/** The most that a process has held so far, in MB: the kernel keeps count, so that no peak is missed between two looks. */
export function peak(pid: number): number {
  const kilobytes = /VmHWM:\s+(\d+) kB/.exec(read(`/proc/${pid}/status`))?.[1];
  return (Number(kilobytes ?? 0) * 1024) / MEGABYTE;
}

function processorTime(pid: number): number {
  const fields = read(`/proc/${pid}/stat`).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * TICK_MS;
}

/** Nothing where the process has ended. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
