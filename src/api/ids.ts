import { usage } from '../lib/errors.ts';
import { pastedHint } from '../lib/url-hints.ts';

const MAX_ID_LENGTH = 256;

/** Accepts an id of any format that is exactly one segment of a path. */
export function checkId(id: string): string {
  const tooLong = id === '' || id.length > MAX_ID_LENGTH;
  if (tooLong || /[\s/\\?#%,\u0000-\u001f\u007f-\u009f\u2018-\u201f]/.test(id) || /^\.+$/.test(id)) {
    throw usage(`'${id}' is not an id`, idHint(id));
  }
  return id;
}

function idHint(text: string): string | undefined {
  const ids = text.split(/[,\s]+/).filter(Boolean);
  const [first] = ids;
  const plain = (id: string): boolean => /^[^\s/\\?#%,]+$/.test(id);
  if (ids.length > 1 && ids.every(plain)) return `separate several ids with blanks: ${ids.join(' ')}`;
  if (first && ids.length === 1 && first !== text && plain(first)) return `write it alone: ${first}`;
  if (/^#[^\s/\\?#%,]+$/.test(text)) return `leave out the #: ${text.slice(1)}`;
  if (/^https?:\/\//i.test(text)) return 'it is a URL; the ids of your files: steno files';
  return pastedHint(text);
}

export const pathSegment = (id: string): string => encodeURIComponent(checkId(id));
