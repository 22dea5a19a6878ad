/** Opens a ledger: of this machine, or one that several machines share. */
import { dirname, join } from 'node:path';
import { Ledger } from './ledger.ts';
import { type OnTrouble, Outbox } from './outbox.ts';
import { Purchases } from './purchases.ts';
import type { SharedLedgerOptions } from './shared.ts';
import { SqliteStore } from './stores/sqlite.ts';
import type { Hide } from './table.ts';

/** The ledger of this machine. What it could not take before is handed over first. */
export async function openLedger(
  path: string,
  profile: string,
  hide: Hide,
  signal?: AbortSignal,
  onTrouble: OnTrouble = async () => {},
): Promise<Ledger> {
  const outbox = new Outbox(join(dirname(path), 'outcomes'), () => ({ account: profile, ledger: 'local' }));
  return handedOver(new Ledger(await SqliteStore.open(path, signal), profile, hide, outbox), onTrouble);
}

/** A ledger that several machines use. */
export async function openSharedLedger(options: SharedLedgerOptions, hide: Hide): Promise<Ledger> {
  const { openSharedStore } = await import('./shared.ts');
  const { account, outcomes } = options;
  const store = await openSharedStore(options);
  const outbox = new Outbox(outcomes, () => ({ account: account.name, ledger: store.identity }));
  return handedOver(new Ledger(store, account.name, hide, outbox), options.onTrouble);
}

/** The same for a listener, which starts though the database can't be reached: connected to when it is first used. */
export async function openSharedLedgerLater(options: SharedLedgerOptions, hide: Hide): Promise<Ledger> {
  const { unconnectedStore } = await import('./shared.ts');
  return new Ledger(unconnectedStore(options), options.account.name, hide);
}

async function handedOver(ledger: Ledger, onTrouble: OnTrouble): Promise<Ledger> {
  const purchases = new Purchases(ledger);
  await ledger.outbox?.handOver((kept) => purchases.take(kept), onTrouble);
  return ledger;
}
