/**
 * Which parameters of a link are a signature, also where the link stands percent-encoded in a text or in another link. A
 * signature grants access to the file, so it is a secret: it is cut out of whatever is kept or shown.
 */
import { isObject, type Json } from './json.ts';
import { decoded, isUrl, maskUserinfo } from './url.ts';

interface Signature {
  /** A signature is there only if all of these are, each with a value. */
  readonly required: ReadonlyArray<readonly string[]>;
  /** Other links have these names too: they are a signature only where its value is as long as one. */
  readonly isLong?: true;
  /** What is cut with it. */
  readonly parameters: (name: string) => boolean;
}

/** `names`: separated by blanks. */
export const oneOf = (names: string): ((name: string) => boolean) => {
  const set = new Set(names.split(' '));
  return (name) => set.has(name);
};

const either =
  (...tests: ReadonlyArray<(name: string) => boolean>) =>
  (name: string): boolean =>
    tests.some((test) => test(name));

/** With a signature, how the file is to be sent: its name and type, not its content. */
const isResponseHeader = (name: string): boolean => /^response-(content-|cache-control$|expires$)/.test(name);

const isAzure = oneOf(
  'sig sv sr ss srt se si sp st spr sip sdd ses skn rscc rscd rsce rscl rsct skoid sktid skt ske sks skv saoid suoid ' +
    'scid sduoid skdutid',
);

/** Names are in lower case; where a list has several names, one of them is enough. */
const signatures: readonly Signature[] = [
  // S3, version 4; SDKs add x-id and further x-amz- parameters, all of them signed.
  {
    required: [['x-amz-signature']],
    parameters: (name) => name.startsWith('x-amz-') || name === 'x-id' || isResponseHeader(name),
  },
  // S3, version 2.
  {
    required: [['awsaccesskeyid'], ['signature']],
    parameters: either(oneOf('awsaccesskeyid expires signature x-amz-security-token'), isResponseHeader),
  },
  // Google Cloud Storage, version 4.
  {
    required: [['x-goog-signature']],
    parameters: (name) => name.startsWith('x-goog-') || isResponseHeader(name),
  },
  // Google Cloud Storage, version 2.
  {
    required: [['googleaccessid'], ['signature']],
    parameters: either(oneOf('googleaccessid expires signature'), isResponseHeader),
  },
  // Google Cloud CDN.
  {
    required: [['expires'], ['keyname'], ['signature']],
    parameters: oneOf('expires keyname signature urlprefix'),
  },
  // Google Media CDN: all in one parameter.
  { required: [['edge-cache-token']], parameters: oneOf('edge-cache-token') },
  // Azure shared access signature: of a service (sr) or an account (ss), with its end (se) or a stored policy (si); of a
  // workflow (sp alone).
  { required: [['sig'], ['sv'], ['sr', 'ss', 'se', 'si', 'sp']], parameters: isAzure },
  // Azure before versions (sv), and its messaging (skn).
  { required: [['sig'], ['se', 'si'], ['sr', 'ss', 'sp', 'skn']], isLong: true, parameters: isAzure },
  // CloudFront: a canned policy (Expires) or one of the user's own (Policy).
  {
    required: [['key-pair-id'], ['signature']],
    parameters: oneOf('key-pair-id signature expires policy hash-algorithm'),
  },
  // What is left of one of these without its key.
  {
    required: [['signature'], ['expires', 'policy', 'keyname']],
    isLong: true,
    parameters: either(oneOf('signature expires policy keyname urlprefix hash-algorithm'), isResponseHeader),
  },
];

/** A shorter value may be a word, a number or a date. */
export const SHORTEST_SIGNATURE = 16;

/** No link in use has a longer query. What may be signed in it goes as a whole: to look at it would take too long. */
export const MAX_QUERY_LENGTH = 65_536;

/** Names of which every signature has one; a letter of a name may be encoded. */
const signatureName = /sig|edge-cache-token|%[4-7]/i;

/** Three parameters with a value, or a name as a signature has one: told without a look at each parameter. */
export function mayBeSigned(text: string, from: number, end: number): boolean {
  let at = from;
  for (let values = 0; values < 3; values += 1) {
    at = text.indexOf('=', at + 1);
    if (at < 0 || at > end) return values > 0 && signatureName.test(text.slice(from, end));
  }
  return true;
}

export interface Parameter {
  /** As it was written. */
  readonly text: string;
  /** What stands before it, unless it is the first. */
  readonly separator: string;
  /** Decoded and in lower case: services differ in the case of these names. */
  readonly name: string;
  readonly hasValue: boolean;
  readonly isLong: boolean;
}

export function parametersOf(search: string): Parameter[] {
  const parameters: Parameter[] = [];
  for (const text of search.replace(/^\?/, '').split('&')) {
    if (text === '') continue;
    // The value may be a link that is not encoded, with its own first parameter.
    const inner = /^[^=]*=https?:\/\/[^?]*(?=\?)/i.exec(text)?.[0];
    parameters.push(parameterOf(inner ?? text, '&'));
    if (inner !== undefined) parameters.push(parameterOf(text.slice(inner.length + 1), '?'));
  }
  return parameters;
}

function parameterOf(text: string, separator: string): Parameter {
  const at = text.indexOf('=');
  const length = at < 0 ? 0 : text.length - at - 1;
  const name = decoded(at < 0 ? text : text.slice(0, at)).toLowerCase();
  return { text, separator, name, hasValue: length > 0, isLong: length >= SHORTEST_SIGNATURE };
}

export const joined = (parameters: readonly Parameter[]): string =>
  parameters.map(({ text, separator }, at) => (at === 0 ? text : separator + text)).join('');

const isSignatureValue = oneOf('signature sig');

