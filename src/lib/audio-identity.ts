/**
 * What counts as the same audio. Two URLs lead to the same audio where they differ only in spelling (RFC 3986), in the
 * parameters of a known signature, or in tracking parameters. A signature grants access to the file, so it is a secret:
 * `withoutSignature` and `cutSignatures` take it out of whatever is kept or shown.
 */
import { isUrl } from './is-url.ts';

/** Where two URLs of the same audio differ. */
export type Difference = 'nothing' | 'spelling' | 'signature' | 'tracking parameters';

interface Signature {
  /** A signature is there only if all of these are, each with a value; one alone is an ordinary parameter. */
  readonly required: ReadonlyArray<readonly string[]>;
  /** What is cut with it. */
  readonly parameters: (name: string) => boolean;
}

const oneOf = (...names: string[]): ((name: string) => boolean) => {
  const set = new Set(names);
  return (name) => set.has(name);
};

const either =
  (...tests: ReadonlyArray<(name: string) => boolean>) =>
  (name: string): boolean =>
    tests.some((test) => test(name));

/** With a signature, how the file is to be sent: its name and type, not its content. */
const isResponseHeader = (name: string): boolean => /^response-(content-|cache-control$|expires$)/.test(name);

/** Names are in lower case; where a list has several names, one of them is enough. */
const signatures: readonly Signature[] = [
  // S3, version 4; SDKs add x-id and further x-amz- parameters, all of them signed.
  {
    required: [
      ['x-amz-algorithm'],
      ['x-amz-credential'],
      ['x-amz-date'],
      ['x-amz-expires'],
      ['x-amz-signedheaders'],
      ['x-amz-signature'],
    ],
    parameters: (name) => name.startsWith('x-amz-') || name === 'x-id' || isResponseHeader(name),
  },
  // S3, version 2.
  {
    required: [['awsaccesskeyid'], ['expires'], ['signature']],
    parameters: either(
      oneOf('awsaccesskeyid', 'expires', 'signature', 'x-amz-security-token'),
      isResponseHeader,
    ),
  },
  // Google Cloud Storage, version 4.
  {
    required: [
      ['x-goog-algorithm'],
      ['x-goog-credential'],
      ['x-goog-date'],
      ['x-goog-expires'],
      ['x-goog-signedheaders'],
      ['x-goog-signature'],
    ],
    parameters: (name) => name.startsWith('x-goog-') || isResponseHeader(name),
  },
  // Google Cloud Storage, version 2.
  {
    required: [['googleaccessid'], ['expires'], ['signature']],
    parameters: either(oneOf('googleaccessid', 'expires', 'signature'), isResponseHeader),
  },
  // Google Cloud CDN.
  {
    required: [['expires'], ['keyname'], ['signature']],
    parameters: oneOf('expires', 'keyname', 'signature'),
  },
  // Azure shared access signature: of a service (sr) or an account (ss), with its end (se) or a stored policy (si).
  {
    required: [['sig'], ['sv'], ['sr', 'ss'], ['se', 'si']],
    parameters: oneOf(
      ...['sig', 'sv', 'sr', 'ss', 'srt', 'se', 'si', 'sp', 'st', 'spr', 'sip', 'sdd', 'ses'],
      ...['rscc', 'rscd', 'rsce', 'rscl', 'rsct'],
      ...['skoid', 'sktid', 'skt', 'ske', 'sks', 'skv', 'saoid', 'suoid', 'scid', 'sduoid', 'skdutid'],
    ),
  },
  // CloudFront: a canned policy (Expires) or one of the user's own (Policy).
  {
    required: [['key-pair-id'], ['signature'], ['expires', 'policy']],
    parameters: oneOf('key-pair-id', 'signature', 'expires', 'policy', 'hash-algorithm'),
  },
];

/** Parameters that campaigns add and that change nothing about the file. */
const trackingNames = oneOf(
  ...[
    'gclid',
    'gclsrc',
    'dclid',
    'gbraid',
    'wbraid',
    'gad_source',
    'gad_campaignid',
    'srsltid',
    '_ga',
    '_gl',
  ],
  ...['fbclid', 'igshid', 'igsh', 'msclkid', 'yclid', 'ttclid', 'twclid', 'li_fat_id', 'epik', 'sccid'],
  ...['rdt_cid', 'mc_cid', 'mc_eid', 'mkt_tok', '_hsenc', '_hsmi', '__hstc', '__hssc', '__hsfp'],
  ...['hsctatracking', 'vero_id', 'vero_conv', 'oly_enc_id', 'oly_anon_id', 's_kwcid', 'ef_id', '_openstat'],
  ...['wickedid', '_kx', 'dm_i', '_gac', 'irclickid', 'guccounter'],
);
const isTracking = (name: string): boolean =>
  /^(utm|mtm|matomo|piwik|pk|guce)_/.test(name) || trackingNames(name);

/** The same text for every URL of the same audio. Takes an absolute URL that `new URL` accepts. */
export function audioIdentity(text: string): string {
  const url = new URL(text);
  const parameters = withoutSigned(parametersOf(url.search)).filter(({ name }) => !isTracking(name));
  return normalForm(url, parameters);
}

