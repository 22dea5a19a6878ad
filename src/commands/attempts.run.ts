import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { findOpenAttempt, settleNotPlaced, settlePlaced } from '../flows/orders/settle.ts';
import { usage } from '../lib/errors.ts';
import { withPager } from '../ui/pager.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { attemptsView, settledView } from '../views/attempt.ts';

export async function list(context: Context): Promise<void> {
  const { out } = context;
  const ledger = await context.requireLedger('attempts reads the ledger');
  const attempts = await ledger.openAttempts.list();
  await withPager(context, () => out.show(attemptsView(attempts, out.forPeople)));
  if (out.forPeople && attempts.length === 0) out.note('every order has a known end');
}

interface SettleOptions {
  readonly placed: string | undefined;
  readonly file: readonly string[];
  readonly notPlaced: boolean;
}

export async function settle(context: Context, { args, options }: Input<SettleOptions>): Promise<void> {
  const { placed, file, notPlaced } = options;
  if (placed === undefined && !notPlaced)
    throw usage('settle requires --placed <order> or --not-placed', 'see: steno attempts settle --help');
  const { out } = context;
  const ledger = await context.requireLedger('attempts reads the ledger');
  const attempt = await findOpenAttempt(ledger, args[0] ?? '');
  const settled =
    placed === undefined
      ? await settleNotPlaced(ledger, attempt)
      : await whileWorking(out, WAITING, () =>
          settlePlaced(ledger, attempt, placed, file, () => context.connect()),
        );
  await out.show(settledView(settled));
  if (settled.missing !== undefined)
    await out.warn(
      `order ${settled.order}: ${settled.missing}`,
      'look for them in your account, and take them in with: steno track <id>',
    );
}
