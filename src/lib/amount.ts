/** Amounts are decimal texts, compared exactly: never as floating-point numbers. */

/** No amount is longer; the patterns below would take very long for a megabyte of blanks. */
const MAX_LENGTH = 1_000;

/** Reads `12`, `12.50`, `.5`, `-3`, `$1,234.50` or `1e3` into digits and a scale. */
function parse(text: string): { digits: bigint; scale: number } | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const plain = text
    .trim()
    .replace(/^(-?)\$/, '$1')
    .replace(/\s*USD$/i, '')
    .replace(/,(?=\d{3}(\D|$))/g, '');
  const match = /^([+-]?)(?=\.?\d)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/.exec(plain);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  return { digits: sign === '-' ? -digits : digits, scale: fraction.length - Number(exponent) };
}

export const isAmount = (text: string): boolean => parse(text) !== undefined;

/** Below, at or above zero as `a` is less than, equal to or more than `b`; undefined if one is not an amount. */
export function compareAmounts(a: string, b: string): number | undefined {
  const [left, right] = [parse(a), parse(b)];
  if (!left || !right) return undefined;
  const scale = Math.max(left.scale, right.scale, 0);
  const difference =
    left.digits * 10n ** BigInt(scale - left.scale) - right.digits * 10n ** BigInt(scale - right.scale);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}