/** No link in use has a longer query. What may be signed in it goes as a whole: to look at it would take too long. */
const MAX_QUERY_LENGTH = 65_536;
/** Links of one text that are looked at; those after them lose all parameters where they may be signed. */
const MAX_SIGNED_LINKS = 1_000;

/** The URL as it may be kept and shown: as it was written, but without a signature or a password. */
export function withoutSignature(text: string): string {
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
const isSecret = oneOf('x-amz-signature', 'x-amz-security-token', 'x-goog-signature', 'signature', 'sig');
/** A shorter value may be a word, a number or a date. */
const SHORTEST_SIGNATURE = 16;

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

/** A signature has at least three parameters, each with a value. */
function mayBeSigned(text: string, from: number, end: number): boolean {
  let at = from;
  for (let values = 0; values < 3; values += 1) {
    at = text.indexOf('=', at + 1);
    if (at < 0 || at > end) return false;
  }
  return true;
}

/** A text of any origin, with the signatures cut out of every URL in it; `&` may be escaped for HTML or JSON. */
export function cutSignatures(text: string): string {
  // What is a URL as a whole may hold any character; within a text some of them end it.
  if (/^https?:\/\/\S+$/i.test(text)) return withoutSignature(text);
  let signed = 0;
  return text.replace(/\bhttps?:(?:\\?\/){2}(?:[^\s"<>\\]|\\u0026|\\\/)+/gi, (match) => {
    const query = match.indexOf('?');
    const isSigned = query >= 0 && mayBeSigned(match, query, match.length);
    if (!isSigned && !match.includes('@')) return match;
    signed += Number(isSigned);
    const isOneTooMany = isSigned && signed > MAX_SIGNED_LINKS;
    const found = isOneTooMany ? match.slice(0, query) : withoutClosing(match);
    const url = found.replaceAll('\\/', '/').replace(/&amp;|\\u0026/gi, '&');
    const cut = withoutSignature(url);
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

/** Tells, of two URLs of the same audio, where they differ; the most telling difference wins. */
export function differenceOf(one: string, other: string): Difference {
  if (one === other) return 'nothing';
  const [a, b] = [one, other].map((text) => {
    const url = new URL(text);
    const parameters = parametersOf(url.search);
    return {
      whole: normalForm(url, parameters),
      unsigned: normalForm(url, withoutSigned(parameters)),
    };
  }) as [{ whole: string; unsigned: string }, { whole: string; unsigned: string }];
  if (a.whole === b.whole) return 'spelling';
  return a.unsigned === b.unsigned ? 'signature' : 'tracking parameters';
}

interface Parameter {
  /** As it was written. */
  readonly text: string;
  /** Decoded and in lower case: services differ in the case of these names. */
  readonly name: string;
  readonly hasValue: boolean;
}

function parametersOf(search: string): Parameter[] {
  const parameters: Parameter[] = [];
  for (const text of search.replace(/^\?/, '').split('&')) {
    if (text === '') continue;
    const at = text.indexOf('=');
    const name = at < 0 ? text : text.slice(0, at);
    parameters.push({ text, name: decoded(name).toLowerCase(), hasValue: at >= 0 && at < text.length - 1 });
  }
  return parameters;
}

const joined = (parameters: readonly Parameter[]): string => parameters.map(({ text }) => text).join('&');

/** Leaves out the parameters of each signature that is there as a whole. */
function withoutSigned(parameters: readonly Parameter[]): readonly Parameter[] {
  const present = new Set(parameters.filter(({ hasValue }) => hasValue).map(({ name }) => name));
  const found = signatures.filter(({ required }) =>
    required.every((names) => names.some((name) => present.has(name))),
  );
  if (found.length === 0) return parameters;
  return parameters.filter(({ name }) => !found.some((signature) => signature.parameters(name)));
}

/** The normal form of RFC 3986 without fragment and password; `URL` has done host, port and dot segments. */
function normalForm(url: URL, parameters: readonly Parameter[]): string {
  const host = url.hostname.replace(/(?<=[^.])\.+$/, '');
  const port = url.port ? `:${url.port}` : '';
  const user = url.username ? `${normalEscapes(url.username)}@` : '';
  const query = parameters.length ? `?${normalEscapes(joined(parameters))}` : '';
  return `${url.protocol}//${user}${host}${port}${normalEscapes(url.pathname)}${query}`;
}

/**
 * Unreserved characters stand as they are, others keep their escape in capitals, and what RFC 3986 allows nowhere is
 * escaped. `URL` has escaped what is not ASCII.
 */
const normalEscapes = (text: string): string =>
  text.replace(/%([0-9a-f]{2})|["<>[\\\]^`{|}%]/gi, (found, digits?: string) => {
    if (digits === undefined) return `%${found.charCodeAt(0).toString(16).toUpperCase()}`;
    const character = String.fromCharCode(Number.parseInt(digits, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : found.toUpperCase();
  });

const withoutPassword = (text: string): string =>
  text.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@:]*):[^/?#@]*@/i, '$1@');

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