/** Leaves out the parameters of each signature that is there. */
export function withoutSigned(parameters: readonly Parameter[]): readonly Parameter[] {
  const present = new Set(parameters.filter(({ hasValue }) => hasValue).map(({ name }) => name));
  const hasLong = parameters.some(({ name, isLong }) => isLong && isSignatureValue(name));
  const found = signatures.filter(
    ({ required, isLong }) =>
      (hasLong || !isLong) && required.every((names) => names.some((name) => present.has(name))),
  );
  if (found.length === 0) return parameters;
  return parameters.filter(({ name }) => !found.some((signature) => signature.parameters(name)));
}

/** How often a link may be encoded: in a text, in a link, in a link of a link. */
const encodings = ['%', '%25', '%2525'].map((percent, times) => ({
  times,
  // Up to what ends a link: a character that is not encoded, or an encoded blank, quote, bracket or fragment.
  query: new RegExp(
    `${percent}3f((?:(?!${percent}(?:0[9ad]|2[023]|3[ce]))[^\\s"<>\\\\&#+,;|)\\]}\`])*)`,
    'gi',
  ),
  separator: new RegExp(`(${percent}(?:26(?:amp${percent}3b)?|3f))`, 'i'),
  equals: new RegExp(`${percent}3d`, 'gi'),
}));

/** A text with the signatures cut out of every query in it that is percent-encoded. */
export function cutEncodedSignatures(text: string): string {
  if (!/%(?:25){0,2}3f/i.test(text)) return text;
  return encodings.reduce(
    (rest, encoding) =>
      rest.replace(encoding.query, (whole: string, query: string) => {
        if (!signatureName.test(query)) return whole;
        if (query.length > MAX_QUERY_LENGTH) return '';
        const parameters = encodedParameters(query, encoding);
        const kept = withoutSigned(parameters);
        if (kept.length === parameters.length) return whole;
        return kept.length ? whole.slice(0, whole.length - query.length) + joined(kept) : '';
      }),
    text,
  );
}

function encodedParameters(
  query: string,
  { separator, equals, times }: (typeof encodings)[number],
): Parameter[] {
  // A separator stands before each but the first.
  const parts = ['', ...query.split(separator)];
  const parameters: Parameter[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const text = parts[at + 1] ?? '';
    let plain = text.replace(equals, '=');
    // Once more than the link around it: the link itself may have a letter of a name encoded.
    for (let layer = 0; layer <= times; layer += 1) plain = plain.replaceAll('%25', '%');
    parameters.push({ ...parameterOf(plain, parts[at] ?? ''), text });
  }
  return parameters;
}

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
  // Before the URL is parsed: a delivery may hold a hundred thousand of them.
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
  'x-amz-signature x-amz-security-token x-goog-signature edge-cache-token signature sig',
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

/** A link without any of these has nothing that could be cut. */
const mayHoldSignature = /[?@]|%3f|%40/i;

/** How a link begins in a field, whichever of its characters are encoded. Repeats nothing, so that it never goes back. */
const link =
  /(?:h|%[46]8)(?:t|%[57]4){2}(?:p|%[57]0)(?:s|%[57]3)?(?::|%3a)(?:\\|%5c)?(?:\/|%2f)(?:\\|%5c)?(?:\/|%2f)/gi;

/**
 * Cuts signatures out of a form, as an event's body is one; everything else stays as it is, to the byte. Gives the same
 * body back where there is nothing to cut: thousands of events a second go through here.
 */
export function cutFormSignatures<Body extends Uint8Array>(body: Body): Body | Buffer {
  // One character a byte, so that bytes that are no UTF-8 stay what they are.
  const text = bufferOf(body).toString('latin1');
  if (!mayHoldSignature.test(text)) return body;
  // A sender may have forgotten to encode the link: its parameters are then fields of the form.
  const cut = cutFields(cutSignatures(text));
  return cut === text ? body : Buffer.from(cut, 'latin1');
}

/** Looks only at fields that hold a link: a delivery may have half a million of others. */
function cutFields(text: string): string {
  let cut = '';
  let from = 0;
  link.lastIndex = 0;
  for (let match = link.exec(text); match; match = link.exec(text)) {
    // Not before `from`: there another field ends.
    const start = Math.max(from, text.lastIndexOf('&', match.index) + 1);
    const next = text.indexOf('&', match.index);
    const end = next < 0 ? text.length : next;
    cut += text.slice(from, start) + cutField(text.slice(start, end));
    from = end;
    link.lastIndex = end;
  }
  return from === 0 ? text : cut + text.slice(from);
}

function cutField(field: string): string {
  // What is not encoded was cut with the whole text.
  if (!/@|%40|%26|%3d|sig/i.test(field)) return field;
  const at = field.indexOf('=') + 1;
  const value = decodedField(field.slice(at));
  const cut = cutSignatures(value);
  return cut === value ? field : field.slice(0, at) + new URLSearchParams([['', cut]]).toString().slice(1);
}

/** `text` has one character a byte; what it encodes is UTF-8. */
const decodedField = (text: string): string =>
  new URLSearchParams(`=${Buffer.from(text, 'latin1').toString('utf8')}`).get('') ?? '';

const bufferOf = (body: Uint8Array): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength);

/** A document with the signatures cut out of every text in it. */
export function cutJsonSignatures(json: Json): Json {
  if (typeof json === 'string') return cutSignatures(json);
  if (Array.isArray(json)) return json.map(cutJsonSignatures);
  if (isObject(json)) return new Map([...json].map(([key, value]) => [key, cutJsonSignatures(value)]));
  return json;
}

/** A webhook as it may be kept or shown: without the name, the password and the signature of its URL. */
export const shownWebhook = (url: string): string => cutSignatures(maskUserinfo(url));
