/** Each budget in force, what was bought in its period, and what is left. */
import type { Ledger } from '../ledger/ledger.ts';
import { type Budget, budgetText, type Period, parseBudget, periodAt, withCurrency } from '../lib/budget.ts';
import type { Fraction } from '../lib/fraction.ts';
import { fromMillionths } from '../lib/money.ts';
import type { Settings } from '../settings/settings.ts';
import { budgetState } from './prices/limits.ts';

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
  /** Below zero where more was bought than the budget allows. */
  readonly left: Fraction;
  /** Where it is set: the ledger, or the source of the setting. */
  readonly source: string;
  readonly setBy: string;
  readonly setAt: string;
}

export async function budgetReport(ledger: Ledger, settings: Settings): Promise<BudgetUse[]> {
  const [kept, nowMs] = await Promise.all([ledger.budgets.get(), ledger.budgets.nowMs()]);
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

/** Amounts in another currency are not counted: `order` refuses them by name. */
async function usedOf(
  ledger: Ledger,
  budget: Budget,
  nowMs: number,
): Promise<Omit<BudgetUse, 'source' | 'setBy' | 'setAt'>> {
  const { start, end } = periodAt(budget.period, nowMs);
  const [rows, unpriced] = await Promise.all([
    ledger.budgets.spentSince(start),
    ledger.budgets.unpriced(start),
  ]);
  const [named] = rows.flatMap((row) => row.currency || []);
  const currency = budget.limit.currency || named || '';
  const own = rows.filter((row) => !row.currency || row.currency === currency);
  const sum = (part: 'billed' | 'estimated' | 'refunded'): Fraction =>
    fromMillionths(own.reduce((all, row) => all + row[part], 0));
  const [billed, estimated, refunded] = [sum('billed'), sum('estimated'), sum('refunded')];
  const spent = { amounts: [{ amount: billed.plus(estimated).minus(refunded), currency }], unpriced: [] };
  return {
    ...{ budget: budgetText(budget), limit: budget.limit.amount, currency, start, end },
    ...{ billed, estimated, refunded },
    unknown: unpriced.length,
    left: budgetState({ ...budget, limit: { ...budget.limit, currency } }, spent, nowMs).left,
  };
}
