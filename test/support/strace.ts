/** The system calls of the program, as the kernel sees them. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished, type User } from './steno.ts';

export const hasStrace = spawnSync('strace', ['-V']).status === 0;

export interface Call {
  readonly name: string;
  /** The first argument: a descriptor or the working folder, and what it leads to, or a path in quotes. */
  readonly target: string;
  readonly text: string;
  /** Line numbers of the trace. */
  readonly begun: number;
  ended: number;
  /** What it returned. */
  result: number;
}

interface Traced {
  /** What it has said so far. */
  readonly stderr: string;
  /** These of its system calls, in the order in which they began, when it has ended. */
  ended(): Promise<{ calls: Call[]; code: number | null }>;
}

/** Starts the program, to be traced until it ends. */
export function startTraced(user: User, args: readonly string[], names: string): Traced {
  const log = join(user.home, 'trace');
  const child = spawn(
    'strace',
    ['-f', '-yy', '-s', '200', '-o', log, '-e', `trace=${names}`, ...user.program, ...args],
    { cwd: user.home, env: user.env },
  );
  child.stdin.end();
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const finish = finished(child);
  return {
    get stderr() {
      return stderr;
    },
    ended: async () => ({ code: (await finish).code, calls: parse(readFileSync(log, 'utf8')) }),
  };
}

/** Runs the program and gives these of its system calls, in the order in which they began. */
export const trace = (user: User, args: readonly string[], names: string): ReturnType<Traced['ended']> =>
  startTraced(user, args, names).ended();

function parse(log: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<string, Call>();
  log.split('\n').forEach((line, at) => {
    const [, thread = '', rest = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    const begun = /^(\w+)\(((?:\d+|AT_FDCWD)<.*?>|"[^"]*")([,)].*| <unfinished.*)$/.exec(rest);
    if (begun) {
      const [, name = '', target = '', text = ''] = begun;
      const call = { name, target, text, begun: at, ended: at, result: resultOf(rest) };
      calls.push(call);
      if (rest.endsWith('<unfinished ...>')) open.set(thread, call);
    } else if (rest.startsWith('<... ')) {
      const call = open.get(thread);
      if (!call) return;
      call.ended = at;
      call.result = resultOf(rest);
    }
  });
  return calls;
}

const resultOf = (line: string): number => Number(/ = (-?\d+)[^=]*$/.exec(line)?.[1] ?? Number.NaN);

export const isSync = ({ name }: Call): boolean => name === 'fsync' || name === 'fdatasync';
