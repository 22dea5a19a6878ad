/** Global flags that don't fit together, or that are better not used. */
import { accountName } from '../lib/account-name.ts';
import { usage } from '../lib/errors.ts';
import type { Output } from '../ui/output.ts';
import type { GlobalValues } from './global-options.ts';

/** The profile that is the sandbox. */
export const SANDBOX = 'sandbox';

/** The sandbox has an address, a key and a profile of its own. */
export function checkSandboxFlags({ baseUrl, apiKey, profile, sandbox }: GlobalValues): void {
  const ignored = [
    baseUrl !== undefined && '--base-url',
    apiKey !== undefined && '--api-key',
    profile !== undefined && accountName(profile) !== SANDBOX && '--profile',
  ].find(Boolean);
  if (!ignored) return;
  throw usage(
    `${sandbox ? '--sandbox' : 'the profile sandbox'} and ${ignored} can't be used together`,
    `the sandbox has its own: leave out ${ignored}`,
  );
}

export const warnOfKeyFlag = (out: Output): Promise<void> =>
  out.warn(
    '--api-key shows the key to other users of this machine, in the list of processes, and to the history of the shell',
    'keep it with: steno login   (or set STENO_API_KEY, or have a command print it: steno login --api-key-command)',
  );
