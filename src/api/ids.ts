import { usage } from '../lib/errors.ts';
import { pastedHint } from '../lib/url-hints.ts';

/**
 * An id of the service may be any text. Refused are ids that a decoding proxy would resolve to another path, and ids that
 * no request can carry.
 */
export function checkId(id: string): string {
  if (id.trim() === '') throw usage(`'${id}' is not an id`, 'the ids of your files: steno files');
  if (/[\u0000-\u001f\u007f-\u009f]/.test(id))
    throw usage(`'${id}' is not an id`, 'it has a control character in it');
  if (id.split(/[/\\]/).some((segment) => segment === '.' || segment === '..'))
    throw usage(`'${id}' is not an id`, "it has a '.' or '..' between slashes");
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(id))
    throw usage(`'${id}' is not an id`, 'it contains an incomplete Unicode character');
  return id;
}

/** What a text was most likely meant to be that the service does not know as an id. */
export function idHint(text: string): string | undefined {
  const ids = text.split(/[,\s]+/).filter(Boolean);
  const [first] = ids;
  const plain = (id: string): boolean => /^[^\s/\\?#%,]+$/.test(id);
  if (ids.length > 1 && ids.every(plain)) return `separate several ids with blanks: ${ids.join(' ')}`;
  if (first && ids.length === 1 && first !== text && plain(first)) return `write it alone: ${first}`;
  if (/^#[^\s/\\?#%,]+$/.test(text)) return `leave out the #: ${text.slice(1)}`;
  if (/^https?:\/\//i.test(text)) return 'it is a URL; the ids of your files: steno files';
  return pastedHint(text);
}

/** As one segment of a path. */
export const pathSegment = (id: string): string => encodeURIComponent(checkId(id));
