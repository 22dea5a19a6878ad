import { usage } from './errors.ts';
import { hasHidden } from './text.ts';

const examples = {
  audio: 'https://host/talk.mp3',
  argument: 'https://host/talk.mp3',
  hook: 'https://host/hook',
  feed: 'https://host/feed.xml',
} as const;

/** For what looks like a path. */
const localHints: Readonly<Partial<Record<keyof typeof examples, string>>> = {
  audio: 'the service fetches audio by itself: put the file where a URL reaches it',
  argument: 'there is no such file or folder either',
};

/** Accepts an absolute http or https URL; `use` chooses the hint for what is not one. */
export function checkUrl(text: string, use: keyof typeof examples = 'audio'): string {
  const plausible = /^https?:\/\/[^/?#\s]/i.test(text) && !/[\s\u0000-\u001f\u007f-\u009f]/.test(text);
  if (plausible && URL.canParse(text)) {
    if (!hasHidden(text)) return text;
    throw usage(
      `'${shownUrl(text)}' holds a character that is not visible`,
      'copy the URL again, without what is around it',
    );
  }
  const looksLocal = !/^[a-z][a-z0-9+.-]*:/i.test(text) && /[./\\]/.test(text);
  const hint = (looksLocal && localHints[use]) || `write it like ${examples[use]}`;
  throw usage(`'${shownUrl(text)}' is not an http or https URL`, hint);
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
