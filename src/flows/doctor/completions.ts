/** Whether the shell of the user completes steno's words. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import type { Env } from '../../lib/env.ts';
import { type Finding, ok, skipped, warn } from './check.ts';
import type { Setup } from './setup.ts';

/** Where each shell looks, those of the user first. */
const places: Readonly<Record<string, (home: string, env: Env) => readonly string[]>> = {
  bash: (home, env) => [
    join(dataHome(home, env), 'bash-completion', 'completions', 'steno'),
    join(home, '.bash_completion.d', 'steno'),
    ...system('bash-completion/completions/steno'),
    '/etc/bash_completion.d/steno',
    '/opt/homebrew/etc/bash_completion.d/steno',
  ],
  zsh: (home, env) => [
    join(dataHome(home, env), 'zsh', 'site-functions', '_steno'),
    join(home, '.zfunc', '_steno'),
    join(home, '.zsh', 'completions', '_steno'),
    ...system('zsh/site-functions/_steno'),
  ],
  fish: (home, env) => [
    join(env.XDG_CONFIG_HOME || join(home, '.config'), 'fish', 'completions', 'steno.fish'),
    ...system('fish/vendor_completions.d/steno.fish'),
  ],
};

const dataHome = (home: string, env: Env): string => env.XDG_DATA_HOME || join(home, '.local', 'share');

const system = (path: string): string[] =>
  ['/usr/share', '/usr/local/share', '/opt/homebrew/share'].map((folder) => join(folder, path));

export function checkCompletions({ env }: Setup): Finding {
  const shell = basename(env.SHELL ?? '');
  const placesOf = places[shell];
  if (!placesOf) return skipped(shell ? `not known for ${shell}` : 'the shell is not known', HINT);
  const found = placesOf(homedir(), env).find((path) => existsSync(path));
  return found ? ok(`${found}, for ${shell}`) : warn(`none found for ${shell}`, HINT);
}

const HINT = 'install them with: steno completion install';
