import { randomBytes } from 'node:crypto';

/** Tells this listener's own deliveries from others, should one come back to it. */
export const marker = randomBytes(8).toString('hex');
