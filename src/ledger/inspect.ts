/** Looks at a ledger without making or changing anything: no file, no migration, no row. */
import { statSync } from 'node:fs';
import { type Database, openUntouched } from '../lib/sqlite.ts';
import { rescueHint } from './backups.ts';
import { Budgets, type KeptBudget } from './budgets.ts';
import type { Moved } from './moved.ts';
import { readMoved } from './moved.ts';
import { OpenAttempts } from './open-attempts.ts';
import { Runs } from './runs.ts';
import { migrations } from './schema.ts';
import { SqliteStore } from './sqlite-store.ts';
import type { StoreStatus } from './status.ts';
import type { Hide, TableContext } from './table.ts';
import { type Registration, WebhookRegistrations } from './webhook-registrations.ts';

/** What its tables say; only of a ledger that has all of them. */
export interface LedgerFacts {
  readonly unclear: number;
  readonly moved: Moved | undefined;
  /** How many listeners of this profile or account run. */
  readonly listeners: number;
  readonly registrations: readonly Registration[];
}

/** A ledger that is open for looking. */
export interface LedgerView {
  /** The last migration that was done. */
  readonly version: string;
  /** Those that this steno knows and it lacks. */
  readonly missing: readonly string[];
  readonly bytes: number;
  /** What a check of the file found; undefined where it was not checked. */
  readonly damage?: string | undefined;
  readonly isChecked: boolean;
  /** Of a shared one. */
  readonly store?: StoreStatus;
  readonly facts: () => Promise<LedgerFacts>;
  /** The one that all who use this ledger share. */
  readonly budget: () => Promise<KeptBudget | undefined>;
  /** The number of the latest event. */
  readonly latestEvent: () => Promise<number>;
  /** The first event of a type after a number. */
  readonly eventAfter: (n: number, type: string) => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

/** A check reads the whole file, and nothing else is done meanwhile. */
const MAX_CHECKED_BYTES = 256 * 1024 * 1024;

/** Undefined where there is none. */
export async function viewFile(
  path: string,
  profile: string,
  hide: Hide,
  { checks = true } = {},
): Promise<LedgerView | undefined> {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return undefined;
  const database = await openUntouched(path, () => rescueHint(path));
  try {
    const names = migrations.map(({ name }) => name);
    const done = database
      .all<{ name: string }>('SELECT name FROM migrations ORDER BY name')
      .map(({ name }) => name);
    const isChecked = checks && size <= MAX_CHECKED_BYTES;
    return {
      version: done.at(-1) ?? '',
      missing: names.filter((name) => !done.includes(name)),
      bytes: size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0),
      isChecked,
      damage: isChecked ? damageOf(database) : undefined,
      ...questions({ db: new SqliteStore(database), profile, hide }),
      close: async () => database.close(),
    };
  } catch (error) {
    database.close();
    throw error;
  }
}

function damageOf(database: Database): string | undefined {
  const found = database.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check;
  return found === 'ok' ? undefined : found;
}

/** What can be asked of the tables of either kind of ledger. */
export const questions = (
  context: TableContext,
): Pick<LedgerView, 'facts' | 'budget' | 'latestEvent' | 'eventAfter'> => ({
  facts: async () => ({
    unclear: await new OpenAttempts(context).countUnclear(),
    moved: await readMoved(context),
    listeners: (await new Runs(context).running()).length,
    registrations: await new WebhookRegistrations(context).all(),
  }),
  budget: () => new Budgets(context).get(),
  latestEvent: async () => {
    const sql = 'SELECT coalesce(max(id), 0) AS id FROM events WHERE profile = ?';
    return (await context.db.get<{ id: number }>(sql, context.profile))?.id ?? 0;
  },
  eventAfter: async (n, type) => {
    const sql = 'SELECT min(id) AS id FROM events WHERE profile = ? AND id > ? AND event = ?';
    return (await context.db.get<{ id: number | null }>(sql, context.profile, n, type))?.id ?? undefined;
  },
});
