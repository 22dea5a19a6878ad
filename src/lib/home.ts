import { homedir, userInfo } from 'node:os';
import { isAbsolute } from 'node:path';

/**
 * The home folder of the user: HOME, or the one that the system knows. Undefined where there is none, as in a container
 * that runs under a user id without a name. An empty or relative HOME is passed over: with it, each folder that a
 * command is run in would have a ledger of its own, and what was ordered in another would be ordered again.
 */
export function findHome(): string | undefined {
  for (const read of [homedir, () => userInfo().homedir]) {
    try {
      const path = read();
      if (isAbsolute(path)) return path;
    } catch {
      // The system does not know this user.
    }
  }
  return undefined;
}
