/**
 * The parts of undici that every call needs, and no others: its main file loads all of it, which takes longer than
 * the call. To take this out, import Client and Pool from 'undici'.
 */
import request from 'undici/lib/api/api-request.js';
import Client from 'undici/lib/dispatcher/client.js';
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js';
import Pool from 'undici/lib/dispatcher/pool.js';

Object.assign(Dispatcher.prototype, { request });

export { Client, Pool };
