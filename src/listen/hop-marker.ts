import { randomBytes } from 'node:crypto';

export const HOP_MARKER_HEADER = 'steno-listener';

/** Sent with every forwarded delivery, so that this process recognises one that comes back to it. */
export const hopMarker = randomBytes(8).toString('hex');
