/** Which parameters of a link are a signature, also where the link stands percent-encoded in a text or in another link. */

interface Signature {
  /** A signature is there only if all of these are, each with a value. */
  readonly required: ReadonlyArray<readonly string[]>;
  /** Other links have these names too: they are a signature only where its value is as long as one. */
  readonly isLong?: true;
  /** What is cut with it. */
  readonly parameters: (name: string) => boolean;
}

export const oneOf = (...names: string[]): ((name: string) => boolean) => {
  const set = new Set(names);
  return (name) => set.has(name);
};

const either =
  (...tests: ReadonlyArray<(name: string) => boolean>) =>
  (name: string): boolean =>
    tests.some((test) => test(name));

/** With a signature, how the file is to be sent: its name and type, not its content. */
const isResponseHeader = (name: string): boolean => /^response-(content-|cache-control$|expires$)/.test(name);

const isAzure = oneOf(
  ...['sig', 'sv', 'sr', 'ss', 'srt', 'se', 'si', 'sp', 'st', 'spr', 'sip', 'sdd', 'ses', 'skn'],
  ...['rscc', 'rscd', 'rsce', 'rscl', 'rsct'],
  ...['skoid', 'sktid', 'skt', 'ske', 'sks', 'skv', 'saoid', 'suoid', 'scid', 'sduoid', 'skdutid'],
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
    parameters: either(
      oneOf('awsaccesskeyid', 'expires', 'signature', 'x-amz-security-token'),
      isResponseHeader,
    ),
  },
  // Google Cloud Storage, version 4.
  {
    required: [['x-goog-signature']],
    parameters: (name) => name.startsWith('x-goog-') || isResponseHeader(name),
  },
  // Google Cloud Storage, version 2.
  {
    required: [['googleaccessid'], ['signature']],
    parameters: either(oneOf('googleaccessid', 'expires', 'signature'), isResponseHeader),
  },
  // Google Cloud CDN.
  {
    required: [['expires'], ['keyname'], ['signature']],
    parameters: oneOf('expires', 'keyname', 'signature', 'urlprefix'),
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
    parameters: oneOf('key-pair-id', 'signature', 'expires', 'policy', 'hash-algorithm'),
  },
  // What is left of one of these without its key.
  {
    required: [['signature'], ['expires', 'policy', 'keyname']],
    isLong: true,
    parameters: either(
      oneOf('signature', 'expires', 'policy', 'keyname', 'urlprefix', 'hash-algorithm'),
      isResponseHeader,
    ),
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

const isSignatureValue = oneOf('signature', 'sig');

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

export function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
