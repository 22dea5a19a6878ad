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
  for (const [name, value] of new URLSearchParams(Buffer.from(body).toString('utf8'))) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

export function parseForm(body: Uint8Array): Parsed {
  const fields = fieldsOf(body.subarray(0, HEAD));
  const first = (name: string): string => (fields.get(name)?.[0] ?? '').trim().slice(0, LONGEST);
  const audiofile = first('audiofile');
  const listed = (fields.get('audiofiles') ?? []).flatMap((list) => list.split(','));
  const files = [audiofile, ...listed.slice(0, MOST_FILES)].map((id) => id.trim().slice(0, LONGEST));
  return {
    event: first('event'),
    version: first('webhook_version'),
    audiofile,
    order: first('order'),
    files: [...new Set(files)].filter(Boolean),
    hold: first('hold'),
    original: first('original_audiofile'),
  };
}
