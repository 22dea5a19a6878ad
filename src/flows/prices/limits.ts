/** Stops a purchase that would cost more than it may: --max-cost, and budgets. */

import { StenoError, usage } from '../../lib/errors.ts';
import {
  amountText,
  type Budget,
  budgetText,
  Fraction,
  type Money,
  moneyText,
  periodAt,
} from '../../lib/money.ts';
import { plural } from '../../lib/text.ts';
import { type Estimate, rangeText, unknownTexts } from './estimate.ts';

/** Throws unless the estimate is known and at most `limit`; where it is a range, its upper end counts. */
export function checkMaxCost(estimate: Estimate, limit: Money): void {
  const asked = `--max-cost ${moneyText(limit)}`;
  if (!estimate.total)
    throw usage(`Can't check ${asked}: ${unknownTexts(estimate).join('; ')}`, missingHint(estimate));
  const { high, currency } = estimate.total;
  refuseCurrency(currency, limit.currency, asked);
  if (high.compare(limit.amount) > 0)
    throw usage(
      `the estimate of ${rangeText(estimate.total)} exceeds ${asked}; nothing was ordered`,
      'order less, or raise --max-cost',
    );
}

/** Two currencies that are both known and differ; one that is not known is taken for the other. */
function refuseCurrency(ofEstimate: string, ofLimit: string, limit: string): void {
  if (ofEstimate && ofLimit && ofEstimate !== ofLimit)
    throw usage(`prices are in ${ofEstimate}, which can't be compared with ${limit}`);
}

/** What tells the part of an estimate that is missing: a price, a length, or both. */
function missingHint({ unpriced, unmeasured }: Estimate, ...others: string[]): string | undefined {
  const hints = [
    ...unpriced.slice(0, 1).map(({ sku }) => priceHint(sku)),
    ...(unmeasured.length ? ['give the length: --minutes, or the column minutes of a manifest'] : []),
    ...others,
  ];
  return hints.length ? hints.join('; ') : undefined;
}

const priceHint = (sku: string): string => `set the price per minute: steno config set price.${sku} <amount>`;

export interface Spent {
  readonly amounts: readonly Money[];
  readonly unpriced: readonly UnpricedPurchase[];
}

/** A purchase of the period whose cost is not known. */
interface UnpricedPurchase {
  /** `attempt 12 (talk.mp3)` */
  readonly what: string;
  readonly skus: readonly string[];
  readonly lacksLength: boolean;
  /** Whether the service can be asked about it. */
  readonly hasFile: boolean;
}

export interface BudgetInForce {
  readonly budget: Budget;
  readonly from: 'ledger' | 'setting' | 'environment';
}

/**
 * What is left of a budget now: below zero where more was spent than it allows. An amount of which no currency is known
 * counts as one of the budget's; `foreign` are those in others, which count for nothing. A budget that names no currency is
 * in that of the order (`preferred`), or of what was bought: dollars and euros are never added up.
 */
export function budgetState({ limit, period }: Budget, { amounts }: Spent, now: number, preferred = '') {
  const currency = limit.currency || preferred || (amounts.find((each) => each.currency)?.currency ?? '');
  const counts = (each: Money): boolean => !each.currency || !currency || each.currency === currency;
  const spent = amounts.filter(counts).reduce((sum, { amount }) => sum.plus(amount), Fraction.zero);
  return {
    ...periodAt(period, now),
    ...{ currency, spent, left: limit.amount.minus(spent) },
    foreign: amounts.filter((each) => !counts(each)),
  };
}

export interface BudgetCheck extends BudgetInForce {
  readonly spent: Spent;
  readonly estimate: Estimate;
  /** --unpriced: what has no known cost may be ordered, as long as what is known leaves something. */
  readonly allowsUnpriced: boolean;
  readonly now: number;
}

/** A budget does not cover what is to be ordered: it costs more than is left, or nobody knows what it costs. */
export class NotCovered extends StenoError {
  readonly isUnknown: boolean;

