/** The part of undici that goes through a proxy: loaded only where one is set. */
export { ProxyAgent } from 'undici';
