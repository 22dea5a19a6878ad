/** Each budget in force, what was bought in its period, and what is left. */
import { Budgets } from '../ledger/budgets.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Budget, budgetText, type Period, parseBudget, periodAt, withCurrency } from '../lib/budget.ts';
import type { Fraction } from '../lib/fraction.ts';
import { fromMillionths, type Money } from '../lib/money.ts';
import type { Settings } from '../settings/settings.ts';
import { costSettings, OrderCosts, readCostFacts, spentOf } from './orders/cost.ts';
import { budgetState, inCurrency } from './prices/limits.ts';

export interface BudgetUse extends Period {
  /** `500.00/month` */
  readonly budget: string;
  readonly limit: Fraction;
  readonly currency: string;
  readonly billed: Fraction;
  /** Of what is not billed yet. */
  readonly estimated: Fraction;
  readonly refunded: Fraction;
  /** How many items have no known cost. */
  readonly unknown: number;
  /** What was bought in other currencies, which it can't count. */
  readonly foreign: readonly Money[];
  /** Below zero where more was bought than the budget allows. */
  readonly left: Fraction;
  /** Where it is set: the ledger, or the source of the setting. */
  readonly source: string;
  readonly setBy: string;
  readonly setAt: string;
}

export async function budgetReport(ledger: Ledger, settings: Settings): Promise<BudgetUse[]> {
  const found = await budgetsNow(ledger, settings);
  if (found.every(({ unknown }) => unknown === 0)) return found;
  // A price or a length may have become known.
  const known = costSettings(settings);
  await OrderCosts.open(ledger, await readCostFacts(ledger, known, true), known, NO_LIMITS);
  return budgetsNow(ledger, settings);
}

const NO_LIMITS = { maxCost: undefined, allowsUnpriced: true };

async function budgetsNow(ledger: Ledger, settings: Settings): Promise<BudgetUse[]> {
  const [kept, nowMs] = await Promise.all([new Budgets(ledger).get(), new Budgets(ledger).nowMs()]);
  const own = settings.get('budget');
  const { currency } = settings;
  const useOf = async (text: string, source: string, setBy = '', setAt = ''): Promise<BudgetUse> => {
    const budget = withCurrency(parseBudget(text), currency);
    return { ...(await usedOf(ledger, budget, nowMs)), source, setBy, setAt };
  };
  return Promise.all([
    ...(kept ? [useOf(kept.budget, 'ledger', kept.setBy, kept.setAt)] : []),
    ...(own.value === undefined ? [] : [useOf(own.value, own.source)]),
  ]);
}

/** Amounts in another currency are told apart: `order` refuses to go on with them. */
async function usedOf(
  ledger: Ledger,
  budget: Budget,
  nowMs: number,
): Promise<Omit<BudgetUse, 'source' | 'setBy' | 'setAt'>> {
  const { start, end } = periodAt(budget.period, nowMs);
  const [rows, unpriced] = await Promise.all([
    new Budgets(ledger).spentSince(start),
    new Budgets(ledger).unpriced(start),
  ]);
  const spent = { amounts: rows.map(spentOf), unpriced: [] };
  const counted = inCurrency(budget, spent);
  const { currency } = counted.limit;
  const { left, foreign } = budgetState(counted, spent, nowMs);
  const own = rows.filter((row) => !row.currency || row.currency === currency);
  const sum = (part: 'billed' | 'estimated' | 'refunded'): Fraction =>
    fromMillionths(own.reduce((all, row) => all + row[part], 0));
  return {
    ...{ budget: budgetText(budget), limit: budget.limit.amount, currency, start, end },
    ...{ billed: sum('billed'), estimated: sum('estimated'), refunded: sum('refunded') },
    ...{ unknown: unpriced.length, foreign, left },
  };
}
