/** What the ledger has of some files. */
import { type Download, Downloads } from '../../ledger/downloads.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type ListedFile, listed } from './listed.ts';

/** By the id of the file. */
export interface KnownFiles {
  readonly rows: ReadonlyMap<string, ListedFile>;
  readonly downloads: ReadonlyMap<string, readonly Download[]>;
}

export const nothingKnown: KnownFiles = { rows: new Map(), downloads: new Map() };

/** A ledger that can't be read stops nothing: what was done is to be shown, and the warning of it has come before. */
export async function knownFiles(ledger: Ledger | undefined, ids: readonly string[]): Promise<KnownFiles> {
  if (!ledger || ids.length === 0) return nothingKnown;
  try {
    // Together, because a shared ledger then answers both in one round trip.
    const [rows, downloads] = await Promise.all([
      new Files(ledger).getAll(ids),
      new Downloads(ledger).forFiles(ids),
    ]);
    return { rows: new Map([...rows].map(([id, row]) => [id, listed(row)])), downloads };
  } catch {
    return nothingKnown;
  }
}
