import { usage } from '../lib/errors.ts';

const MAX_ID_LENGTH = 256;

/** Accepts an id of any format that is exactly one segment of a path. */
export function checkId(id: string): string {
  const tooLong = id === '' || id.length > MAX_ID_LENGTH;
  if (tooLong || /[\s/\\?#%,\u0000-\u001f\u007f-\u009f]/.test(id) || /^\.+$/.test(id)) {
    const hint = /^[^\s/\\?#%]+(,[^\s/\\?#%]+)+$/.test(id) ? 'separate several ids with blanks' : undefined;
    throw usage(`'${id}' is not an id`, hint);
  }
  return id;
}

export const pathSegment = (id: string): string => encodeURIComponent(checkId(id));
