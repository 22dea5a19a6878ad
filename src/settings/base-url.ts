import { usage } from '../lib/errors.ts';
import { isUrl } from '../lib/is-url.ts';
import { urlHint } from '../lib/url-hints.ts';
import { isLoopback } from '../lib/urls.ts';

/** Refuses what is not a base URL, and one to which the key must not be sent. */
export function checkBaseUrl(text: string): void {
  const url = isUrl(text) && /^https?:\/\/[^/\\\s][^\s\\]*$/i.test(text) ? new URL(text) : undefined;
  if (!url) throw usage(`'${text}' is not a base URL`, urlHint(text, 'base'));
  if (url.username || url.password) throw usage('a base URL takes no user name or password');
  if (/[?#]/.test(text)) throw usage(`the base URL '${text}' has a query or a fragment`, 'leave it out');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw usage(
      `the key is not sent over plain http to ${url.hostname}`,
      'use https; plain http is for this machine only (127.0.0.1, localhost, [::1])',
    );
  }
}
