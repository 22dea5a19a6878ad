import { withoutSignature } from '../../lib/audio-identity.ts';
import { isUrl } from '../../lib/is-url.ts';
import { oneLine } from '../../lib/text.ts';

const MAX_LENGTH = 200;

/** Where a redirect of `url` leads, as it may be shown: without credentials, and of a bounded length. */
export function redirectTarget(location: string, url: string, hide: (text: string) => string): string {
  let target = location;
  if (isUrl(location, url)) {
    const parsed = new URL(location, url);
    parsed.username = '';
    parsed.password = '';
    target = withoutSignature(parsed.href);
  }
  // Masked before it is cut, or the beginning of a key would stay.
  return oneLine(hide(target), MAX_LENGTH);
}
