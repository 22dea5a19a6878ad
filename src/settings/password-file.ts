/** libpq's password file, `~/.pgpass`, which people who use PostgreSQL may have: lines `host:port:database:user:password`. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '../lib/env.ts';
import { StenoError } from '../lib/errors.ts';
import { findHome } from '../lib/fs.ts';
import type { PostgresAddress } from '../lib/postgres-url.ts';
import { shellWord } from '../lib/text.ts';

/** The password of the first line that fits; undefined where none does. */
export function passwordFromFile(address: PostgresAddress, env: Env): string | undefined {
  const path = pathOf(env);
  const text = path === undefined ? undefined : readPrivate(path);
  const { host, port, database, user } = address;
  // A Unix socket is `localhost` there.
  const wanted = [host.startsWith('/') ? 'localhost' : host, String(port), database, user];
  for (const line of text?.split(/\r?\n/) ?? []) {
    const [password, ...rest] = fieldsOf(line).reverse();
    const pattern = rest.reverse();
    const fits =
      pattern.length === wanted.length && pattern.every((each, at) => each === '*' || each === wanted[at]);
    if (fits && password && !line.startsWith('#')) return password;
  }
  return undefined;
}

function pathOf(env: Env): string | undefined {
  if (env.PGPASSFILE) return env.PGPASSFILE;
  if (process.platform === 'win32') return env.APPDATA && join(env.APPDATA, 'postgresql', 'pgpass.conf');
  const home = findHome();
  return home && join(home, '.pgpass');
}

/** As libpq has it: one that others may read is not used. Said here, because the refused password would puzzle. */
function readPrivate(path: string): string | undefined {
  let mode: number;
  try {
    const found = statSync(path);
    if (!found.isFile()) return undefined;
    mode = found.mode;
  } catch {
    return undefined;
  }
  if (process.platform !== 'win32' && mode & 0o077)
    throw new StenoError('usage', `other users can read the password file ${path}`, {
      hint: `run: chmod 600 ${shellWord(path)}`,
    });
  return readFileSync(path, 'utf8');
}

/** Colons part the fields; a backslash keeps the character after it as it is. The password is the fifth, and the rest. */
function fieldsOf(line: string): string[] {
  const fields: string[] = [];
  let field = '';
  for (const [part = ''] of line.matchAll(/\\.|./gsu)) {
    if (part === ':' && fields.length < 4) {
      fields.push(field);
      field = '';
    } else field += part.length === 2 ? part.slice(1) : part;
  }
  return [...fields, field];
}
