import { randomBytes } from 'node:crypto';

/** Tells this listener's own deliveries from others, should one come back to it. */
export const hopMarker = randomBytes(8).toString('hex');
