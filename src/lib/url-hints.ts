/** What a text that is no http or https URL was most likely meant to be. */
import { audioExtensions } from './audio-extensions.ts';
import { shellWord } from './shell-word.ts';

export type UrlUse = 'audio' | 'argument' | 'hook' | 'feed' | 'base';

const examples: Readonly<Record<UrlUse, string>> = {
  audio: 'https://host/talk.mp3',
  argument: 'https://host/talk.mp3',
  hook: 'https://host/hook',
  feed: 'https://host/feed.xml',
  base: 'https://host/API4',
};

/** For what looks like a path. */
const localHints: Readonly<Partial<Record<UrlUse, string>>> = {
  audio: 'the service fetches audio by itself: put the file where a URL reaches it',
  argument:
    'there is no such file or folder either; audio of this machine is ordered by its path, and needs the setting upload-command',
};

export function urlHint(text: string, use: UrlUse): string {
  return (
    pastedHint(text) ??
    schemeHint(text) ??
    audioHint(text, use) ??
    listHint(text, use) ??
    hostHint(text, use) ??
    pathHint(text, use) ??
    `write it like ${examples[use]}`
  );
}

/** For text that came out of a document or a chat. */
export function pastedHint(text: string): string | undefined {
  if (/[\u2018-\u201f\u00ab\u00bb]/.test(text))
    return 'it holds quotes as documents make them: type them as " or \'';
  if (/^[\u2010-\u2015\u2212]/.test(text)) return 'it begins with a dash that is not a hyphen: type it again';
  if (/^<.*>$/.test(text)) return 'leave out the < and >';
  return undefined;
}

/** A scheme that is mistyped, or another one. */
function schemeHint(text: string): string | undefined {
  const mistyped =
    /^(?!https?:\/\/)(?:h+t+p+(s?)|hpps?|htps?|htt(s)|ttps?)(?::?[/\\]{1,3}|:)([\w[].*)$/i.exec(text);
  if (mistyped) {
    const scheme = /^[^:/\\]*s/i.test(text) ? 'https' : 'http';
    return `did you mean ${scheme}://${mistyped[3]?.replaceAll('\\', '/')}?`;
  }
  if (/^file:/i.test(text)) return fileHint(text);
  return undefined;
}

/** What the service can't fetch. */
function audioHint(text: string, use: UrlUse): string | undefined {
  if (use !== 'audio' && use !== 'argument') return undefined;
  if (/^s3:\/\//i.test(text))
    return `the service fetches over https: aws s3 presign ${shellWord(text)} makes such a link`;
  if (/^gs:\/\//i.test(text))
    return `the service fetches over https: gcloud storage sign-url ${shellWord(text)} makes such a link`;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text) && !/^https?:/i.test(text))
    return 'the service fetches over http and https only';
  if (/^https?:\/\/\S*\s/i.test(text)) return 'it has a blank in it: write %20, and put the URL in quotes';
  return undefined;
}

function fileHint(text: string): string {
  const path = text.replace(/^file:(\/\/)?(localhost)?/i, '').replace(/^\/([a-z]:)/i, '$1');
  return `a file of this machine is ordered by its path: steno order ${path ? shellWord(path) : '<file>'}   (it needs the setting upload-command)`;
}

/** A manifest or a feed in place of audio. */
function listHint(text: string, use: UrlUse): string | undefined {
  if (use !== 'argument') return undefined;
  if (/\.(csv|tsv|jsonl?|ndjson|txt|xlsx?)$/i.test(text))
    return `there is no such file; a manifest is given with --from ${shellWord(text)}`;
  if (/\.(xml|rss|atom)$/i.test(text))
    return `there is no such file; a feed is given with --feed ${shellWord(text)}`;
  return undefined;
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
  return `did you mean ${isLocal ? 'http' : 'https'}://${bare}?`;
}

function pathHint(text: string, use: UrlUse): string | undefined {
  const isDrive = /^[a-z]:[\\/]/i.test(text);
  const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(text) && !isDrive;
  return !hasScheme && /[./\\]/.test(text) ? localHints[use] : undefined;
}
