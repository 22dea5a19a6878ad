/**
 * Speed: only the part of undici that every call needs. To take it out, import Pool from 'undici'.
 */
import Pool from 'undici/lib/dispatcher/pool.js';

export { Pool };
