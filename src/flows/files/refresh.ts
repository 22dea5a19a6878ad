/** Asks the service about files and keeps what it says in the ledger. */
import { type AudioFile, getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { formatJson } from '../../lib/json.ts';
import { doEach, type Outcome } from '../bulk.ts';

export interface Followed {
  readonly file: AudioFile;
  /** The state that the ledger had before, if it was another. */
  readonly was: string | undefined;
}

export const JOBS = 8;

export async function followFile(
  transport: Transport,
  ledger: Ledger | undefined,
  id: string,
): Promise<Followed> {
  const file = await getFile(transport, id);
  const { state, title, invoices } = file;
  const change = ledger?.files.saw({ id, state, title, invoices, answer: formatJson(file.json, 0) });
  return { file, was: change?.was };
}

export const followFiles = (
  transport: Transport,
  ledger: Ledger | undefined,
  ids: readonly string[],
  jobs = JOBS,
): Promise<Outcome<Followed>[]> => doEach(ids, jobs, String, (id) => followFile(transport, ledger, id));
