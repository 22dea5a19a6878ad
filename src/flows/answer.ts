/** What the service said of a file, as the ledger keeps it. */
import type { AudioFile } from '../api/files.ts';
import { Files, type ServiceAnswer } from '../ledger/files.ts';
import type { TableContext } from '../ledger/table.ts';
import { formatJson } from '../lib/json.ts';
import { nowMs } from '../lib/time.ts';

/** Notes in the ledger what the service said of a file; gives the state before, if it was another. */
export const keepAnswer = (ledger: TableContext, id: string, file: AudioFile): Promise<string | undefined> =>
  new Files(ledger).update(answerOf(id, file, new Date(nowMs()).toISOString()));

export const answerOf = (
  id: string,
  { state, title, duration, total, invoices, originalLink: link, json }: AudioFile,
  askedAt: string,
): ServiceAnswer => ({
  ...{ id, state, title, duration, total, invoices, link },
  ...{ answer: formatJson(json, 0), askedAt },
});
