/** What the ledger and people are told of a command or an address: without secrets, and still telling two apart. */
import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { cutSignatures } from '../../lib/audio-identity.ts';
import { maskUserinfo } from '../../lib/userinfo.ts';

const MARK_BYTES = 6;

/**
 * A text without secrets is its own name. Otherwise a mark is added, by which a later listener that was started with the
 * very same text finds what is left to do. It is derived slowly, so that no password can be found by trying.
 */
export async function targetName(
  text: string,
  hide: (text: string) => string,
  salt: string,
): Promise<string> {
  const unmarked = cutSignatures(maskUserinfo(hide(text)));
  if (unmarked === text) return text;
  const mark = (await promisify(scrypt)(text, salt, MARK_BYTES)) as Buffer;
  return `${unmarked} #${mark.toString('hex')}`;
}
