import { type AudioFile, getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerTables } from '../../ledger/ledger-tables.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { formatJson } from '../../lib/json.ts';
import { doEach, type Outcome } from '../bulk.ts';

export interface RefreshedFile {
  readonly file: AudioFile;
  /** The state that the ledger had before, if it was another. */
  readonly previousState: string | undefined;
}

export const REFRESH_CONCURRENCY = 8;

/** Asks the service about a file, and keeps the answer in the ledger. With `notes` the state before is not told. */
export async function refreshFile(
  transport: Transport,
  ledger: Ledger | undefined,
  id: string,
  notes?: LedgerNotes | undefined,
): Promise<RefreshedFile> {
  const askedAt = new Date().toISOString();
  const file = await getFile(transport, id);
  if (notes) notes.add(`state ${id}`, (into) => keepAnswer(into, id, file, askedAt));
  if (notes || !ledger) return { file, previousState: undefined };
  const impatient = ledger.impatient(transport.signal);
  return { file, previousState: await keepAnswer(impatient, id, file, askedAt) };
}

/** Notes in the ledger what the service said of a file; gives the state before, if it was another. */
export const keepAnswer = (
  ledger: LedgerTables,
  id: string,
  { state, title, invoices, originalLink: link, json }: AudioFile,
  askedAt = new Date().toISOString(),
): Promise<string | undefined> =>
  ledger.files.update({ id, state, title, invoices, link, answer: formatJson(json, 0), askedAt });

export const refreshFiles = (
  transport: Transport,
  ledger: Ledger | undefined,
  ids: readonly string[],
  concurrency = REFRESH_CONCURRENCY,
  notes?: LedgerNotes | undefined,
): Promise<Outcome<RefreshedFile>[]> =>
  doEach(ids, concurrency, String, (id) => refreshFile(transport, ledger, id, notes));
