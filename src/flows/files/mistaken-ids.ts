/** An order's id in place of a file's, and the reverse: the ledger knows which it is. */
import type { Ledger } from '../../ledger/ledger.ts';
import { StenoError } from '../../lib/errors.ts';

interface MayBeMissing {
  readonly what: string;
  readonly error?: StenoError | undefined;
}

/** Outcomes with a hint where the service does not know a file that is an order of the ledger. */
export async function withOrderHints<T extends MayBeMissing>(
  outcomes: readonly T[],
  ledger: Ledger | undefined,
): Promise<readonly MayBeMissing[]> {
  if (!ledger || !outcomes.some(({ error }) => error?.kind === 'missing')) return outcomes;
  return Promise.all(
    outcomes.map(async ({ what, error }) => {
      if (error?.kind !== 'missing' || error.hint || !(await isOrder(ledger, what))) return { what, error };
      const hint = `${what} is an order, not a file: steno files --order ${what}   or: steno wait --order ${what}`;
      const { message, status } = error;
      return { what, error: new StenoError('missing', message, { hint, status, cause: error }) };
    }),
  );
}

/** What can't be read of the ledger is no reason to hide the error itself. */
const isOrder = (ledger: Ledger, id: string): Promise<boolean> =>
  ledger.files.hasOrder(id).catch(() => false);

/** The hint where a file stands in place of its order; undefined where the ledger does not know the file. */
export async function fileHint(ledger: Ledger, id: string): Promise<string | undefined> {
  if ((await ledger.files.get(id)) === undefined) return undefined;
  return `${id} is a file, not an order: steno file ${id}   or: steno wait ${id}`;
}
