import { spawnSync } from 'node:child_process';

/** Tries for the lock that SQLite takes to find out whether it is the last user of a database. */
const TRY = `
import fcntl, sys
with open(sys.argv[1], 'r+b') as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 510, 0x40000002)
    except (BlockingIOError, PermissionError):
        print('in use')
    else:
        print('free')
`;

/** Whether other processes see that the database is open. */
export function isInUse(path: string): boolean {
  const { stdout, stderr } = spawnSync('python3', ['-c', TRY, path], { encoding: 'utf8' });
  if (!/^(in use|free)$/m.test(stdout)) throw new Error(stderr);
  return stdout.trim() === 'in use';
}
