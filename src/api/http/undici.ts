/**
 * The parts of undici that every call needs, and no others: its main file loads all of it, which takes longer than
 * the call. To take this out, import Pool from 'undici'.
 */
import Pool from 'undici/lib/dispatcher/pool.js';

export { Pool };
