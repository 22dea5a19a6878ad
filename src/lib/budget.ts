/** The setting `budget`: how much may be spent in a day, a week, a month or a year. */
import { usage } from './errors.ts';
import { type Money, moneyText, parseMoney } from './money.ts';

export const budgetPeriods = ['day', 'week', 'month', 'year'] as const;
export type BudgetPeriod = (typeof budgetPeriods)[number];

export interface Budget {
  readonly limit: Money;
  readonly period: BudgetPeriod;
}

/** A span of time, in ISO 8601; `end` is the first moment after it. */
export interface Period {
  readonly start: string;
  readonly end: string;
}

/** Reads `200/month`, `$50 / week` or `1000 EUR/year`. */
export function parseBudget(text: string): Budget {
  const slash = text.lastIndexOf('/');
  const limit = slash < 0 ? undefined : parseMoney(text.slice(0, slash));
  const name = text
    .slice(slash + 1)
    .trim()
    .toLowerCase();
  const period = budgetPeriods.find((each) => each === name);
  if (limit && period && limit.amount.sign >= 0) return { limit, period };
  throw usage(
    `'${text}' is not a budget`,
    'write it like 200/month; a budget is for a day, week, month or year',
  );
}

/** Of a budget that names none. */
export const withCurrency = ({ limit, period }: Budget, currency: string): Budget => ({
  limit: { ...limit, currency: limit.currency || currency },
  period,
});

export const budgetText = ({ limit, period }: Budget): string => `${moneyText(limit)}/${period}`;

/** The period that a time lies in. In UTC, so that all who share a ledger mean the same; a week begins on Monday. */
export function periodAt(period: BudgetPeriod, now: number): Period {
  const at = new Date(now);
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  const weekDay = (at.getUTCDay() + 6) % 7;
  switch (period) {
    case 'day':
      return span([year, month, day], [year, month, day + 1]);
    case 'week':
      return span([year, month, day - weekDay], [year, month, day - weekDay + 7]);
    case 'month':
      return span([year, month, 1], [year, month + 1, 1]);
    case 'year':
      return span([year, 0, 1], [year + 1, 0, 1]);
  }
}

type Day = readonly [year: number, month: number, day: number];

const span = (start: Day, end: Day): Period => ({ start: iso(start), end: iso(end) });

/** Days and months beyond their end lead into the next one. */
const iso = ([year, month, day]: Day): string => new Date(Date.UTC(year, month, day)).toISOString();
