/** An event as the listener, its actions and the commands see it. */

import type { EventRow } from '../ledger/events.ts';
import type { MissedFile } from '../ledger/expected-events.ts';
import { type AudioDetails, audioTitle, parseDetails } from '../ledger/purchase.ts';
import { type Json, type JsonObject, toJson } from '../lib/json.ts';
import { countUnlistedFields, type Fields, parseFields } from './parse.ts';

/** The form that the service would have sent of a file that is delivered. */
export const completeForm = ({ id, order_id: order, url }: MissedFile): Buffer =>
  Buffer.from(
    new URLSearchParams({
      ...{ event: 'TRANSCRIPT_COMPLETE', audiofile: id, order, originallink: url },
    }).toString(),
  );

export class ReceivedEvent {
  /** Its number in the ledger; 0 while it is not there. */
  readonly n: number;
  /** The session that has to show it. */
  readonly run: number;
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
  /** Of its file; empty where the ledger knows none. */
  readonly title: string;
  /** Of its audio; empty where there is none. */
  readonly key: string;
  /** What the feed or the file of its audio says. */
  readonly audio: AudioDetails;
  /** Of a delivery: the event that was found before it came. Of a found one: the delivery that came later. */
  readonly twin: number | null;
  /** The transcript that a command is handed, and its format; empty where there is none. */
  readonly path: string = '';
  readonly format: string = '';
  #fields: Fields | undefined;
  #unlistedFields: number | undefined;

  constructor(row: EventRow, rawBody: Uint8Array = row.body) {
    this.n = row.id;
    this.run = row.run;
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
    this.audio = parseDetails(row.details);
    this.title = audioTitle(row.title ?? '', this.audio);
    this.twin = row.twin;
  }

  /** Parsed on first use: most events need only what the ledger has in columns. */
  get fields(): Fields {
    this.#fields ??= parseFields(this.body);
    return this.#fields;
  }

  /** How many more fields its body has than are listed. */
  get unlistedFields(): number {
    this.#unlistedFields ??= countUnlistedFields(this.body);
    return this.#unlistedFields;
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
