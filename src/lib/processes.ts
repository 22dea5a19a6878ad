import { accessSync, constants, readFileSync, readlinkSync, statSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Env } from './env.ts';
import { errorCode } from './errors.ts';
import { shownPostgresUrl } from './postgres-url.ts';

/** Whether a process of this machine is running. One that has ended and waits for its parent is not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs under another user.
    return errorCode(error) === 'EPERM';
  }
  return statOf(pid)?.state !== 'Z';
}

/** A process, so that another one can tell whether it is still there. */
export interface ProcessMark {
  readonly host: string;
  readonly pid: number;
  /**
   * When it began, in the system's own words, and where that counts: the boot and the container. Empty where that is not
   * cheap to learn. A number is used again, and containers may have the same name.
   */
  readonly start: string;
}

export function thisProcess(): ProcessMark {
  const { start = '' } = statOf(process.pid) ?? {};
  return { host: hostname(), pid: process.pid, start: start && [start, ...numberedBy()].join(' ') };
}

/** Whether its number is one of those that this process sees, as far as the mark tells. */
export function isOfThisMachine({ host, start }: ProcessMark): boolean {
  const [, ...where] = start.split(' ');
  return host === hostname() && (where.length === 0 || where.join(' ') === numberedBy().join(' '));
}

/** Whether it is certain that the process of the mark has ended: its number is one of those that this process sees. */
export const isCertainlyGone = (mark: ProcessMark): boolean =>
  mark.start.includes(' ') && isOfThisMachine(mark) && !isSameProcess(mark);

/** Whether a process of this machine is the one of the mark, and running. */
export function isSameProcess({ pid, start }: ProcessMark): boolean {
  if (!isRunning(pid)) return false;
  const found = statOf(pid)?.start;
  return found === undefined || start === '' || found === start.split(' ')[0];
}

/** The same where it is certain: a number alone may be that of another process by now. */
export const isCertainlySame = (mark: ProcessMark): boolean =>
  mark.start !== '' && statOf(mark.pid) !== undefined && isSameProcess(mark);

/** What gives Linux processes their numbers: the boot, and the container in it. */
function numberedBy(): string[] {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return [boot, readlinkSync('/proc/self/ns/pid')];
  } catch {
    return [];
  }
}

/** What Linux says of a process; nothing on other systems. */
export function statOf(pid: number): { state?: string; parent: number; start?: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in parentheses, may hold anything; after it come the state and the other fields.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = '', parent = '', start = ''] = [fields[0], fields[1], fields[19]];
    return { state, parent: Number(parent), start };
  } catch {
    return undefined;
  }
}

/** Gives a function that tells how many milliseconds ago this process began. Two clocks: the monotonic one stops during sleep. */
export function processAge(): () => number {
  const begun = Date.now() - process.uptime() * 1000;
  return () => Math.max(Date.now() - begun, process.uptime() * 1000);
}

/** How many files and connections this process may have open; infinite where the system does not tell cheaply. */
export function openFilesLimit(): number {
  try {
    // The hard limit counts: Node raises the other one to it.
    const limit = /^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
    return limit === undefined ? Number.POSITIVE_INFINITY : Number(limit);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Empty where the system has no name for the user. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return '';
  }
}

/** The words of a command: `less -R`, `"/opt/my pager" -x`. There is no shell, so nothing else has a meaning. */
export function splitCommand(line: string): string[] {
  const words = line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g);
  return [...words].map(([word]) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, one, other) => one ?? other));
}

/** The path of a program that can be run; undefined where there is none. */
export function findProgram(name: string, env: Env): string | undefined {
  const { PATH, Path } = env;
  const endings = process.platform === 'win32' ? ['.exe', ''] : [''];
  const folders = /[/\\]/.test(name) ? [''] : (PATH ?? Path ?? '').split(delimiter).filter(Boolean);
  return folders
    .flatMap((folder) => endings.map((ending) => (folder ? join(folder, name) : name) + ending))
    .find(canRun);
}

function canRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The key of the account, and what libpq calls the passwords of a database and of its client key. */
const secrets = ['STENO_API_KEY', 'PGPASSWORD', 'PGSSLPASSWORD'];

/** What the programs that we start see of our environment: all of it but our secrets. */
export function childEnv(env: Env): Env {
  const variables = Object.entries(env).filter(([name]) => !secrets.includes(folded(name)));
  return Object.fromEntries(
    variables.map(([name, value]) => [
      name,
      folded(name) === 'STENO_LEDGER' ? withoutPassword(value) : value,
    ]),
  );
}

/** Windows knows no case in the names of variables. */
const folded = (name: string): string => name.toUpperCase();

/** A `steno` in the command must not fall back to the local ledger: it would order again what the shared one has. */
function withoutPassword(url: string | undefined): string | undefined {
  try {
    return url && shownPostgresUrl(url);
  } catch {
    // It may hold a password all the same, and steno refuses this one too.
    return url && 'unreadable';
  }
}
