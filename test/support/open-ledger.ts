/** Ledgers opened in the process of the test, in a fresh file or in a fresh schema of a PostgreSQL server. */
import { join } from 'node:path';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { openLedger, openSharedLedger } from '../../src/ledger/open.ts';
import { openSharedStore, type SharedLedgerOptions } from '../../src/ledger/shared.ts';
import { SqliteStore } from '../../src/ledger/stores/sqlite.ts';
import type { LedgerStore } from '../../src/ledger/stores/store.ts';
import { readPostgresUrl } from '../../src/lib/postgres-url.ts';
import { freshFolder } from './files.ts';
import { type PostgresServer, postgresFolder, startPostgres } from './postgres.ts';

export const SECRET = 'hush-hush-secret';
export const hideSecret = (text: string): string => text.replaceAll(SECRET, '****');

/** A place for one ledger: opened as often as one likes, for any profile. */
export interface LedgerPlace {
  open(profile?: string): Promise<Ledger>;
  /** The store alone, for what a ledger does not show. */
  store(): Promise<LedgerStore>;
}

export interface StoreKind {
  readonly name: string;
  readonly isShared: boolean;
  readonly isThere: boolean;
  start(): Promise<void>;
  stop(): Promise<void>;
  newPlace(): LedgerPlace;
}

const local: StoreKind = {
  name: 'in a file',
  isShared: false,
  isThere: true,
  start: async () => {},
  stop: async () => {},
  newPlace: () => {
    const path = join(freshFolder(), 'ledger.db');
    return {
      open: (profile = 'default') => openLedger(path, profile, hideSecret),
      store: () => SqliteStore.open(path),
    };
  },
};

let server: PostgresServer | undefined;
let base = '';
let schemas = 0;

const shared: StoreKind = {
  name: 'in PostgreSQL',
  isShared: true,
  isThere: postgresFolder !== undefined,
  start: async () => {
    base = process.env.STENO_TEST_POSTGRES ?? '';
    if (base) return;
    server = await startPostgres(['fsync = off']);
    base = await server.newDatabase();
  },
  stop: async () => server?.stop(),
  newPlace: () => {
    schemas += 1;
    const url = `${base}?schema=o${process.pid}_${schemas}_${Date.now() % 1_000_000}`;
    const options = (name: string): SharedLedgerOptions => ({
      ...{
        address: readPostgresUrl(url, {}),
        folder: freshFolder(),
        timeoutMs: 20_000,
        queryTimeoutMs: 20_000,
      },
      account: { name, isChosen: true, baseUrl: undefined },
      onTrouble: async () => {},
      password: async () => '',
    });
    return {
      open: (profile = 'default') => openSharedLedger(options(profile), hideSecret),
      store: () => openSharedStore(options('default')),
    };
  },
};

export const storeKinds: readonly StoreKind[] = [local, shared];
