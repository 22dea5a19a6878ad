import { usage } from '../lib/errors.ts';

/** Takes an id of any format that can be one step of a path and nothing more. */
export function checkId(id: string): string {
  if (id === '' || id.length > 256 || /[\s/\\?#%,\u0000-\u001f\u007f-\u009f]/.test(id) || /^\.+$/.test(id)) {
    const hint = /^[^\s/\\?#%]+(,[^\s/\\?#%]+)+$/.test(id) ? 'separate several ids with blanks' : undefined;
    throw usage(`'${id}' is not an id`, hint);
  }
  return id;
}

export const step = (id: string): string => encodeURIComponent(checkId(id));
