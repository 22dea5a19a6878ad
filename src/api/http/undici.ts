/**
 * Speed: only the part of undici that every call needs. To take it out, import both from 'undici'.
 */
import buildConnector from 'undici/lib/core/connect.js';
import Pool from 'undici/lib/dispatcher/pool.js';

export { buildConnector, Pool };
