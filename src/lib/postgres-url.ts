/** Reads the URL of a shared ledger, and what it leaves out from libpq's environment variables. */
import type { Env } from './env.ts';
import { usage } from './errors.ts';
import { didYouMean } from './text.ts';
import { isLoopback, isUrl } from './url.ts';

/** How the server's certificate is treated. */
export type TlsMode = 'off' | 'unverified' | 'verified';

export interface PostgresAddress {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Of the URL, else PGPASSWORD; undefined where another source must be asked. */
  readonly password: string | undefined;
  /** All tables are in it, and every statement names it. */
  readonly schema: string;
  readonly tls: TlsMode;
  /** Paths of PEM files. */
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
  readonly connectTimeoutMs: number | undefined;
}

const HINT = 'write it like postgres://user@host/database';

/** A parameter of the URL, and the variable that stands in for it. */
const parameters = {
  host: 'PGHOST',
  port: 'PGPORT',
  user: 'PGUSER',
  password: 'PGPASSWORD',
  dbname: 'PGDATABASE',
  schema: undefined,
  sslmode: 'PGSSLMODE',
  sslrootcert: 'PGSSLROOTCERT',
  sslcert: 'PGSSLCERT',
  sslkey: 'PGSSLKEY',
  connect_timeout: 'PGCONNECT_TIMEOUT',
  // Accepted, because providers put them into the URLs that they show; they change nothing here.
  application_name: undefined,
  channel_binding: undefined,
  pgbouncer: undefined,
  target_session_attrs: undefined,
} as const;

type Parameter = keyof typeof parameters;

const sslModes = ['disable', 'no-verify', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** Stands where a URL has a user and no host, which only Postgres allows. */
const NO_HOST = 'no-host.invalid';

/** Postgres cuts longer names. */
const MAX_NAME_BYTES = 63;

export function readPostgresUrl(text: string, env: Env): PostgresAddress {
  const url = parseUrl(text);
  const given = parametersOf(url);
  const settingOf = (name: Parameter): string | undefined => {
    const variable = parameters[name];
    return given.get(name) || (variable && env[variable]) || undefined;
  };
  const host = settingOf('host') ?? 'localhost';
  const user = settingOf('user') ?? env.USER ?? env.USERNAME ?? '';
  if (!user) throw usage('the URL of the ledger names no user', HINT);
  return {
    host,
    port: numberOf('port', settingOf('port') ?? '5432', 65_535),
    user,
    database: settingOf('dbname') ?? user,
    password: settingOf('password'),
    schema: schemaOf(settingOf('schema') ?? 'steno'),
    tls: tlsMode(settingOf('sslmode'), host),
    caFile: settingOf('sslrootcert'),
    certFile: settingOf('sslcert'),
    keyFile: settingOf('sslkey'),
    connectTimeoutMs: timeoutOf(settingOf('connect_timeout')),
  };
}

/** Refuses what can't be the URL of a shared ledger, whatever the environment adds to it. */
export function checkPostgresUrl(text: string): void {
  readPostgresUrl(text, { PGUSER: 'anyone' });
}

/** The password in a URL; undefined where there is none, or the URL can't be read. */
export function passwordOf(text: string): string | undefined {
  try {
    return parametersOf(parseUrl(text)).get('password') || undefined;
  } catch {
    return /^[^/]*\/\/[^/@:]*:([^/@]+)@/.exec(text)?.[1];
  }
}

/** The URL without its password, for people. */
export function shownPostgresUrl(text: string): string {
  const url = parseUrl(text);
  url.password = '';
  for (const name of [...url.searchParams.keys()]) if (/password/i.test(name)) url.searchParams.delete(name);
  return url.href.replace(`@${NO_HOST}`, '@');
}

function parseUrl(text: string): URL {
  if (!/^postgres(ql)?:\/\//i.test(text)) throw usage('the ledger must be a postgres:// URL', HINT);
  // The text is not repeated: it may hold a password.
  const withHost = text.replace(/^(\w+:\/\/[^/?#@]*@)(?=[/?#:]|$)/, `$1${NO_HOST}`);
  if (!isUrl(withHost)) throw usage("the URL of the ledger can't be read", HINT);
  const url = new URL(withHost);
  if (url.hash) throw usage('the URL of the ledger has a fragment', 'write a # in a password as %23');
  if (decoded(url.hostname).includes(','))
    throw usage('the URL of the ledger names several hosts', 'name one: that of the primary server');
  return url;
}

function parametersOf(url: URL): ReadonlyMap<string, string> {
  const found = new Map<string, string>([
    ['host', url.hostname === NO_HOST ? '' : decoded(url.hostname).replace(/^\[(.*)\]$/, '$1')],
    ['port', url.port],
    ['user', decoded(url.username)],
    ['password', decoded(url.password)],
    ['dbname', databaseOf(url)],
  ]);
  for (const [name, value] of url.searchParams) {
    if (!Object.hasOwn(parameters, name)) {
      const known = Object.keys(parameters);
      throw usage(
        `the URL of the ledger has an unknown parameter '${name}'`,
        didYouMean(name, known, `known: ${known.join(', ')}`),
      );
    }
    found.set(name, value);
  }
  return found;
}

function databaseOf(url: URL): string {
  const name = decoded(url.pathname.slice(1));
  if (name.includes('/')) throw usage('the URL of the ledger has more than one path part', HINT);
  return name;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw usage('the URL of the ledger contains a % that is not an escape', 'write a % in a password as %25');
  }
}

function numberOf(name: string, text: string, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= 1 && value <= max)) throw usage(`the ${name} of the ledger must be 1 to ${max}`);
  return value;
}

/** In seconds, as libpq has it; 0 waits for ever there, and means the default here. */
function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '0') return undefined;
  return numberOf('connect_timeout', text, 3600) * 1000;
}

function schemaOf(name: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(name) || name.length > MAX_NAME_BYTES || name.startsWith('pg_'))
    throw usage('the schema of the ledger must be a plain name', 'lower-case letters, digits and _');
  return name;
}

/** Stricter than libpq: off this machine the certificate is verified unless the URL says otherwise. */
function tlsMode(mode: string | undefined, host: string): TlsMode {
  if (mode !== undefined && !sslModes.includes(mode))
    throw usage(`unknown sslmode '${mode}'`, didYouMean(mode, sslModes, `known: ${sslModes.join(', ')}`));
  const isLocal = host.startsWith('/') || host === '::1' || isLoopback(host);
  if (mode === 'disable') return 'off';
  if (isLocal && (mode === undefined || mode === 'allow' || mode === 'prefer')) return 'off';
  return mode === 'no-verify' ? 'unverified' : 'verified';
}
