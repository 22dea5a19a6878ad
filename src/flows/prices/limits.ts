/** Stops an order that would cost more than it may: --max-cost, and the setting `budget`. */
import { type Budget, budgetText, periodAt } from '../../lib/budget.ts';
import { type StenoError, usage } from '../../lib/errors.ts';
import { Fraction } from '../../lib/fraction.ts';
import { amountText, type Money, moneyText } from '../../lib/money.ts';
import { type Estimate, totalText, unknownTexts } from './estimate.ts';

/** Throws unless the estimate is known and at most `limit`; where it is a range, its upper end counts. */
export function checkMaxCost(estimate: Estimate, limit: Money): void {
  const asked = `--max-cost ${moneyText(limit)}`;
  if (!estimate.total)
    throw usage(
      `the cost is not known, and ${asked} is set: ${unknownTexts(estimate).join('; ')}`,
      priceHint(estimate),
    );
  const { high, currency } = estimate.total;
  const clash = currencyClash(currency, limit.currency, asked);
  if (clash) throw clash;
  if (high.compare(limit.amount) > 0)
    throw usage(
      `the estimate of ${totalText(estimate)} is more than ${asked}; nothing was ordered`,
      'order less of it, or raise --max-cost',
    );
}

/** Two currencies that are both known and differ; one that is not known is taken for the other. */
function currencyClash(ofEstimate: string, ofLimit: string, limit: string): StenoError | undefined {
  if (!ofEstimate || !ofLimit || ofEstimate === ofLimit) return undefined;
  return usage(`prices are in ${ofEstimate}, which can't be compared with ${limit}`);
}

const priceHint = ({ unpriced }: Estimate): string | undefined => {
  const [first] = unpriced;
  return first && `if you know the price of a minute: steno config set price.${first.sku} <amount>`;
};

/** What counts against a budget: all that was spent or is reserved in its period, by currency. */
export interface Spent {
  readonly amounts: readonly Money[];
  /** Orders of the period whose cost is not known. */
  readonly unpriced: number;
}

export interface BudgetState {
  readonly start: string;
  readonly end: string;
  readonly spent: Fraction;
  /** Below zero where more was spent than the budget allows. */
  readonly left: Fraction;
  /** Amounts in other currencies, which count for nothing here. */
  readonly foreign: readonly Money[];
}

/** What is left of a budget now. An amount of which no currency is known counts as one of the budget's. */
export function budgetState({ limit, period }: Budget, { amounts }: Spent, now: number): BudgetState {
  const counts = ({ currency }: Money): boolean =>
    !currency || !limit.currency || currency === limit.currency;
  const spent = amounts.filter(counts).reduce((sum, { amount }) => sum.plus(amount), Fraction.zero);
  return {
    ...periodAt(period, now),
    spent,
    left: limit.amount.minus(spent),
    foreign: amounts.filter((each) => !counts(each)),
  };
}

export interface BudgetCheck {
  readonly budget: Budget;
  readonly spent: Spent;
  readonly estimate: Estimate;
  /** --unpriced: what has no known price may be ordered all the same. */
  readonly allowsUnpriced: boolean;
  readonly now: number;
}

/** Throws if the estimate is more than what is left, or not known without --unpriced. Returns what it counts for. */
export function checkBudget({ budget, spent, estimate, allowsUnpriced, now }: BudgetCheck): Money {
  const text = `the budget of ${budgetText(budget)}`;
  const cost = countedCost(estimate, allowsUnpriced, text);
  // A budget that names no currency is in that of the order: dollars and euros are never added up.
  const currency = budget.limit.currency || cost.currency;
  const counted = { ...budget, limit: { ...budget.limit, currency } };
  const { left, foreign, end } = budgetState(counted, spent, now);
  if (foreign.length)
    throw usage(
      `${foreign.map(moneyText).join(', ')} can't be counted against ${text}: another currency`,
      `write the budget in the currency of your prices: steno config set budget "<amount> ${foreign[0]?.currency}/${budget.period}"`,
    );
  const clash = currencyClash(cost.currency, budget.limit.currency, text);
  if (clash) throw clash;
  if (cost.amount.compare(left) > 0)
    throw usage(
      `the estimate of ${moneyText(cost)} is more than is left of ${text}: ${amountText(left)}`,
      `order less of it, wait until ${end.slice(0, 10)}, or raise it: steno config set budget <amount>/${budget.period}`,
    );
  return { amount: cost.amount, currency: cost.currency || budget.limit.currency };
}

/** With --unpriced, what is known of the cost; the rest counts for nothing. */
function countedCost(estimate: Estimate, allowsUnpriced: boolean, budget: string): Money {
  if (estimate.total) return { amount: estimate.total.high, currency: estimate.total.currency };
  const [known, ...more] = estimate.known;
  if (more.length || !allowsUnpriced)
    throw usage(
      `the cost is not known, and ${budget} is set: ${unknownTexts(estimate).join('; ')}`,
      more.length ? undefined : 'set its price (steno config set price.SKU <amount>), or add --unpriced',
    );
  return known ?? { amount: Fraction.zero, currency: '' };
}
