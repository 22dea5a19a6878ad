/** An order's id in place of a file's, and the reverse: the ledger knows which it is. Or what is hardly an id. */

import { checkId, idHint } from '../../api/decode.ts';
import { findFileState } from '../../catalog/states.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { OpenAttempts } from '../../ledger/open-attempts.ts';
import { missingText } from '../../ledger/ordered-files.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { shellWord } from '../../lib/text.ts';
import type { MayHaveFailed } from '../bulk.ts';

/**
 * Outcomes with a hint where the service does not know a file: it is an order of the ledger, or looks like no id; and
 * where a transcript is not ready: a file on hold is not worth waiting for. `stateOf` asks the service.
 */
export async function withFileHints(
  outcomes: readonly MayHaveFailed[],
  ledger: Ledger | undefined,
  stateOf?: (id: string) => Promise<string>,
): Promise<readonly MayHaveFailed[]> {
  const hintOf = async (what: string, { kind, status, hint }: StenoError): Promise<string | undefined> => {
    const [id = what] = what.split(/\.(?=\w+$)/);
    if (status === 409 && (await isHeld(ledger, id, stateOf)))
      return 'it is on hold: work starts once the hold is released; the usual cause is a past-due balance';
    if (kind !== 'missing' || hint) return hint;
    const word = shellWord(what);
    return (await isOrder(ledger, what))
      ? `${what} is an order, not a file: steno files --order ${word}   or: steno wait --order ${word}`
      : (idHint(what) ?? 'list your files: steno files');
  };
  return Promise.all(
    outcomes.map(async ({ what, error }) => {
      const hint = error && (await hintOf(what, error));
      if (!error || hint === error.hint) return { what, error };
      const { kind, message, status } = error;
      return { what, error: new StenoError(kind, message, { hint, status, cause: error }) };
    }),
  );
}

async function isHeld(
  ledger: Ledger | undefined,
  id: string,
  stateOf: ((id: string) => Promise<string>) | undefined,
): Promise<boolean> {
  const row = await (ledger && new Files(ledger).get(id).catch(() => undefined));
  const state = (await stateOf?.(id).catch(() => undefined)) ?? row?.state;
  return state ? findFileState(state)?.held === true : Boolean(row?.hold);
}

/** The same where an id of a file stands in place of that of its invoice. */
export async function withInvoiceHints(
  outcomes: readonly MayHaveFailed[],
  ledger: Ledger | undefined,
): Promise<readonly MayHaveFailed[]> {
  return Promise.all(
    outcomes.map(async ({ what, error }) => {
      if (error?.kind !== 'missing' || !ledger) return { what, error };
      const file = await new Files(ledger).get(what).catch(() => undefined);
      if (!file) return { what, error };
      const [invoice] = file.invoices.split(',');
      const hint = `${what} is a file, not an invoice${invoice ? `; its invoice: steno invoice ${invoice}` : ''}`;
      return { what, error: new StenoError('missing', error.message, { hint, cause: error }) };
    }),
  );
}

/** For calls that cost or return money: an order's id is seen before it is sent. */
export async function refuseOrders(ledger: Ledger | undefined, ids: readonly string[]): Promise<void> {
  if (!ledger) return;
  const files = await new Files(ledger).known(ids);
  for (const id of ids)
    if (!files.has(id) && (await isOrder(ledger, id)))
      throw usage(`${id} is an order, not a file`, `list its files: steno files --order ${shellWord(id)}`);
}

/** What can't be read of the ledger is no reason to hide the error itself. */
const isOrder = async (ledger: Ledger | undefined, id: string): Promise<boolean> =>
  (await (ledger && new Files(ledger).hasOrder(id).catch(() => false))) ?? false;

/** The hint where a file stands in place of its order; undefined where the ledger does not know the file. */
export async function fileHint(ledger: Ledger, id: string): Promise<string | undefined> {
  if ((await new Files(ledger).get(id)) === undefined) return undefined;
  return `${id} is a file, not an order: steno file ${shellWord(id)}   or: steno wait ${shellWord(id)}`;
}

const missingError = (order: string, what: string): StenoError =>
  new StenoError('uncertain', `order ${order} was accepted, but ${what}`, {
    hint: 'look for them in your account and add them: steno track <id>; see also: steno attempts',
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
    throw missingError(order, 'its files are unknown');
  if (found.length === 0)
    throw usage(
      `the ledger has no order ${order}`,
      (await fileHint(ledger, order)) ?? 'name the files: steno wait <id…>',
    );
  return found;
}
