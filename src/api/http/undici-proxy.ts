/** The part of undici for proxies, loaded only where one is set: it brings all of undici with it. */
export { ProxyAgent } from 'undici';
