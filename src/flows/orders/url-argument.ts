/** The URLs of a command line: what a shell or a person makes of them by mistake is refused before it is bought. */
import { findOrderSku, findUpgradeSku } from '../../catalog/skus.ts';
import { usage } from '../../lib/errors.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { checkUrl } from '../../lib/urls.ts';

const QUOTE = 'put the URL in quotes, because the shell ends a line at &';

export function checkUrlArgument(text: string, skus: readonly string[]): string {
  if (findOrderSku(text) || findUpgradeSku(text))
    throw usage(
      `'${text}' is a SKU, not a URL`,
      `write several with commas and no blanks: --sku ${[...new Set([...skus, text])].join(',')}`,
    );
  // What is not UTF-8 in an argument is this character when it comes to us.
  if (text.includes('\ufffd') && !/^https?:/i.test(text))
    throw usage(`the name '${text}' is not UTF-8`, 'rename the file or folder');
  if (/^https?:.*,\s*https?:\/\//i.test(text))
    throw usage(`several URLs are joined by a comma: ${text}`, 'separate them with blanks');
  if (/^https?:\/\/.*,$/i.test(text))
    throw usage(`'${text}' ends in a comma`, 'separate URLs with blanks, without commas');
  const url = checkUrl(text, 'argument');
  checkIsNoList(url);
  checkSignature(url);
  return url;
}

/** Why an order may have no --sku. */
export const skuHint = (args: readonly string[]): string =>
  args.some((arg) => arg.includes('?'))
    ? `choose from: steno skus; if there was more of the line, ${QUOTE}`
    : 'choose from: steno skus';

/** A feed or a manifest that would be bought as if it were audio. */
function checkIsNoList(url: string): void {
  const { pathname } = new URL(url);
  if (/\.(xml|rss|atom)$/i.test(pathname))
    throw usage(
      `${url} is a feed, not audio`,
      `order its episodes: steno order --feed ${shellWord(url)} --latest 1`,
    );
  if (/\.(csv|tsv|jsonl|ndjson)$/i.test(pathname))
    throw usage(
      `${url} is a list, not audio`,
      `fetch it, and order from it: curl -fsS ${shellWord(url)} | steno order --from - --sku TRANS14`,
    );
}

/** A signed link whose query the shell has cut at an &. */
function checkSignature(url: string): void {
  const names = [...new URL(url).searchParams.keys()].map((name) => name.toLowerCase());
  for (const prefix of ['x-amz-', 'x-goog-']) {
    const isSigned = names.includes(`${prefix}algorithm`);
    if (isSigned && !names.includes(`${prefix}signature`))
      throw usage(`the link is cut: it has parameters of a signature, but no signature`, QUOTE);
  }
}
