/** Where a key enters the program: here it is registered with the mask, and checked. */
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import type { Mask } from '../lib/mask.ts';
import { childEnv } from '../lib/processes.ts';
import { hasHidden } from '../lib/text.ts';
import { formatDuration } from '../lib/time.ts';

export interface Key {
  readonly value: string;
  readonly source: string;
}

/** Masks a key given by flag or environment, before anything else is printed. */
export function maskGivenKeys(mask: Mask, flag: string | undefined, env: Env): void {
  for (const key of [flag, env.STENO_API_KEY]) if (key) mask.add(key);
}

/** Takes a key that was typed, read from stdin or printed by the key command. */
export function acceptKey(value: string, mask: Mask): string {
  mask.add(value);
  checkKey(value);
  return value;
}

export function checkKey(value: string): void {
  if (!/^[\x21-\x7e\u00a1-\uffff]{1,4096}$/.test(value) || hasHidden(value)) {
    throw usage(
      'the key is empty, or contains spaces, control or invisible characters',
      'paste it again, alone on its line',
    );
  }
}

export const noKeyError = (env: Env): StenoError =>
  new StenoError('auth', 'no API key is set', {
    // The variables of an event: this is a command of --exec.
    hint: env.STENO_EVENT_N
      ? 'run: steno login   (or pass the key to this command: listen --exec-with-key)'
      : 'run: steno login   (in a script: export STENO_API_KEY=…; to try it without an account: --sandbox)',
  });

const MAX_COMMAND_MS = 60_000;
/** How long a command that is told to end may still take, to give the terminal back as it was. */
const ENDING_MS = 500;
const MAX_OUTPUT_LENGTH = 65_536;

export interface CommandLimits {
  /** The flag --timeout. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

/** What a command prints, in messages, and the setting that holds the command. */
interface Printed {
  readonly name: string;
  readonly setting: string;
}

export async function keyFromCommand(command: string, mask: Mask, limits: CommandLimits): Promise<string> {
  const what = { name: 'key', setting: 'api-key-command' };
  const key = await secretFromCommand(command, what, mask, limits);
  checkKey(key);
  return key;
}

/** Runs the user's own command line and takes the first line that it prints. */
export async function secretFromCommand(
  command: string,
  { name, setting }: Printed,
  mask: Mask,
  limits: CommandLimits,
): Promise<string> {
  const { spawn } = await import('node:child_process');
  // In our own process group: a command that asks for a passphrase needs the terminal.
  const child = spawn(command, {
    shell: true,
    stdio: ['inherit', 'pipe', 'inherit'],
    env: childEnv(process.env),
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (output.length < MAX_OUTPUT_LENGTH) output += chunk;
  });
  const status = await untilEnd(child, name, limits);
  if (status !== 0)
    throw new StenoError('auth', `the ${name} command failed (${status})`, {
      hint: `see the command: steno config get ${setting}`,
    });
  const secret = output.split(/\r?\n/, 1)[0]?.trim() ?? '';
  if (!secret) throw new StenoError('auth', `the ${name} command printed no ${name}`);
  mask.add(secret);
  return secret;
}

async function untilEnd(
  child: ChildProcessByStdio<null, Readable, null>,
  name: string,
  { timeoutMs = MAX_COMMAND_MS, signal }: CommandLimits,
): Promise<number | NodeJS.Signals | null> {
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('error', () => resolve(-1));
    child.on('close', (code, killedBy) => resolve(code ?? killedBy));
  });
  const limitMs = Math.min(timeoutMs, MAX_COMMAND_MS);
  const limit = AbortSignal.any([signal, AbortSignal.timeout(limitMs)]);
  const result = await Promise.race([ended, aborted(limit)]);
  if (result !== 'aborted') return result;
  await endCommand(child, ended);
  if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
  throw new StenoError('timeout', `the ${name} command took longer than ${formatDuration(limitMs)}`, {
    hint: 'run it on its own to see what it waits for',
  });
}

/** With all that it has started, which would go on to hold our stderr. */
async function endCommand(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.pid === undefined) return;
  const { processTree, signalAll } = await import('../lib/child-processes.ts');
  const pids = processTree(child.pid);
  signalAll(pids, 'SIGTERM');
  if ((await Promise.race([ended, aborted(AbortSignal.timeout(ENDING_MS))])) === 'aborted')
    signalAll(pids, 'SIGKILL');
  child.stdout?.destroy();
}

const aborted = (signal: AbortSignal): Promise<'aborted'> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve('aborted');
    signal.addEventListener('abort', () => resolve('aborted'), { once: true });
  });
