/** Budgets as people and scripts read them. */
import type { BudgetUse } from '../flows/orders/cost.ts';
import type { Fraction } from '../lib/fraction.ts';
import { JsonNumber } from '../lib/json.ts';
import { amountText, moneyText } from '../lib/money.ts';
import type { View } from '../lib/view.ts';
import { countField, type Field, listField, RecordType, textField, timeField } from './record.ts';
import { arrayOf, number, object, type Schema, text, time } from './schema.ts';

const amount = (
  name: string,
  help: string,
  value: (use: BudgetUse) => Fraction,
  importance: number,
): Field<BudgetUse> => ({
  ...{ name, help, importance, kind: 'amount', schema: number },
  json: (use) => new JsonNumber(amountText(value(use))),
  cell: (use) => amountText(value(use)),
});

export const budgetRecord = new RecordType<BudgetUse>([
  textField('budget', 'amount and period', ({ budget }) => budget, { kind: 'id', schema: text }),
  textField('source', 'ledger, or where the setting comes from', ({ source }) => source, {
    importance: 60,
    schema: text,
  }),
  timeField('from', 'the beginning of the period', ({ start }) => start, { importance: 30, schema: time }),
  timeField('until', 'the first moment after it', ({ end }) => end, { importance: 50, schema: time }),
  amount('billed', 'what the service has billed', ({ billed }) => billed, 80),
  amount('estimated', 'what is not billed yet, by estimate', ({ estimated }) => estimated, 75),
  amount('refunded', 'what came back', ({ refunded }) => refunded, 55),
  countField('unknown', 'purchases of unknown cost', ({ unknown }) => unknown, { importance: 70 }),
  amount('left', 'what is left; below zero where more was bought', ({ left }) => left, 95),
  textField('currency', 'of the amounts', ({ currency }) => currency, { importance: 65 }),
  listField('not_counted', 'amounts in other currencies', ({ foreign }) => foreign.map(moneyText), {
    importance: 45,
  }),
  amount('limit', 'the amount of the budget', ({ limit }) => limit, 20),
  textField('set_by', 'who set it in the ledger', ({ setBy }) => setBy, { importance: 40 }),
  timeField('set_at', 'when it was set in the ledger', ({ setAt }) => setAt, { importance: 25 }),
]);

export const budgetsSchema: Schema = object({ budgets: arrayOf(budgetRecord.schema) });

export function budgetsView(budgets: readonly BudgetUse[]): View {
  const { columns, rows } = budgetRecord.view(budgets, ({ left }) => amountText(left));
  return {
    ...{ columns, rows },
    json: new Map([['budgets', budgets.map((use) => budgetRecord.json(use))]]),
    quiet: budgets.map(({ left }) => amountText(left)),
  };
}
