/** Amounts as decimal texts, compared exactly: never as floating-point numbers. */
import type { Fraction } from './fraction.ts';
import { parseMoney } from './money.ts';

/** Reads `12`, `12.50`, `.5`, `-3`, `$1,234.50` or `1e3`; dollars alone, as the balance is in. */
function parse(text: string): Fraction | undefined {
  const money = parseMoney(text);
  return money?.currency === '' || money?.currency === 'USD' ? money.amount : undefined;
}

export const isAmount = (text: string): boolean => parse(text) !== undefined;

/** Below, at or above zero as `a` is less than, equal to or more than `b`; undefined if one is not an amount. */
export function compareAmounts(a: string, b: string): number | undefined {
  const [left, right] = [parse(a), parse(b)];
  return left && right && left.compare(right);
}
