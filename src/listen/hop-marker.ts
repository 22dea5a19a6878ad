/** Marks forwarded deliveries, so that one that comes back to a listener is not taken for a new one. */
import { randomBytes } from 'node:crypto';

export const HOP_MARKER_HEADER = 'steno-listener';

/** This process, in the header of every delivery that it forwards. */
const ownMarker = randomBytes(8).toString('hex');

/** A delivery that has passed this many listeners goes round: one that is started anew has another marker. */
const MAX_HOPS = 8;
/** A marker, a space. */
const MAX_LENGTH = MAX_HOPS * 17;

/** The listeners that a delivery has passed, by its header; undefined: it must not pass this one. */
export function readHops(header: string | readonly string[] | undefined): string | undefined {
  if (header === undefined) return '';
  const text = String(header);
  // Cut: a stranger may send any header, and only the first ones count.
  const hops = text.slice(0, MAX_LENGTH).match(/\b[0-9a-f]{16}\b/g) ?? [];
  return hops.length >= MAX_HOPS || text.includes(ownMarker) ? undefined : hops.join(' ');
}

/** The header of a delivery that is forwarded. */
export const addOwnHop = (hops: string): string => (hops ? `${hops} ${ownMarker}` : ownMarker);
