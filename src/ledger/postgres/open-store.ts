/** Opens a shared ledger as a store. */
import type { PostgresAddress } from '../../lib/postgres-url.ts';
import type { SharedLedgerOptions } from '../shared.ts';
import type { Store } from '../store.ts';
import { type ConnectOptions, PostgresConnection } from './connection.ts';
import { openChecked } from './open.ts';
import { PostgresStore } from './store.ts';

export async function openSharedStore(options: SharedLedgerOptions): Promise<PostgresStore> {
  const store = unconnectedStore(options);
  await store.connect();
  return store;
}

/** Connects when it is first used. */
export const unconnectedStore = (options: SharedLedgerOptions): PostgresStore =>
  new PostgresStore((limits) => openChecked(options, limits), options.account);

/** For a look at a few rows: nothing is asked before, and no tables are made. Connects at the first question. */
export const openForReading = (
  address: PostgresAddress,
  options: ConnectOptions,
): Store & Pick<PostgresStore, 'close'> => {
  const connect = async () => ({
    connection: await PostgresConnection.open(address, options),
  });
  return new PostgresStore(connect, { name: '', isChosen: false, baseUrl: undefined });
};
