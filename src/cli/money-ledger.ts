/** The ledger of a command that costs or returns money: whatever hides the purchase from others stops it. */
import type { KeptBudget } from '../ledger/budgets.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { usage } from '../lib/errors.ts';
import type { Context } from './context.ts';

export interface MoneyUse {
  /** What is sent, in words: `this upgrade`. */
  readonly what: string;
  readonly again: boolean;
  readonly test: boolean;
  /** A refund costs nothing. */
  readonly isFree?: boolean;
}

/** None with --no-ledger, where that is allowed. */
export async function ledgerForMoney(context: Context, use: MoneyUse): Promise<Ledger | undefined> {
  if (!context.globals.ledger) await checkWithoutLedger(context, use);
  checkNamedLedger(context);
  const ledger = await context.ledger();
  await context.warnOfLittleRoom();
  await ledger?.prepareForOrders(false);
  return ledger;
}

/** Without a ledger nothing is known of earlier purchases, others are not told of this one, and no budget counts it. */
export async function checkWithoutLedger(context: Context, use: MoneyUse): Promise<void> {
  if (context.sharedLedger !== undefined && !use.again)
    throw usage(
      `--no-ledger would hide ${use.what} from the others of the shared ledger`,
      'leave it out; with --again it is sent without looking at the ledger',
    );
  if (use.test || use.isFree) return;
  const isSet = context.settings.get('budget').value !== undefined;
  if (!isSet && !(await keptBudget(context))) return;
  throw usage(
    "the budget is counted in the ledger, so --no-ledger can't be used under it",
    `leave it out, or take the budget away: steno ${isSet ? 'config unset budget' : 'budget unset'}`,
  );
}

/** How long a shared ledger may take to say whether it has a budget. */
const LOOK_LIMIT_MS = 3_000;

/** The budget that the ledger itself has. One that can't be read is no reason to stop: --no-ledger is for that. */
async function keptBudget(context: Context): Promise<KeptBudget | undefined> {
  const { sharedLedger, localLedgerPath, mask, settings } = context;
  try {
    const view =
      sharedLedger === undefined
        ? await (await import('../ledger/inspect.ts')).viewFile(
            localLedgerPath,
            settings.profileName,
            mask.hide,
            {
              checks: false,
            },
          )
        : await (await import('../ledger/postgres/inspect.ts')).viewShared(
            await context.sharedLedgerOptions(sharedLedger, settings, LOOK_LIMIT_MS),
            mask.hide,
          );
    try {
      return await view?.budget();
    } finally {
      await view?.close();
    }
  } catch {
    return undefined;
  }
}

/** In CI a variable that is missing is often an empty one: the job would buy with an empty ledger of its own. */
export function checkNamedLedger({ env, sharedLedger, inSandbox }: Context): void {
  if (inSandbox || sharedLedger !== undefined || env.STENO_LEDGER !== '') return;
  throw usage(
    'STENO_LEDGER is set, but empty: nothing says which ledger knows what is on order',
    'set it to the URL of the shared ledger, or unset it to use the ledger of this machine',
  );
}
