/** Opens a ledger: of this machine, or one that several machines share. */
import { dirname } from 'node:path';
import { Ledger } from './ledger.ts';
import { Purchases } from './purchases.ts';
import type { SharedLedgerOptions } from './shared.ts';
import { SqliteStore } from './stores/sqlite.ts';
import type { Hide } from './table.ts';
import { type OnTrouble, Waiting, waitingPath } from './waiting.ts';

/** The ledger of this machine. What it could not take before is handed over first. */
export async function openLedger(
  path: string,
  profile: string,
  hide: Hide,
  signal?: AbortSignal,
  onTrouble?: OnTrouble,
): Promise<Ledger> {
  const waiting = new Waiting(waitingPath(dirname(path)), profile, onTrouble);
  return handedOver(new Ledger(await SqliteStore.open(path, signal), profile, hide, waiting));
}

/** A ledger that several machines use. */
export async function openSharedLedger(options: SharedLedgerOptions, hide: Hide): Promise<Ledger> {
  const { openSharedStore } = await import('./shared.ts');
  const { account, folder, onTrouble } = options;
  const store = await openSharedStore(options);
  const waiting = new Waiting(waitingPath(folder), account.name, onTrouble, () => store.identity);
  return handedOver(new Ledger(store, account.name, hide, waiting));
}

/** The same for a listener, which starts though the database can't be reached: connected to when it is first used. */
export async function openSharedLedgerLater(options: SharedLedgerOptions, hide: Hide): Promise<Ledger> {
  const { unconnectedStore } = await import('./shared.ts');
  return new Ledger(unconnectedStore(options), options.account.name, hide);
}

async function handedOver(ledger: Ledger): Promise<Ledger> {
  const purchases = new Purchases(ledger);
  await ledger.waiting?.handOver((kept) => purchases.take(kept));
  return ledger;
}
