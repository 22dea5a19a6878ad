/** Which call for money a path is, however it is spelled: a server may decode it before it chooses what to do. */

export type MoneyCall = 'order' | 'upgrade' | 'refund';

/** A proxy and the service behind it may each decode once; each reading of a path is compared. */
const MAX_READINGS = 8;

export interface MoneyTarget {
  readonly call: MoneyCall;
  /** The file that is upgraded or refunded; empty for an order. */
  readonly file: string;
}

/** In doubt a call counts as one for money: that only means that it is not retried, and is kept in the ledger. */
export function moneyTargetOf(path: string): MoneyTarget | undefined {
  let reading = path;
  for (let count = 0; count < MAX_READINGS; count++) {
    const found = targetIn(reading) ?? targetIn(resolved(reading));
    if (found) return found;
    const decoded = decodeOnce(reading);
    if (decoded === reading) return undefined;
    reading = decoded;
  }
  // A path that is encoded this often is meant to be hidden.
  return { call: 'order', file: '' };
}

export const moneyCallOf = (path: string): MoneyCall | undefined => moneyTargetOf(path)?.call;

function targetIn(path: string): MoneyTarget | undefined {
  const [, file, change, order] =
    /\/audiofile\/((?:[^/]+\/)*[^/]+)\/(upgrade|refund)\b|\/(order_url)\b/i.exec(path) ?? [];
  if (order) return { call: 'order', file: '' };
  return change && file ? { call: change.toLowerCase() as MoneyCall, file: decodedId(file) } : undefined;
}

/** An id as the user knows it. */
function decodedId(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Byte by byte, so that a bad escape elsewhere in the path hides nothing. */
const decodeOnce = (path: string): string =>
  path.replace(/%(?:u00)?([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );

/** Without parameters of its steps, empty steps and dot segments. */
function resolved(path: string): string {
  const steps: string[] = [];
  for (const step of path.split(/[/\\]/)) {
    const name = step.replace(/;.*/s, '').trim();
    if (name === '..') steps.pop();
    else if (name !== '' && name !== '.') steps.push(name);
  }
  return `/${steps.join('/')}`;
}
