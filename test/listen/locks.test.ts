/** Other programs may open and close the ledger while a listener runs. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { complete, eventsOf, Listener } from '../support/listener.ts';
import { isInUse } from '../support/locks.ts';
import { BIN, User } from '../support/steno.ts';

const hasShell = spawnSync('sqlite3', ['-version']).status === 0;
if (!hasShell) console.warn('sqlite3 is not installed: how listen and the shell get along is not tested');

const READ = 'SELECT count(*) FROM events';
const PYTHON = `
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
print(db.execute(sys.argv[2]).fetchone()[0])
db.close()
`;

const viaPython = (path: string, sql: string): string[] => ['python3', '-c', PYTHON, path, sql];
const readers = [
  { reader: "Python's sqlite3", line: (path: string) => viaPython(path, READ), isThere: true },
  { reader: 'the sqlite3 shell', line: (path: string) => ['sqlite3', path, READ], isThere: hasShell },
  { reader: 'steno events', line: () => [process.execPath, BIN, 'events', '--json'], isThere: true },
].filter(({ isThere }) => isThere);

describe('a listener', () => {
  it('holds a lock on the ledger from the first event to the last', async () => {
    const user = new User();
    const path = join(user.home, 'state', 'ledger.db');
    const listener = await Listener.start(user);
    expect(isInUse(path)).toBe(true);
    expect((await listener.post(complete('1'))).status).toBe(200);
    expect(isInUse(path)).toBe(true);
    await listener.stop();
    expect(isInUse(path)).toBe(false);
  });

  it.each(readers)(
    'loses nothing that it answered when $reader reads the ledger beside it',
    async ({ line }) => {
      const user = new User();
      const path = join(user.home, 'state', 'ledger.db');
      const listener = await Listener.start(user, ['--quiet']);
      const answered: string[] = [];
      for (let round = 1; round <= 3; round += 1) {
        for (const id of [`${round}1`, `${round}2`]) {
          expect((await listener.post(complete(id))).status).toBe(200);
          answered.push(id);
        }
        const [program = '', ...args] = line(path);
        const read = spawnSync(program, args, { env: user.env, encoding: 'utf8' });
        expect([read.status, read.stderr]).toEqual([0, '']);
      }
      const held = isInUse(path);
      expect((await listener.post(complete('last'))).status).toBe(200);
      await listener.stop('SIGKILL');
      const [program = '', ...args] = viaPython(path, 'PRAGMA integrity_check');
      const integrity = spawnSync(program, args, { encoding: 'utf8' }).stdout.trim();
      const kept = (await eventsOf(user)).map(({ audiofile }) => audiofile).reverse();
      expect({ kept, integrity, held }).toEqual({ kept: [...answered, 'last'], integrity: 'ok', held: true });
    },
  );
});
