/** Opens a shared ledger as a store. */
import type { SharedLedgerOptions } from '../shared.ts';
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
