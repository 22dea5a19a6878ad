import { audioExtensions } from './audio-extensions.ts';
import { usage } from './errors.ts';
import { hasHidden, shellWord } from './text.ts';

const isAscii = (text: string): boolean => !/[^\u0000-\u007f]/.test(text);

/**
 * Whether `new URL` accepts it. URL.canParse of Node 20 and 22 refuses a host name with a letter of Latin-1 (`bücher`)
 * once it was called some thousand times, because its compiled form reads the text as UTF-8.
 */
export function isUrl(text: string, base?: string): boolean {
  if (isAscii(text) && (base === undefined || isAscii(base))) return URL.canParse(text, base);
  try {
    return new URL(text, base) !== undefined;
  } catch {
    return false;
  }
}

/** The name of a parameter as a service may read it: `url[]`, `URL` and `%75rl` are `url`. */
export const parameterName = (text: string): string =>
  decoded(text).normalize('NFKC').trim().toLowerCase().replace(/\[.*$/s, '').replace(/[\s.]/g, '_');

/** Without percent escapes; the text itself where they are not those of UTF-8. */
export function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A URL for people: escapes that are letters, not syntax, are decoded. */
export function readableUrl(text: string): string {
  if (!text.includes('%') || !/^https?:/i.test(text)) return text;
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}

export type UrlUse = 'audio' | 'argument' | 'hook' | 'feed' | 'base' | 'folder';

const examples: Readonly<Record<UrlUse, string>> = {
  audio: 'https://host/talk.mp3',
  argument: 'https://host/talk.mp3',
  hook: 'https://host/hook',
  feed: 'https://host/feed.xml',
  base: 'https://host/API4',
  folder: 'https://host/transcripts/',
};

/** For what looks like a path. */
const localHints: Readonly<Partial<Record<UrlUse, string>>> = {
  audio: 'the service downloads the audio: put the file where a URL reaches it',
  argument:
    'there is no such file or folder either; to order audio on this machine, give its path and set upload-command',
};

/** What a text that is no http or https URL was most likely meant to be. */
export function urlHint(text: string, use: UrlUse): string {
  return (
    pastedHint(text) ??
    audioHint(text, use) ??
    hostHint(text, use) ??
    pathHint(text, use) ??
    `write it like ${examples[use]}`
  );
}

/** For text that came out of a document or a chat. */
export function pastedHint(text: string): string | undefined {
  if (/[\u2018-\u201f\u00ab\u00bb]/.test(text)) return 'it contains typographic quotes: type them as " or \'';
  if (/^[\u2010-\u2015\u2212]/.test(text))
    return 'it starts with a dash that is not a hyphen: type the hyphen again';
  if (/^<.*>$/.test(text)) return 'leave out the < and >';
  return undefined;
}

/** What the service can't fetch, or a list in place of audio. */
function audioHint(text: string, use: UrlUse): string | undefined {
  if (/^file:/i.test(text))
    return 'order a file on this machine by its path: steno order <file>   (set upload-command first)';
  if (use !== 'audio' && use !== 'argument') return undefined;
  if (/^s3:\/\//i.test(text))
    return `the service downloads over https; make a link with: aws s3 presign ${shellWord(text)}`;
  if (/^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(text))
    return 'the service downloads over http and https only';
  if (/^https?:\/\/\S*\s/i.test(text)) return 'it contains a space: write %20, and put the URL in quotes';
  if (use !== 'argument') return undefined;
  const [, list, feed] = /\.(?:(csv|tsv|jsonl?|ndjson|txt|xlsx?)|(xml|rss|atom))$/i.exec(text) ?? [];
  if (list) return `there is no such file; give a manifest with --from ${shellWord(text)}`;
  return feed && `there is no such file; give a feed with --feed ${shellWord(text)}`;
}

/** `talk.mp3`, which could be a host too. */
const isAudioName = (text: string): boolean =>
  !text.includes('/') && audioExtensions.some((each) => text.toLowerCase().endsWith(`.${each}`));

/** A host without its scheme. */
function hostHint(text: string, use: UrlUse): string | undefined {
  const isHost = /^(\/\/)?(localhost|\[[\da-f:]+\]|[a-z0-9-]+(\.[a-z0-9-]+)+)(:\d{1,5})?([/?#]\S*)?$/i.test(
    text,
  );
  if (!isHost || isAudioName(text)) return undefined;
  const bare = text.replace(/^\/\//, '');
  const isLocal = /^(localhost|127\.|\[::1\])/i.test(bare) && use !== 'argument' && use !== 'audio';
  const end = use === 'base' && !/\/API\d+$/i.test(bare) ? '/API4' : '';
  return `did you mean ${isLocal ? 'http' : 'https'}://${bare.replace(/\/$/, '')}${end}?`;
}

function pathHint(text: string, use: UrlUse): string | undefined {
  const isDrive = /^[a-z]:[\\/]/i.test(text);
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(text) && !isDrive;
  return !hasScheme && /[./\\]/.test(text) ? localHints[use] : undefined;
}

/** Accepts an absolute http or https URL; `use` chooses the hint for what is not one. */
export function checkUrl(text: string, use: UrlUse = 'audio'): string {
  const plausible = /^https?:\/\/[^/?#\s]/i.test(text) && !/[\s\u0000-\u001f\u007f-\u009f]/.test(text);
  if (plausible && isUrl(text)) {
    if (!hasHidden(text)) return text;
    throw usage(
      `'${shownUrl(text)}' contains an invisible character`,
      'copy the URL again, and nothing around it',
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

/**
 * A text in which the name and the password of every URL are masked: either may be a token. Up to the last @ before the
 * path, as URLs are read; a backslash counts as a slash.
 */
export const maskUserinfo = (text: string): string =>
  text.replace(/\b([a-z][a-z0-9+.-]{0,30}:\/\/[/\\]*)[^\s/?#\\]*@/gi, '$1***@');

/** Whether a title says no more than the URL does: `Monday talk` of `https://host/Monday%20talk.mp3`. */
export function isNameOf(title: string, url: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[\s_-]+/g, ' ');
  const name = plain(readableUrl(url).split('/').at(-1) ?? '');
  return [name, name.replace(/\.\w{1,5}$/, '')].includes(plain(title));
}
