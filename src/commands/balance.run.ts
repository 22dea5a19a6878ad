import { getBalance } from '../api/account.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { compareAmounts, isAmount } from '../lib/amount.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { balanceView } from '../views/money.ts';

interface BalanceOptions {
  readonly min: string | undefined;
}

export async function run(context: Context, { options: { min } }: Input<BalanceOptions>): Promise<void> {
  if (min !== undefined && !isAmount(min))
    throw usage(`'${min}' is not an amount`, 'write it like 50 or 49.99');
  const transport = await context.connect();
  const found = await whileWorking(context.out, WAITING, () => getBalance(transport));
  await context.out.show(balanceView(found, context.out.forPeople));
  if (min !== undefined) checkMinimum(found.balance, min);
}

function checkMinimum(balance: string, min: string): void {
  const order = compareAmounts(balance, min);
  if (order === undefined)
    throw new StenoError('failed', `the balance '${balance}' can't be compared with ${min}`);
  if (order < 0) throw new StenoError('failed', `the balance ${balance} is less than ${min}`);
}
