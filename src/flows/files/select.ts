import { checkId } from '../../api/ids.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { missingText } from '../../ledger/ordered-files.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { fileHint } from './mistaken-ids.ts';

const missingError = (order: string, what: string): StenoError =>
  new StenoError('uncertain', `order ${order} was accepted, but ${what}`, {
    hint: 'look for them in your account, and take them in with: steno track <id>; see also: steno attempts',
  });

/** The error for an order of which some files are not known, so that they could not be waited for. */
export async function missingFilesError(ledger: Ledger, order: string): Promise<StenoError | undefined> {
  const missing = await new OpenAttempts(ledger).missingFiles(order);
  return missing && missingError(order, missingText(missing));
}

/** The files that were named, those of an order, or all that are open. */
export async function filesToWaitFor(
  ledger: Ledger | undefined,
  ids: readonly string[],
  order: string | undefined,
): Promise<string[]> {
  if (ids.length) return [...new Set(ids.map((id) => checkId(id)))];
  if (!ledger) throw usage('wait requires ids with --no-ledger', 'name them: steno wait <id…>');
  if (order === undefined) return new Files(ledger).open();
  const found = (await new Files(ledger).ofOrder(checkId(order))).map((row) => row.id);
  if (found.length === 0 && (await new Files(ledger).hasOrder(order)))
    throw missingError(order, 'its files are not known');
  if (found.length === 0)
    throw usage(
      `the ledger has no order ${order}`,
      (await fileHint(ledger, order)) ?? 'name the files: steno wait <id…>',
    );
  return found;
}
