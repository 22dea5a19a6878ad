/**
 * The parts of undici that every call needs, and no others: its main file loads all of it, which takes longer than
 * the call. To take this out, import Client and Pool from 'undici'.
 */
import Client from 'undici/lib/dispatcher/client.js';
import Pool from 'undici/lib/dispatcher/pool.js';

export { Client, Pool };
