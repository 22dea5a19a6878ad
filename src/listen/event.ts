/** An event as the listener, its actions and the commands see it. */

import { eventTypes } from '../catalog/events.ts';
import type { EventRow } from '../ledger/events.ts';
import { type AudioDetails, audioTitle, detailsOf } from '../ledger/purchase.ts';
import { usage } from '../lib/errors.ts';
import { type Json, type JsonObject, toJson } from '../lib/json.ts';
import { didYouMean } from '../lib/text.ts';

export class ReceivedEvent {
  /** Its number in the ledger; 0 while it is not there. */
  readonly n: number;
  readonly source: EventRow['source'];
  /** ISO 8601. */
  readonly receivedAt: string;
  readonly remote: string;
  readonly contentType: string;
  /** Without the key and the signatures of links. */
  readonly body: Uint8Array;
  /** With the signatures, where this process still has it. */
  readonly rawBody: Uint8Array;
  readonly event: string;
  readonly version: string;
  readonly audiofile: string;
  readonly order: string;
  /** Of its audio; empty where there is none. */
  readonly key: string;
  /** Of a delivery: the event that was found before it came. Of a found one: the delivery that came later. */
  readonly duplicate: number | null;
  /** The transcript that a command is handed, and its format; empty where there is none. */
  readonly path: string = '';
  readonly format: string = '';
  readonly #row: EventRow;
  #audio: AudioDetails | undefined;
  #fields: Fields | undefined;

  constructor(row: EventRow, rawBody: Uint8Array = row.body) {
    this.n = row.id;
    this.source = row.source;
    this.receivedAt = row.received_at;
    this.remote = row.remote;
    this.contentType = row.content_type;
    this.body = row.body;
    this.rawBody = rawBody;
    this.event = row.event;
    this.version = row.version;
    this.audiofile = row.audiofile;
    this.order = row.order_id;
    this.key = row.key ?? '';
    this.#row = row;
    this.duplicate = row.duplicate;
  }

  /** What the feed or the file of its audio says. */
  get audio(): AudioDetails {
    // Speed: most events of a flood are about files that the ledger does not know.
    this.#audio ??= this.#row.title === null ? {} : detailsOf(this.#row);
    return this.#audio;
  }

  /** Of its file; empty where the ledger knows none. */
  get title(): string {
    return audioTitle(this.#row.title ?? '', this.audio);
  }

  /** Parsed on first use: most events need only what the ledger has in columns. */
  get fields(): Fields {
    this.#fields ??= parseFields(this.body);
    return this.#fields;
  }

  /** How many more fields its body has than are listed. */
  get unlistedFields(): number {
    return countUnlistedFields(this.body);
  }

  /** The first value of a field, or an empty text. */
  field(name: string): string {
    return this.fields.get(name)?.[0] ?? '';
  }

  get json(): JsonObject {
    const { n, source, receivedAt, event, version, audiofile, order, title, key, audio } = this;
    const head = toJson({
      n: n || null,
      source,
      received_at: receivedAt,
      event,
      webhook_version: version || null,
      audiofile: audiofile || null,
      order: order || null,
      title: title || null,
      key: key || null,
      tags: audio.tags ?? [],
      feed: audio.feed || null,
    }) as JsonObject;
    return head.set('fields', this.#fieldsJson()).set('fields_left_out', toJson(this.unlistedFields));
  }

  /** A field that came once is a text, one that came several times a list. */
  #fieldsJson(): JsonObject {
    return new Map(
      [...this.fields].map(([name, values]): [string, Json] => [
        name,
        values.length === 1 ? (values[0] ?? '') : [...values],
      ]),
    );
  }
}

const known = eventTypes.map(({ name }) => name);

/** Event names as the API document spells them; another one is refused unless `isAllowed` says that it may come. */
export function eventNames(given: readonly string[], isAllowed: (name: string) => boolean): string[] {
  return given.map((name) => {
    const listed = known.find((each) => each === name.toUpperCase());
    const near = known.find((each) => each.endsWith(`_${name.toUpperCase()}`));
    if (listed === undefined && !isAllowed(name))
      throw usage(
        `unknown event '${name}'`,
        didYouMean(near ?? name, known, `the events are ${known.join(', ')}`),
      );
    return listed ?? name;
  });
}

/** What the form of a delivery says. */
export interface ParsedForm {
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

/** No name or id is longer; the body is kept whole in any case. */
const MAX_VALUE_LENGTH = 256;
/** More than any event needs: a form of a million fields must not hold up the others. */
const MAX_PARSED_BYTES = 65_536;
const MAX_FILES = 1_000;
/** The fields after these are kept with the body, and neither listed nor acted on. */
const MAX_FIELDS = 1_000;

/** All fields in their order, each with all its values; bytes that are not UTF-8 become U+FFFD. */
export function parseFields(body: Uint8Array): Fields {
  const fields = new Map<string, string[]>();
  const text = toText(body);
  // URLSearchParams drops a question mark at the beginning; after an ampersand it does not.
  for (const [name, value] of new URLSearchParams(`&${text.slice(0, endOfFields(text))}`)) {
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  }
  return fields;
}

/** How many fields are in the body alone, because there are too many to list. */
export function countUnlistedFields(body: Uint8Array): number {
  const text = toText(body);
  let count = 0;
  for (let at = endOfFields(text); at < text.length; count += 1) {
    const next = text.indexOf('&', at + 1);
    at = next < 0 ? text.length : next;
  }
  return count;
}

/** Where the last field ends that is listed. */
function endOfFields(text: string): number {
  let at = -1;
  for (let count = 0; count < MAX_FIELDS; count += 1) {
    at = text.indexOf('&', at + 1);
    if (at < 0) return text.length;
  }
  return at;
}

/** Only what the ledger has a column for, or acts on: of each field the first value. */
export function parseForm(body: Uint8Array): ParsedForm {
  const fields = firstValues(toText(body.subarray(0, MAX_PARSED_BYTES)));
  const first = (name: string): string => clean(decode(fields.get(name) ?? ''));
  const audiofile = first('audiofile');
  const list = fields.get('audiofiles');
  return {
    event: first('event'),
    version: first('webhook_version'),
    audiofile,
    order: first('order'),
    files: list === undefined ? [audiofile] : parseList(audiofile, decode(list)),
    hold: first('hold'),
    original: first('original_audiofile'),
  };
}

/** The first value of each field, still encoded: to decode them all takes a tenth of what an event costs. */
function firstValues(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const field of text.slice(0, endOfFields(text)).split('&')) {
    const equals = field.indexOf('=');
    const name = decode(equals < 0 ? field : field.slice(0, equals));
    if (!values.has(name)) values.set(name, equals < 0 ? '' : field.slice(equals + 1));
  }
  return values;
}

const decode = (text: string): string =>
  /[%+]/.test(text) ? (new URLSearchParams(`=${text}`).get('') ?? '') : text;

const toText = (body: Uint8Array): string =>
  (Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)).toString(
    'utf8',
  );

/** Some databases end a text at a NUL. */
const clean = (text: string): string => {
  const whole = text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
  return whole.trim().slice(0, MAX_VALUE_LENGTH);
};

const parseList = (first: string, list: string): string[] => {
  const ids = [first, ...list.split(',', MAX_FILES)].map(clean);
  return [...new Set(ids)].filter(Boolean);
};
