import { getBalance } from '../api/account.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { compareAmounts, isAmount } from '../lib/money.ts';
import { CALL_EXITS, command } from '../spec/command.ts';
import { text } from '../spec/options.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { balanceRecord, balanceView } from '../views/money.ts';

export const balance = command({
  name: 'balance',
  summary: 'Show the prepay balance',
  about: "Shows the account's prepay balance. With --min, exits with 1 if the balance is lower.",
  options: {
    min: text('--min <amount>', 'exit with 1 if the balance is lower than this'),
  },
  examples: [
    ['steno balance', 'show the balance'],
    ['steno balance --quiet', 'only the number'],
    ['steno balance --min 50 || echo "time to top up"', 'check it in a script'],
  ],
  effect: 'read',
  exits: CALL_EXITS,
  output: () => balanceRecord.printed,
  async run(context, { options: { min } }) {
    if (min !== undefined && !isAmount(min))
      throw usage(`--min: '${min}' is not an amount`, 'write it like 50 or 49.99');
    const transport = await context.connect();
    const found = await whileWorking(context.out, WAITING, () => getBalance(transport));
    await context.out.show(balanceView(found, context.settings.currency, context.out.isBrief));
    if (min !== undefined) checkMinimum(found.balance, min);
  },
});

function checkMinimum(balance: string, min: string): void {
  const order = compareAmounts(balance, min);
  if (order === undefined)
    throw new StenoError('failed', `the balance '${balance}' can't be compared with ${min}`);
  if (order < 0) throw new StenoError('failed', `the balance ${balance} is less than ${min}`);
}
