import type { serve } from './server.ts';

/** The protocol is large, and loaded by nothing else. */
export const serveProtocol: typeof serve = async (...args) => (await import('./server.ts')).serve(...args);
