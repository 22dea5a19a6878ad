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
  for (const [name, value] of new URLSearchParams(textOf(body))) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

/** What the ledger wants to know at once; all fields are read when somebody looks. */
export function parseForm(body: Uint8Array): Parsed {
  const fields = new URLSearchParams(textOf(body.length > HEAD ? body.subarray(0, HEAD) : body));
  const first = (name: string): string => (fields.get(name) ?? '').trim().slice(0, LONGEST);
  const audiofile = first('audiofile');
  const lists = fields.getAll('audiofiles');
  return {
    event: first('event'),
    version: first('webhook_version'),
    audiofile,
    order: first('order'),
    files: lists.length ? listOf([audiofile, ...lists]) : [audiofile],
    hold: first('hold'),
    original: first('original_audiofile'),
  };
}

const textOf = (body: Uint8Array): string =>
  Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');

const listOf = (lists: readonly string[]): string[] => {
  const ids = lists.flatMap((list) => list.split(',')).slice(0, MOST_FILES);
  return [...new Set(ids.map((id) => id.trim().slice(0, LONGEST)))].filter(Boolean);
};
