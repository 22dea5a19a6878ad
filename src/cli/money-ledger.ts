/** The ledger of a command that costs or returns money: whatever hides the purchase from others stops it. */
import type { KeptBudget } from '../ledger/budgets.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { SharedLedgerOptions } from '../ledger/shared.ts';
import type { Env } from '../lib/env.ts';
import { usage } from '../lib/errors.ts';
import type { Settings } from '../settings/settings.ts';

/** What it needs of a command's context. */
interface Needed {
  readonly env: Env;
  readonly globals: { readonly ledger: boolean };
  readonly settings: Settings;
  readonly mask: { readonly hide: (text: string) => string };
  readonly inSandbox: boolean;
  readonly sharedLedger: string | undefined;
  readonly localLedgerPath: string;
  readonly profileFlag: string;
  sharedLedgerOptions(url: string, settings: Settings, limitMs: number): Promise<SharedLedgerOptions>;
}

export interface MoneyUse {
  /** What is sent, in words: `this upgrade`. */
  readonly what: string;
  readonly again: boolean;
  readonly test: boolean;
  /** A refund costs nothing. */
  readonly isFree?: boolean;
}

/** Throws where the ledger that is used, or none, would hide a purchase. */
export async function checkMoneyLedger(context: Needed, use: MoneyUse): Promise<void> {
  if (!context.globals.ledger) await checkWithoutLedger(context, use);
  checkNamedLedger(context);
}

/** Without a ledger nothing is known of earlier purchases, others are not told of this one, and no budget counts it. */
async function checkWithoutLedger(context: Needed, use: MoneyUse): Promise<void> {
  if (context.sharedLedger !== undefined && !use.again)
    throw usage(
      `--no-ledger would hide ${use.what} from everyone else who uses the shared ledger`,
      'leave out --no-ledger; add --again to send it without checking the ledger',
    );
  if (use.test || use.isFree) return;
  const { value, source } = context.settings.get('budget');
  if (value === undefined && !(await keptBudget(context))) return;
  const removal = source.startsWith('environment') ? 'unset STENO_BUDGET' : 'steno config unset budget';
  throw usage(
    "the budget is counted in the ledger, so --no-ledger can't be used under it",
    `leave out --no-ledger, or remove the budget: ${value === undefined ? 'steno budget unset' : removal}`,
  );
}

/** How long a shared ledger may take to say whether it has a budget. */
const LOOK_LIMIT_MS = 3_000;

/** The budget that the ledger itself has. One that can't be read is no reason to stop: --no-ledger is for that. */
async function keptBudget(context: Needed): Promise<KeptBudget | undefined> {
  const { sharedLedger, localLedgerPath, mask, settings } = context;
  try {
    const view =
      sharedLedger === undefined
        ? await (await import('../ledger/inspect.ts')).viewFile(
            localLedgerPath,
            settings.profileName,
            mask.hide,
          )
        : await (await import('../ledger/shared.ts')).viewShared(
            await context.sharedLedgerOptions(sharedLedger, settings, LOOK_LIMIT_MS),
            mask.hide,
          );
    try {
      const { Budgets } = await import('../ledger/budgets.ts');
      return await (view && new Budgets(view.context).get());
    } finally {
      await view?.close();
    }
  } catch {
    return undefined;
  }
}

/** Orders of this machine's own ledger must not be left behind where a shared one is used. */
export async function refuseLeftBehind(context: Needed, ledger: Ledger | undefined): Promise<void> {
  const { sharedLedger: url, settings, localLedgerPath: path, profileFlag } = context;
  if (url === undefined || !ledger) return;
  const { shownPostgresUrl } = await import('../lib/postgres-url.ts');
  const { refuseLeftBehind: refuse } = await import('../ledger/moved.ts');
  const { db, profile: account, hide } = ledger;
  await refuse(
    { path, profile: settings.profileName, profileFlag, hide },
    { identity: db.identity, account, to: shownPostgresUrl(url) },
  );
}

/** In CI a variable that is missing is often an empty one: the job would buy with an empty ledger of its own. */
function checkNamedLedger({ env, sharedLedger, inSandbox }: Needed): void {
  if (inSandbox || sharedLedger !== undefined || env.STENO_LEDGER !== '') return;
  throw usage(
    'STENO_LEDGER is set, but empty: nothing says which ledger knows what is on order',
    'set it to the URL of the shared ledger, or unset it to use the ledger of this machine',
  );
}
