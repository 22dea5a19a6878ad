/** A PostgreSQL server of our own on loopback, in a temporary folder; or the one that STENO_TEST_POSTGRES names. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { postgresFolder } from './postgres-programs.ts';
import { until } from './until.ts';

export interface PostgresServer {
  readonly port: number;
  /** Its data folder; `pg_hba.conf` in it says who may connect. */
  readonly data: string;
  /** A URL of a new, empty database, as its owner. */
  newDatabase(): Promise<string>;
  /** Runs SQL as the superuser. */
  query(sql: string, database?: string): Promise<Record<string, unknown>[]>;
  /** Ends it at once, as a power cut would; `start` brings it back. */
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export { postgresFolder };

/** initdb refuses to run as root. */
const NOBODY = 65_534;
const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

let count = 0;

export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = newFolder();
  const data = join(folder, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync', '-E', 'UTF8', '--locale=C'];
  runProgram('initdb', initdb, folder);
  return serve(folder, settings);
}

/** A hot standby of a server: it takes over what that writes, and only reads. */
export async function startStandby(server: PostgresServer): Promise<PostgresServer> {
  const folder = newFolder();
  const source = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres'];
  const how = ['-D', join(folder, 'data'), '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'];
  runProgram('pg_basebackup', [...source, ...how], folder);
  return serve(folder, [`primary_conninfo = 'host=127.0.0.1 port=${server.port} user=postgres'`]);
}

/** With a data folder in it that only the user of the server may read. */
function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'steno-postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  if (identity.uid !== undefined) for (const each of [folder, data]) chownSync(each, NOBODY, NOBODY);
  return folder;
}

function runProgram(name: string, args: readonly string[], cwd: string): void {
  if (!postgresFolder) throw new Error('no PostgreSQL is installed');
  execFileSync(join(postgresFolder, name), args, { ...identity, stdio: 'ignore', cwd });
}

async function serve(folder: string, settings: readonly string[]): Promise<PostgresServer> {
  const bin = postgresFolder ?? '';
  const data = join(folder, 'data');
  writeFileSync(
    join(data, 'postgresql.auto.conf'),
    ["listen_addresses = '127.0.0.1'", `unix_socket_directories = '${folder}'`, ...settings].join('\n'),
  );
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port)], {
      ...identity,
      stdio: 'ignore',
      cwd: folder,
    });
    await until(async () => (await query('SELECT 1').catch(() => [])).length === 1, 'a server that answers');
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    const ended = child;
    if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
    const gone = new Promise((resolve) => ended.once('exit', resolve));
    ended.kill(signal);
    await gone;
  };
  const query = async (sql: string, database = 'postgres'): Promise<Record<string, unknown>[]> => {
    const client = new Client({ host: '127.0.0.1', port, user: 'postgres', database });
    client.on('error', () => {});
    await client.connect();
    try {
      const result = await client.query(sql);
      return Array.isArray(result) ? [] : (result.rows as Record<string, unknown>[]);
    } finally {
      await client.end().catch(() => {});
    }
  };
  await start();
  return {
    port,
    data,
    query,
    start,
    newDatabase: async () => {
      count += 1;
      const name = `steno_${process.pid}_${count}`;
      await query(`CREATE DATABASE ${name}`);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    // Its children notice that it is gone.
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGQUIT');
      // A database is 300 files, and some tests make one for each case: nothing waits until they are gone.
      spawn('rm', ['-rf', folder], { detached: true, stdio: 'ignore' }).unref();
    },
  };
}

export interface Pooler {
  readonly port: number;
  stop(): Promise<void>;
}

/** Undefined where PgBouncer is not installed. */
const pgbouncerPath = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'].find((path) =>
  existsSync(path),
);

/** PgBouncer in transaction mode, with fewer connections to the server than it takes from clients. */
export async function startPooler(server: PostgresServer): Promise<Pooler> {
  if (!pgbouncerPath) throw new Error('no PgBouncer is installed');
  const folder = mkdtempSync(join(tmpdir(), 'steno-pgbouncer-'));
  const port = await freePort();
  const users = join(folder, 'users.txt');
  const settings = join(folder, 'pgbouncer.ini');
  writeFileSync(users, '"postgres" ""\n');
  writeFileSync(
    settings,
    `[databases]
* = host=127.0.0.1 port=${server.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
max_client_conn = 200
`,
  );
  if (identity.uid !== undefined)
    for (const each of [folder, users, settings]) chownSync(each, NOBODY, NOBODY);
  const child = spawn(pgbouncerPath, ['-q', settings], { ...identity, stdio: 'ignore', cwd: folder });
  await until(() => answers(port), 'a pooler that answers');
  return {
    port,
    stop: async () => {
      const gone = new Promise((resolve) => child.once('exit', resolve));
      if (child.exitCode === null) {
        child.kill('SIGINT');
        await gone;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
