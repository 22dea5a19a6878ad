/** Takes out of a ledger what earlier versions kept in clear: the key, and names and passwords of addresses. */
import { createHmac } from 'node:crypto';
import { Sealer } from '../lib/sealer.ts';
import { shownWebhook } from '../lib/shown-webhook.ts';
import type { Database } from '../lib/sqlite.ts';
import { maskUserinfo } from '../lib/userinfo.ts';
import { CLEANED_KEYS, REWRITE_DUE, SALT } from './properties.ts';
import { rewriteRows } from './rewrite-rows.ts';
import type { Hide } from './table.ts';

/** A migration: no key is known to it. */
export function takePasswordsOut(database: Database): void {
  maskTargets(database);
  database.run('UPDATE runs SET former_webhook = NULL WHERE webhook IS NULL');
  database.run('INSERT OR IGNORE INTO properties (name, value) VALUES (?, ?)', CLEANED_KEYS, '');
}

interface Cleaning {
  readonly database: Database;
  /** The profile that the key is used with. */
  readonly profile: string;
  readonly key: string;
  /** Masks the key. */
  readonly hide: Hide;
}

/** The first use with each key; throws where it can't be done now. */
export function takeKeyOut(cleaning: Cleaning): void {
  const { database, key, hide } = cleaning;
  const properties = new FileProperties(database);
  const mark = shortMark(key, properties.get(SALT) ?? '');
  if (properties.get(CLEANED_KEYS)?.split(' ').includes(mark)) return;
  const wasDue = properties.get(REWRITE_DUE) !== undefined;
  properties.set(REWRITE_DUE, '');
  database.exec('PRAGMA secure_delete = ON');
  const changed = cleanRows(database, hide) + sealFormers(cleaning);
  if ((changed > 0 || wasDue) && !database.rewriteFile()) return;
  properties.remove(REWRITE_DUE);
  properties.set(CLEANED_KEYS, `${properties.get(CLEANED_KEYS) ?? ''} ${mark}`);
}

/** The properties of a ledger, for work on its file. */
class FileProperties {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get(name: string): string | undefined {
    return this.#database.get<{ value: string }>('SELECT value FROM properties WHERE name = ?', name)?.value;
  }

  set(name: string, value: string): void {
    this.#database.run('INSERT OR REPLACE INTO properties (name, value) VALUES (?, ?)', name, value);
  }

  remove(name: string): void {
    this.#database.run('DELETE FROM properties WHERE name = ?', name);
  }
}

/** Enough to tell a few keys apart, and far too little to find one by trying. */
const shortMark = (key: string, salt: string): string =>
  createHmac('sha256', salt).update(key).digest('hex').slice(0, 5);

/** Everything else passed a mask in every version. */
const uncleanTables = ['events', 'event_files', 'actions'] as const;

function cleanRows(database: Database, hide: Hide): number {
  const hideIn = <Content extends string | Uint8Array>(content: Content): Content =>
    (typeof content === 'string' ? hide(content) : hideInBytes(content, hide)) as Content;
  return uncleanTables.reduce(
    (changed, table) => changed + rewriteRows(database, { table, ...columnsOf(database, table) }, hideIn),
    0,
  );
}

/** What earlier versions have to put back, of whatever account, can only be read again with a key. */
function sealFormers({ database, profile, key, hide }: Cleaning): number {
  const secret = database
    .all<{ id: number; former: string }>(
      `SELECT webhook_loans.id, former FROM webhook_loans JOIN runs ON runs.id = run WHERE account = '' AND profile = ?`,
      profile,
    )
    .filter(({ former }) => hide(former) !== former || shownWebhook(former) !== former);
  if (secret.length === 0) return 0;
  const sealer = new Sealer(key, new FileProperties(database).get(SALT) ?? '');
  for (const { id, former } of secret)
    database.run('UPDATE webhook_loans SET former = ? WHERE id = ?', sealer.seal(former), id);
  return secret.length;
}

function columnsOf(database: Database, table: string): { key: string[]; columns: string[] } {
  const all = database.all<{ name: string; type: string; pk: number }>(
    'SELECT name, type, pk FROM pragma_table_info(?) ORDER BY pk',
    table,
  );
  return {
    key: all.filter(({ pk }) => pk > 0).map(({ name }) => name),
    columns: all.filter(({ type }) => type === 'TEXT' || type === 'BLOB').map(({ name }) => name),
  };
}

function hideInBytes(bytes: Uint8Array, hide: Hide): Uint8Array {
  // One character a byte, so that bytes that are no UTF-8 stay what they are.
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  const hidden = hide(text);
  return hidden === text ? bytes : Buffer.from(hidden, 'latin1');
}

/** There are few of them, each in many rows. */
function maskTargets(database: Database): void {
  const targets = database.all<{ kind: string; target: string }>('SELECT DISTINCT kind, target FROM actions');
  for (const { kind, target } of targets) {
    const masked = maskUserinfo(target);
    if (masked !== target)
      database.run(
        'UPDATE OR REPLACE actions SET target = ? WHERE kind = ? AND target = ?',
        masked,
        kind,
        target,
      );
  }
}
