/** Where a key enters the program: here it is registered with the mask, and checked. */
import type { Env } from '../lib/env.ts';
import { StenoError, usage } from '../lib/errors.ts';
import type { Mask } from '../lib/mask.ts';

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
  if (!/^[\x21-\x7e\u00a1-\uffff]{1,4096}$/.test(value)) {
    throw usage(
      'the key has blanks or control characters in it, or is empty',
      'paste it again, alone on its line',
    );
  }
}

export const noKeyError = (): StenoError =>
  new StenoError('auth', 'no API key is set', { hint: 'run: steno login   (or set STENO_API_KEY)' });

const COMMAND_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_LENGTH = 65_536;

/** Runs the user's own command line and takes the first line that it prints. */
export async function keyFromCommand(command: string, mask: Mask): Promise<string> {
  const { spawn } = await import('node:child_process');
  const stdio = ['inherit', 'pipe', 'inherit'] as const;
  const child = spawn(command, { shell: true, stdio: [...stdio], timeout: COMMAND_TIMEOUT_MS });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (output.length < MAX_OUTPUT_LENGTH) output += chunk;
  });
  const status = await new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.on('error', () => resolve(-1));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  if (status !== 0)
    throw new StenoError('auth', `the key command failed (${status})`, {
      hint: 'see it with: steno config get api-key-command',
    });
  const key = output.split(/\r?\n/, 1)[0]?.trim() ?? '';
  if (!key) throw new StenoError('auth', 'the key command printed no key');
  return acceptKey(key, mask);
}
