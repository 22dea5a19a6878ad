import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { budgetReport } from '../flows/orders/cost.ts';
import { Budgets } from '../ledger/budgets.ts';
import { budgetText, parseBudget, withCurrency } from '../lib/budget.ts';
import { moneyText } from '../lib/money.ts';
import { thisSender } from '../lib/sender.ts';
import { budgetsView } from '../views/money.ts';

export async function show(context: Context): Promise<void> {
  const { out } = context;
  const ledger = await context.requireLedger('a budget is counted in the ledger');
  const budgets = await budgetReport(ledger, context.settings);
  await out.show(budgetsView(budgets));
  for (const { budget, foreign } of budgets)
    if (foreign.length)
      await out.warn(
        `${foreign.map(moneyText).join(', ')} can't be counted against the budget of ${budget}: another currency`,
        'write the budget in the currency of your prices: steno budget set --help',
      );
  if (out.forPeople && budgets.length === 0)
    out.note('no budget is set; set one with: steno budget set 500/month');
}

export async function set(context: Context, { args: [text = ''] }: Input): Promise<void> {
  // For all who share the ledger, whatever currency their settings name.
  const budget = budgetText(withCurrency(parseBudget(text), context.settings.currency));
  const ledger = await context.requireLedger('the budget is kept in the ledger');
  await new Budgets(ledger).set(budget, thisSender(context.env));
  context.out.done(`the budget is ${budget}, for everyone who uses this ledger`, { budget });
}

export async function unset(context: Context): Promise<void> {
  const ledger = await context.requireLedger('the budget is kept in the ledger');
  const had = (await new Budgets(ledger).get()) !== undefined;
  await new Budgets(ledger).set(undefined, thisSender(context.env));
  context.out.done(had ? "the ledger's budget was removed" : 'the ledger had no budget', { budget: null });
}
