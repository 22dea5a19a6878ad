/** What people name when they ignore audio, and what of an order is ignored. */
import { statSync } from 'node:fs';
import type { ToIgnore } from '../../ledger/ignored-audio.ts';
import type { Audio } from '../../ledger/purchase.ts';
import { withoutSignature } from '../../lib/audio-identity.ts';
import { usage } from '../../lib/errors.ts';
import { contentKey } from '../../lib/names.ts';
import { checkUrl } from '../../lib/urls.ts';
import { readContent } from '../uploads/content.ts';
import { isLocalPath } from './local-audio.ts';

export const toIgnore = (args: readonly string[], signal: AbortSignal): Promise<ToIgnore[]> =>
  Promise.all(args.map((arg) => toIgnoreOne(arg, signal)));

async function toIgnoreOne(arg: string, signal: AbortSignal): Promise<ToIgnore> {
  const text = arg.trim();
  if (text === '') throw usage('what to ignore is empty');
  if (/^https?:/i.test(text)) return { given: withoutSignature(text), text: checkUrl(text) };
  if (!isLocalPath(arg)) return { given: text, text };
  if (statSync(arg).isDirectory()) throw usage(`${arg} is a folder`, 'ignore its files one by one');
  const content = await readContent(arg, signal);
  if (!content) throw usage(`${arg} is still being written`, 'run this again when it is complete');
  return { given: arg, text: contentKey(content.hash) };
}

/** The texts under which people may have ignored it: its key stands in place of its URL. */
export const ignorableTexts = ({ url, key, details }: Audio): string[] => [
  key ?? url,
  ...(details?.guid ? [details.guid] : []),
];
