import { budgetReport } from '../flows/orders/cost.ts';
import { Budgets } from '../ledger/budgets.ts';
import { budgetText, moneyText, parseBudget, withCurrency } from '../lib/money.ts';
import { thisSender } from '../lib/sender.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import { showLines } from '../ui/output.ts';
import { budgetLines, budgetsOutput, budgetsView } from '../views/money.ts';
import { printed } from '../views/record.ts';
import { maybeText, object, text } from '../views/schema.ts';

const set = command({
  name: 'set',
  summary: 'Set a budget for everyone who uses this ledger',
  about:
    'Saves a budget in the ledger: an amount per day, week, month or year, in UTC. It applies to everyone who ' +
    'uses the ledger, in addition to any budget in their own settings.',
  args: [{ name: '<amount/period>', help: 'amount and period, such as 500/month, "50 EUR/week" or 0/day' }],
  examples: [
    ['steno budget set 500/month', 'at most 500 per month'],
    ['steno budget set "50 EUR/week"', 'in euros'],
  ],
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => printed(object({ budget: text })),
  async run(context, { args: [text = ''] }) {
    // For all who share the ledger, whatever currency their settings name.
    const budget = budgetText(withCurrency(parseBudget(text), context.settings.currency));
    const ledger = await context.ledgers.required('the budget is kept in the ledger');
    await new Budgets(ledger).set(budget, thisSender(context.env));
    context.out.done(`the budget is ${budget} for everyone who uses this ledger`, { budget });
  },
});

const unset = command({
  name: 'unset',
  summary: 'Remove the budget of the ledger',
  about: 'Removes the budget from the ledger. A budget in the settings stays.',
  examples: [['steno budget unset', "remove the ledger's budget"]],
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => printed(object({ budget: maybeText })),
  async run(context) {
    const ledger = await context.ledgers.required('the budget is kept in the ledger');
    const had = (await new Budgets(ledger).get()) !== undefined;
    await new Budgets(ledger).set(undefined, thisSender(context.env));
    context.out.done(had ? "the ledger's budget was removed" : 'the ledger had no budget', { budget: null });
  },
});

export const budget = command({
  name: 'budget',
  summary: 'Show or set the budget, and see what is left',
  about:
    'Shows each budget with the purchases of its period: billed, estimated (not billed yet) and refunded amounts, ' +
    'and what is left. Purchases of unknown cost are counted separately; until their cost is known, new orders ' +
    'need --unpriced.',
  details: [
    'Two budgets may apply, and an order must fit both: the one in the ledger (steno budget set), for everyone ' +
      'who shares it, and the one in the settings (steno config set budget, STENO_BUDGET). Periods are in UTC, by ' +
      'the clock of the ledger. A purchase counts in the period in which it was made. An uncertain purchase counts ' +
      'as bought; a refund is deducted.',
    '--quiet prints only the amount left.',
  ],
  children: [set, unset],
  examples: [
    ['steno budget', 'what is left'],
    ['steno budget set 500/month', 'at most 500 per month, for everyone who shares the ledger'],
    ['steno budget --json | jq ".budgets[].left"', 'for a script'],
  ],
  effect: 'read',
  exits: LEDGER_EXITS,
  output: budgetsOutput,
  async run(context) {
    const { out } = context;
    const ledger = await context.ledgers.required('a budget is counted in the ledger');
    const budgets = await budgetReport(ledger, context.settings);
    if (out.forPeople && out.isBrief) await showLines(out, budgets.flatMap(budgetLines));
    else await out.show(budgetsView(budgets));
    for (const { budget, foreign } of budgets)
      if (foreign.length)
        await out.warn(
          `${foreign.map(moneyText).join(', ')} can't be counted against the budget of ${budget}: the currencies differ`,
          'set the budget in the currency of your prices; see: steno budget set --help',
        );
    if (out.forPeople && budgets.length === 0)
      out.note('no budget is set; set one with: steno budget set 500/month');
  },
});
