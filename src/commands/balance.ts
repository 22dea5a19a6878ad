import { command } from '../cli/command-spec.ts';
import { text } from '../cli/options.ts';
import { compareAmounts, isAmount } from '../lib/amount.ts';
import { StenoError, usage } from '../lib/errors.ts';

export const balance = command({
  name: 'balance',
  summary: 'Show the prepay balance in USD',
  options: {
    min: text('--min <amount>', 'exit with 1 if there is less than this'),
  },
  examples: [
    ['steno balance', 'show it'],
    ['steno balance --quiet', 'the bare number'],
    ['steno balance --min 50 || echo "time to top up"', 'check it in a script'],
  ],
  async run(context, { options: { min } }) {
    if (min !== undefined && !isAmount(min))
      throw usage(`'${min}' is not an amount`, 'write it like 50 or 49.99');
    const [{ getBalance }, { balanceView }, { whileSpinning }] = await Promise.all([
      import('../api/balance.ts'),
      import('../views/simple.ts'),
      import('../ui/spinner.ts'),
    ]);
    const transport = await context.transport();
    const found = await whileSpinning(context.out, 'Asking', () => getBalance(transport));
    await context.out.show(balanceView(found));
    if (min === undefined) return;
    const order = compareAmounts(found.balance, min);
    if (order === undefined)
      throw new StenoError('failed', `the balance '${found.balance}' can't be compared with ${min}`);
    if (order < 0) throw new StenoError('failed', `the balance ${found.balance} is less than ${min}`);
  },
});
