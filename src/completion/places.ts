/** Where each shell looks for completions, and what its start-up file must say for that. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Env } from '../lib/env.ts';
import { DiskError, usage } from '../lib/errors.ts';
import { childEnv } from '../lib/processes.ts';
import { didYouMean, shellWord } from '../lib/text.ts';
import { type Shell, shells } from './model.ts';

export interface Place {
  readonly shell: Shell;
  readonly script: string;
  /** Where the block goes; undefined where the shell finds the script by itself. */
  readonly startUpFile?: string | undefined;
  /** Every file in which it may be: where it goes depends on the environment of the time. */
  readonly startUpFiles: readonly string[];
  readonly block: readonly string[];
  /** For a shell that is open already. */
  readonly now: string;
}

type ShellPlace = Omit<Place, 'shell'>;

export interface Machine {
  readonly env: Env;
  readonly platform: NodeJS.Platform;
  /** Where the system's own files are: another folder in tests. */
  readonly root: string;
}

export const thisMachine = (env: Env): Machine => ({ env, platform: process.platform, root: '/' });

const places: Record<Shell, (home: string, machine: Machine) => ShellPlace> = {
  bash: bashPlace,
  zsh: zshPlace,
  fish: fishPlace,
  powershell: powershellPlace,
};

export const placeOf = (shell: Shell, machine: Machine): Place => ({
  shell,
  ...places[shell](homeOf(machine), machine),
});

/** The shell that a person uses: named, or that of $SHELL, which may be `bash-5.2` or `pwsh-preview`. */
export function chooseShell(name: string | undefined, { env, platform }: Machine): Shell {
  const program = basename(env.SHELL ?? '').replace(/\.exe$/i, '');
  const asked = name ?? (program || (platform === 'win32' ? 'powershell' : ''));
  const [known] = /^(bash|zsh|fish|pwsh|powershell)\b/.exec(asked) ?? [];
  if (known) return known === 'pwsh' ? 'powershell' : (known as Shell);
  const hint = `choose one: steno completion install ${shells.join('|')}`;
  if (name !== undefined) throw usage(`no completion for '${name}'`, didYouMean(name, shells, hint));
  throw usage(asked ? `there is no completion for ${asked} (from SHELL)` : 'SHELL is not set', hint);
}

function homeOf({ env, platform }: Machine): string {
  const name = platform === 'win32' && !env.HOME ? 'USERPROFILE' : 'HOME';
  const home = env[name];
  const hint = 'print the script instead: steno completion <shell>';
  if (!home || !isAbsolute(home))
    throw usage(`${name} is not set, so there is nowhere to install completions`, hint);
  const stats = statSync(home, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) throw new DiskError(`there is no home folder ${home}`, { hint });
  if (process.getuid?.() === 0 && stats.uid !== 0)
    throw usage(`${home} belongs to a user other than root`, 'run it as that user, without sudo');
  return home;
}

/** A folder of the XDG rules: a relative one counts as not set. */
const xdg = (value: string | undefined, ...fallback: [string, ...string[]]): string =>
  value && isAbsolute(value) ? value : join(...fallback);

function bashPlace(home: string, machine: Machine): ShellPlace {
  const { env } = machine;
  const [user] = (env.BASH_COMPLETION_USER_DIR ?? '').split(':');
  const data = xdg(env.XDG_DATA_HOME, home, '.local', 'share');
  const script = join(xdg(user, data, 'bash-completion'), 'completions', 'steno');
  const word = inHome(script, home);
  return {
    script,
    startUpFile: loadsBashCompletion(home, machine) ? undefined : bashStartUpFile(home, machine),
    startUpFiles: ['.bashrc', ...loginFiles].map((name) => join(home, name)),
    block: [`if [ -n "$BASH_VERSION" ] && [ -r ${word} ]; then . ${word}; fi`],
    now: `. ${word}`,
  };
}

/** What a login shell reads: the first of these. */
const loginFiles = ['.bash_profile', '.bash_login', '.profile'];

