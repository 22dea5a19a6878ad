import { StenoError } from '../lib/errors.ts';
import { checkKey, type Settings } from './settings.ts';

export interface Key {
  readonly value: string;
  readonly source: string;
}

/** The key from flag, environment or profile; a kept command stands in the place of a kept key. */
export async function getKey(settings: Settings): Promise<Key | undefined> {
  const { value, source } = settings.get('api-key');
  if (value !== undefined) return { value, source };
  const command = settings.get('api-key-command');
  if (command.value === undefined) return undefined;
  return { value: await keyFromCommand(command.value), source: `command of ${command.source}` };
}

export function noKeyError(): StenoError {
  return new StenoError('auth', 'no API key is set', {
    hint: 'run: steno login   (or set STENO_API_KEY)',
  });
}

/** Runs the user's own command line and takes the first line that it prints. */
export async function keyFromCommand(command: string): Promise<string> {
  const { spawn } = await import('node:child_process');
  const child = spawn(command, { shell: true, stdio: ['inherit', 'pipe', 'inherit'], timeout: 60_000 });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (printed.length < 65_536) printed += chunk;
  });
  const status = await new Promise<number | NodeJS.Signals | null>((done) => {
    child.on('error', () => done(-1));
    child.on('close', (code, signal) => done(code ?? signal));
  });
  if (status !== 0)
    throw new StenoError('auth', `the key command failed (${status})`, {
      hint: 'see it with: steno config get api-key-command',
    });
  const key = printed.split(/\r?\n/, 1)[0]?.trim() ?? '';
  if (!key) throw new StenoError('auth', 'the key command printed no key');
  checkKey(key);
  return key;
}
