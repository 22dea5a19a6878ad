/**
 * A signature in a link grants access to the file, so it is a secret: it is cut out of whatever is kept or shown. Which
 * links lead to the same audio: names.ts.
 */
import { isUrl } from './is-url.ts';
import {
  cutEncodedSignatures,
  decoded,
  joined,
  MAX_QUERY_LENGTH,
  mayBeSigned,
  oneOf,
  parametersOf,
  SHORTEST_SIGNATURE,
  withoutSigned,
} from './signatures.ts';

/** Links of one text that are looked at; those after them lose all parameters where they may be signed. */
const MAX_SIGNED_LINKS = 1_000;

/** The URL as it may be kept and shown: as it was written, but without a signature or a password. */
export function withoutSignature(text: string): string {
  const cut = withoutOwnSignature(text);
  const whole = cutEncodedSignatures(cut);
  return whole === cut || !isUrl(cut) ? cut : whole;
}

function withoutOwnSignature(text: string): string {
  const mark = text.indexOf('?');
  const hash = text.indexOf('#');
  const end = hash < 0 ? text.length : hash;
  const query = mark < 0 || mark > end ? end : mark;
  // Before the URL is parsed: a stranger may send a hundred thousand of them.
  const isSigned = mayBeSigned(text, query, end);
  const isTooLong = end - query > MAX_QUERY_LENGTH;
  const parameters = isSigned && !isTooLong ? parametersOf(text.slice(query, end)) : [];
  const kept = withoutSigned(parameters);
  const isWhole = kept.length === parameters.length && !(isSigned && isTooLong);
  if ((isWhole && !text.includes('@')) || !isUrl(text)) return text;
  const open = withoutPassword(text.slice(0, query));
  if (isWhole) return open + text.slice(query);
  return `${open}${kept.length ? `?${joined(kept)}` : ''}${text.slice(end)}`;
}

/** Parameters whose value is a secret, also where the rest of the signature is missing. */
const isSecret = oneOf(
  ...['x-amz-signature', 'x-amz-security-token', 'x-goog-signature', 'edge-cache-token', 'signature', 'sig'],
);

/** The secret values in a URL: as they are written, decoded, and encoded up to twice. */
export function signatureValues(url: string): string[] {
  const query = /\?([^#]*)/.exec(url)?.[1] ?? '';
  const values = parametersOf(query.slice(0, MAX_QUERY_LENGTH))
    .filter(({ name, text }) => isSecret(name) && text.includes('='))
    .map(({ text }) => text.slice(text.indexOf('=') + 1));
  const forms = values.flatMap((value) => {
    const encoded = encodeURIComponent(decoded(value));
    return [value, decoded(value), encoded, encodeURIComponent(value), encodeURIComponent(encoded)];
  });
  return [...new Set(forms)]
    .filter((value) => value.length >= SHORTEST_SIGNATURE)
    .sort((a, b) => b.length - a.length);
}

/** A text without these values; one that is cut off at a `…` counts too. */
export function cutValues(text: string, values: readonly string[]): string {
  return values.reduce((rest, value) => {
    const whole = rest.replaceAll(value, '…');
    const end = whole.lastIndexOf('…');
    for (let length = Math.min(value.length, end); length >= SHORTEST_SIGNATURE / 2; length -= 1)
      if (whole.startsWith(value.slice(0, length), end - length))
        return whole.slice(0, end - length) + whole.slice(end);
    return whole;
  }, text);
}

/** A text of any origin, with the signatures cut out of every URL in it; it may be escaped for HTML, JSON or a shell. */
export function cutSignatures(text: string): string {
  // What is a URL as a whole may hold any character; within a text some of them end it.
  if (/^https?:\/\/\S+$/i.test(text)) return withoutSignature(text);
  return cutEncodedSignatures(cutPlainSignatures(text));
}

function cutPlainSignatures(text: string): string {
  let signed = 0;
  return text.replace(/\bhttps?:(?:\\?\/){2}(?:[^\s"<>\\]|\\u0026|\\[/?&=])+/gi, (match) => {
    const query = match.indexOf('?');
    const isSigned = query >= 0 && mayBeSigned(match, query, match.length);
    if (!isSigned && !match.includes('@')) return match;
    signed += Number(isSigned);
    const isOneTooMany = isSigned && signed > MAX_SIGNED_LINKS;
    const found = isOneTooMany ? match.slice(0, query) : withoutClosing(match);
    const url = found.replace(/\\(?=[/?&=])/g, '').replace(/&amp;|\\u0026/gi, '&');
    const cut = withoutOwnSignature(url);
    if (isOneTooMany) return cut;
    return cut === url ? match : cut + match.slice(found.length);
  });
}

/** Without the quotes and brackets that close what a URL stands in. */
function withoutClosing(text: string): string {
  let end = text.length;
  while (end > 0 && "'`)}]|^".includes(text[end - 1] as string)) end -= 1;
  return text.slice(0, end);
}

const withoutPassword = (text: string): string =>
  text.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@:]*):[^/?#@]*@/i, '$1@');