  constructor(message: string, hint: string | undefined, isUnknown = false) {
    super('usage', message, { hint });
    this.isUnknown = isUnknown;
  }
}

/** Throws if the estimate is more than what is left, or something is not known without --unpriced. */
export function checkBudget({ budget, from, spent, estimate, allowsUnpriced, now }: BudgetCheck): void {
  const text = `the budget of ${budgetText(budget)}`;
  if (spent.unpriced.length && !allowsUnpriced) throw unpricedError(spent.unpriced, text);
  const cost = countedCost(estimate, allowsUnpriced, text);
  const { left, foreign, end } = budgetState(budget, spent, now, cost.currency);
  if (foreign.length)
    throw usage(
      `${foreign.map(moneyText).join(', ')} can't be counted against ${text}: the currencies differ`,
      `write the budget in the currency of your prices: ${settingLine(from, `"<amount> ${foreign[0]?.currency}/${budget.period}"`)}`,
    );
  refuseCurrency(cost.currency, budget.limit.currency, text);
  const excess = cost.amount.compare(left);
  const isUsedUp = excess === 0 && (!estimate.total || spent.unpriced.length > 0);
  if (excess > 0 || isUsedUp)
    throw new NotCovered(
      isUsedUp
        ? `${text} is used up: nothing is left for orders of unknown cost`
        : `the estimate of ${moneyText(cost)} exceeds what is left of ${text}: ${amountText(left)}`,
      `order less (order --up-to-budget orders what fits), wait until ${end.slice(0, 10)}, or raise the budget: ${settingLine(from, `<amount>/${budget.period}`)}`,
    );
}

const settingLine = (from: BudgetInForce['from'], value: string): string =>
  ({
    ledger: `steno budget set ${value}`,
    setting: `steno config set budget ${value}`,
    environment: `STENO_BUDGET=${value}`,
  })[from];

const MAX_LISTED = 3;

/** Until it is known what these cost, nobody can say what is left. */
function unpricedError(unpriced: readonly UnpricedPurchase[], budget: string): StenoError {
  const listed = unpriced.slice(0, MAX_LISTED).map(({ what, skus, lacksLength }) => {
    const lacks = [
      ...(skus.length ? [`no price for ${skus.join(', ')}`] : []),
      ...(lacksLength ? ['no length'] : []),
    ];
    return `${what}: ${lacks.join(' and ')}`;
  });
  const more = unpriced.length > MAX_LISTED ? ` and ${unpriced.length - MAX_LISTED} more` : '';
  const lacksLength = (hasFile: boolean): boolean =>
    unpriced.some((each) => each.lacksLength && each.hasFile === hasFile);
  const hints = [
    ...unpriced.flatMap(({ skus }) => skus.map(priceHint)).slice(0, 1),
    ...(lacksLength(true) ? ['ask the service for the length: steno files --refresh'] : []),
    ...(lacksLength(false)
      ? ['if its file is unknown, settle it (steno attempts) or add the file: steno track <id>']
      : []),
    'or add --unpriced',
  ];
  return usage(
    `${budget} is set, but the cost of ${plural(unpriced.length, 'purchase')} is unknown: ${listed.join('; ')}${more}`,
    hints.join('; '),
  );
}

/** With --unpriced, what is known of the cost; the rest counts for nothing. */
function countedCost(estimate: Estimate, allowsUnpriced: boolean, budget: string): Money {
  if (estimate.total) return { amount: estimate.total.high, currency: estimate.total.currency };
  const [known, ...more] = estimate.known;
  if (more.length || !allowsUnpriced)
    throw new NotCovered(
      `Can't check ${budget}: ${unknownTexts(estimate).join('; ')}`,
      more.length ? undefined : missingHint(estimate, 'or add --unpriced'),
      true,
    );
  return known ?? { amount: Fraction.zero, currency: '' };
}