/** The terminals of macOS start login shells, which do not read .bashrc unless their own file says so. */
function bashStartUpFile(home: string, { platform }: Machine): string {
  const bashrc = join(home, '.bashrc');
  if (platform !== 'darwin') return bashrc;
  const login = join(home, loginFiles.find((name) => existsSync(join(home, name))) ?? '.bash_profile');
  return says(login, /\.bashrc/) ? bashrc : login;
}

/** Whether bash-completion (2.0 or later, which looks into the user's folder) is there and is loaded. */
function loadsBashCompletion(home: string, { env, root }: Machine): boolean {
  const prefixes = ['usr', 'usr/local', 'opt/homebrew', 'opt/local', 'home/linuxbrew/.linuxbrew'];
  const folders = [...prefixes.map((each) => join(root, each)), env.HOMEBREW_PREFIX || root];
  const isThere = folders.some((each) => existsSync(join(each, 'share/bash-completion/bash_completion')));
  const files = [join(home, '.bashrc'), join(root, 'etc/bash.bashrc'), join(root, 'etc/bashrc')];
  // Fedora's /etc/bashrc reads all of that folder.
  const isRead = (): boolean =>
    says(join(root, 'etc/bashrc'), /profile\.d/) &&
    existsSync(join(root, 'etc/profile.d/bash_completion.sh'));
  return isThere && (files.some((each) => says(each, /bash_completion/)) || isRead());
}

/** Whether a line of a file that is no comment has it. */
function says(path: string, what: RegExp): boolean {
  try {
    const lines = readFileSync(path, 'latin1').split('\n');
    return lines.some((line) => !/^\s*#/.test(line) && what.test(line));
  } catch {
    return false;
  }
}

function zshPlace(home: string, { env }: Machine): ShellPlace {
  const folder = join(xdg(env.XDG_DATA_HOME, home, '.local', 'share'), 'zsh', 'site-functions');
  const startUpFile = join(xdg(env.ZDOTDIR, home), '.zshrc');
  return {
    script: join(folder, '_steno'),
    startUpFile,
    startUpFiles: [startUpFile, join(home, '.zshrc')],
    block: [
      `fpath=(${inHome(folder, home)} "\${fpath[@]}")`,
      '(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }',
      'autoload -Uz _steno && compdef _steno steno',
    ],
    now: 'exec zsh',
  };
}

function fishPlace(home: string, { env }: Machine): ShellPlace {
  const script = join(xdg(env.XDG_CONFIG_HOME, home, '.config'), 'fish', 'completions', 'steno.fish');
  return { script, startUpFiles: [], block: [], now: `source ${inHome(script, home)}` };
}

function powershellPlace(home: string, machine: Machine): ShellPlace {
  const startUpFile = powershellProfile(home, machine);
  const script = join(dirname(startUpFile), 'steno-completion.ps1');
  // Curly quotes are quotes to PowerShell too.
  const word = `'${script.replace(/['\u2018-\u201b]/g, '$&$&')}'`;
  const block = [`if (Test-Path -LiteralPath ${word}) { . ${word} }`];
  return { script, startUpFile, startUpFiles: [startUpFile], block, now: `. ${word}` };
}

const PROFILE_TIMEOUT_MS = 10_000;

/** On Windows PowerShell is asked: the folder of documents may be anywhere. */
function powershellProfile(home: string, { env, platform }: Machine): string {
  const name = 'Microsoft.PowerShell_profile.ps1';
  if (platform !== 'win32') return join(xdg(env.XDG_CONFIG_HOME, home, '.config'), 'powershell', name);
  const options = { env: childEnv(env), timeout: PROFILE_TIMEOUT_MS, windowsHide: true };
  for (const program of ['pwsh', 'powershell']) {
    const { stdout } = spawnSync(program, ['-NoProfile', '-NonInteractive', '-Command', '$PROFILE'], options);
    const path = stdout?.toString().trim();
    if (path && isAbsolute(path)) return path;
  }
  return join(home, 'Documents', 'PowerShell', name);
}

/** As a word of a shell: by $HOME where it is below it, so that the file can be shared between machines. */
function inHome(path: string, home: string): string {
  if (!path.startsWith(`${home}/`)) return shellWord(path);
  return `"$HOME${path.slice(home.length).replace(/["\\$`]/g, '\\$&')}"`;
}
