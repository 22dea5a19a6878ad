/** Whether the shell of the user completes steno's words. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../lib/errors.ts';
import { type Finding, ok, skipped, warn } from './check.ts';
import type { Completions, Setup } from './setup.ts';

const INSTALL = 'install them with: steno completion install';

/** What a package manager may have installed for all users. */
const forAll: Readonly<Record<string, readonly string[]>> = {
  bash: ['share/bash-completion/completions/steno', 'etc/bash_completion.d/steno'],
  zsh: ['share/zsh/site-functions/_steno', 'share/zsh/vendor-completions/_steno'],
  fish: ['share/fish/vendor_completions.d/steno.fish'],
};

export async function checkCompletions({ completions }: Setup): Promise<Finding> {
  let found: Completions;
  try {
    found = await completions();
  } catch (error) {
    return skipped(errorMessage(error), INSTALL);
  }
  const { shell, script, state } = found;
  if (state === 'installed') return ok(`${script}, for ${shell}`);
  if (state === 'outdated') return warn(`${script} is of another version of steno`, INSTALL);
  const other = otherPlace(found);
  return other ? ok(`${other}, for ${shell}`) : warn(`none found for ${shell}`, INSTALL);
}

/** Installed for all users, or loaded by a line of the user's own. */
function otherPlace({ shell, startUpFiles }: Completions): string | undefined {
  const system = ['/usr', '/usr/local', '/opt/homebrew', '/'].flatMap((folder) =>
    (forAll[shell] ?? []).map((path) => join(folder, path)),
  );
  return system.find((path) => existsSync(path)) ?? startUpFiles.find(loadsCompletion);
}

function loadsCompletion(path: string): boolean {
  try {
    return /^[^#\n]*\bsteno completion\b/m.test(readFileSync(path, 'utf8'));
  } catch {
    return false;
  }
}
