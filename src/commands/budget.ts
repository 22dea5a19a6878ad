import { command } from '../spec/command.ts';

const work = () => import('./budget.run.ts');

const set = command({
  name: 'set',
  summary: 'Set the budget of everyone who uses this ledger',
  about:
    'Keeps a budget in the ledger: an amount for a day, week, month or year, in UTC. It applies to everyone who uses the ' +
    'ledger, beside a budget of their own settings.',
  args: [{ name: '<amount/period>', help: '500/month, "50 EUR/week", 0/day' }],
  examples: [
    ['steno budget set 500/month', 'at most 500 a month'],
    ['steno budget set "50 EUR/week"', 'in euros'],
  ],
  load: async () => (await work()).set,
});

const unset = command({
  name: 'unset',
  summary: 'Remove the budget of the ledger',
  about: 'Removes the budget that the ledger keeps. A budget of the settings stays.',
  examples: [['steno budget unset', "remove the ledger's budget"]],
  load: async () => (await work()).unset,
});

export const budget = command({
  name: 'budget',
  summary: 'Show the budget, what was bought under it, and what is left',
  about:
    'Shows each budget with what was bought in its period: billed, estimated if not billed yet, refunded, and what is ' +
    'left. Purchases of unknown cost are counted separately: until their cost is known, nothing more is ordered unless ' +
    '--unpriced.',
  details: [
    'Two budgets may apply, and both must hold: the one in the ledger (steno budget set), for all who share it, and the ' +
      "one in the settings (steno config set budget, STENO_BUDGET). Periods are in UTC, by the ledger's clock. A " +
      'purchase counts in the period in which it was made; an unclear one counts as bought, and a refund as money back.',
    '--quiet prints what is left.',
  ],
  children: [set, unset],
  examples: [
    ['steno budget', 'what is left'],
    ['steno budget set 500/month', 'at most 500 a month, for all who share the ledger'],
    ['steno budget --json | jq ".budgets[].left"', 'for a script'],
  ],
  load: async () => (await work()).show,
});
