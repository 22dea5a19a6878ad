import { usage } from './errors.ts';
import { isUrl } from './is-url.ts';
import { hasHidden } from './text.ts';
import { type UrlUse, urlHint } from './url-hints.ts';

/** Accepts an absolute http or https URL; `use` chooses the hint for what is not one. */
export function checkUrl(text: string, use: UrlUse = 'audio'): string {
  const plausible = /^https?:\/\/[^/?#\s]/i.test(text) && !/[\s\u0000-\u001f\u007f-\u009f]/.test(text);
  if (plausible && isUrl(text)) {
    if (!hasHidden(text)) return text;
    throw usage(
      `'${shownUrl(text)}' holds a character that is not visible`,
      'copy the URL again, without what is around it',
    );
  }
  throw usage(`'${shownUrl(text)}' is not an http or https URL`, urlHint(shownUrl(text), use));
}

/** What is no URL can't be told from a signature in it: its parameters are not shown. */
function shownUrl(text: string): string {
  const at = text.search(/[?#]/);
  const shown = at >= 0 && text.includes('=', at) ? `${text.slice(0, at)}?…` : text;
  return shown.replace(/\/\/[^/?@]*@/, '//');
}

/** Whether the host name of a URL means this machine. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** One spelling of a base URL. */
export const comparableBaseUrl = (baseUrl: string): string => new URL(baseUrl).href.replace(/\/+$/, '');
