/** A delivery's form: what it says, whatever else it holds. */

export interface Parsed {
  readonly event: string;
  readonly version: string;
  readonly audiofile: string;
  readonly order: string;
  /** Every file that it is about. */
  readonly files: readonly string[];
  readonly hold: string;
  readonly original: string;
}

export type Fields = ReadonlyMap<string, readonly string[]>;

/** A longer name or id is none that could be looked up; the body keeps it whole. */
const LONGEST = 256;
/** More than any event needs; a form of a million fields must not hold up the others. */
const HEAD = 65_536;
const MOST_FILES = 1_000;

/** All fields in their order, each with all its values; bytes that are no UTF-8 are marked as such. */
export function fieldsOf(body: Uint8Array): Fields {
  const fields = new Map<string, string[]>();
  // The sign in front keeps a question mark at the beginning from being taken for a URL's.
  for (const [name, value] of new URLSearchParams(`&${textOf(body)}`)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

/** What the ledger wants to know at once, and no more: a flood of events goes through here. */
export function parseForm(body: Uint8Array): Parsed {
  const text = textOf(body.length > HEAD ? body.subarray(0, HEAD) : body);
  let event: string | undefined;
  let version: string | undefined;
  let audiofile: string | undefined;
  let order: string | undefined;
  let hold: string | undefined;
  let original: string | undefined;
  let list: string | undefined;
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf('&', at);
    const end = next < 0 ? text.length : next;
    const equals = text.indexOf('=', at);
    const middle = equals < 0 || equals > end ? end : equals;
    const value = text.slice(middle + 1, end);
    // Of a field that came several times the first value counts.
    switch (decoded(text.slice(at, middle))) {
      case 'event':
        event ??= value;
        break;
      case 'webhook_version':
        version ??= value;
        break;
      case 'audiofile':
        audiofile ??= value;
        break;
      case 'order':
        order ??= value;
        break;
      case 'hold':
        hold ??= value;
        break;
      case 'original_audiofile':
        original ??= value;
        break;
      case 'audiofiles':
        list ??= value;
        break;
      default:
    }
    at = end + 1;
  }
  const file = textIn(audiofile);
  return {
    event: textIn(event),
    version: textIn(version),
    audiofile: file,
    order: textIn(order),
    files: list === undefined ? [file] : listOf(file, decoded(list)),
    hold: textIn(hold),
    original: textIn(original),
  };
}

const textIn = (text: string | undefined): string =>
  text === undefined || isSimple.test(text) ? (text ?? '') : plain(decoded(text));

/** Nothing to decode, to trim or to cut. */
const isSimple = /^[!-$&-*,-~]{0,256}$/;

const decoded = (text: string): string =>
  /[%+]/.test(text) ? (new URLSearchParams(`=${text}`).get('') ?? '') : text;

const textOf = (body: Uint8Array): string =>
  (Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)).toString(
    'utf8',
  );

/** Some databases end a text at a NUL. */
const plain = (text: string): string => {
  const whole = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
  return whole.trim().slice(0, LONGEST);
};

const listOf = (first: string, list: string): string[] => {
  const ids = [first, ...list.split(',', MOST_FILES)].map(plain);
  return [...new Set(ids)].filter(Boolean);
};
