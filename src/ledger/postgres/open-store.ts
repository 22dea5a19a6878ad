/** Opens a shared ledger as a store. */
import type { SharedLedgerOptions } from '../shared.ts';
import { openChecked } from './open.ts';
import { PostgresStore } from './store.ts';

export async function openSharedStore(options: SharedLedgerOptions): Promise<PostgresStore> {
  const store = new PostgresStore(() => openChecked(options), options.account);
  await store.connect();
  return store;
}
