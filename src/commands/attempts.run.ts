import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import {
  findAttempt,
  reopen,
  type Settled,
  settleChange,
  settleNotPlaced,
  settlePlaced,
} from '../flows/orders/settle.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Attempt, OpenAttempts } from '../ledger/open-attempts.ts';
import { usage } from '../lib/errors.ts';
import { withPager } from '../ui/pager.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { attemptsView, settledView } from '../views/purchases.ts';

export async function list(context: Context): Promise<void> {
  const { out } = context;
  const ledger = await context.requireLedger('attempts reads the ledger');
  const attempts = await new OpenAttempts(ledger).list();
  await withPager(context, () => out.show(attemptsView(attempts, out.forPeople)));
  if (out.forPeople && attempts.length === 0) out.note('every order, upgrade and refund has a known outcome');
}

interface SettleOptions {
  /** True without an order id. */
  readonly placed: string | true | undefined;
  readonly file: readonly string[];
  readonly notPlaced: boolean;
  readonly reopen: boolean;
}

export async function settle(context: Context, { args, options }: Input<SettleOptions>): Promise<void> {
  const { placed, notPlaced } = options;
  if (placed === undefined && !notPlaced && !options.reopen)
    throw usage(
      'settle requires --placed <order> or --not-placed, or --reopen',
      'see: steno attempts settle --help',
    );
  const { out } = context;
  const ledger = await context.requireLedger('attempts reads the ledger');
  const attempt = await findAttempt(ledger, args[0] ?? '');
  const settled = await whileWorking(out, WAITING, () => settleAs(context, ledger, attempt, options));
  await out.show(settledView(settled));
  if (settled.missing !== undefined)
    await out.warn(
      `order ${settled.order}: ${settled.missing}`,
      'look for them in your account, and take them in with: steno track <id>',
    );
}

function settleAs(
  context: Context,
  ledger: Ledger,
  attempt: Attempt,
  { placed, file, reopen: undoes }: SettleOptions,
): Promise<Settled> {
  if (undoes) return reopen(ledger, attempt);
  if (placed === undefined) return settleNotPlaced(ledger, attempt);
  if (attempt.kind !== 'order')
    return settleChange(ledger, attempt, placed === true ? undefined : placed, file);
  if (placed !== true) return settlePlaced(ledger, attempt, placed, file, () => context.connect());
  throw usage(
    `attempt ${attempt.attempt} is an order, which has an id`,
    `name it: steno attempts settle ${attempt.attempt} --placed <order>`,
  );
}
