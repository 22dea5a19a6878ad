/** An event as the listener, its actions and its readers see it. */
import { type Json, type JsonObject, toJson } from '../json.ts';
import type { EventRow, Source } from '../ledger/events.ts';
import { type Fields, fieldsOf } from './parse.ts';

export class HeardEvent {
  readonly n: number;
  readonly source: Source;
  readonly receivedAt: string;
  readonly remote: string;
  readonly contentType: string;
  readonly body: Uint8Array;
  readonly event: string;
  readonly version: string;
  readonly audiofile: string;
  readonly order: string;
  readonly title: string;
  #fields: Fields | undefined;

  constructor(row: EventRow) {
    this.n = row.id;
    this.source = row.source;
    this.receivedAt = row.received_at;
    this.remote = row.remote;
    this.contentType = row.content_type;
    this.body = row.body;
    this.event = row.event;
    this.version = row.version;
    this.audiofile = row.audiofile;
    this.order = row.order_id;
    this.title = row.title ?? '';
  }

  get fields(): Fields {
    this.#fields ??= fieldsOf(this.body);
    return this.#fields;
  }

  /** The first value of a field, or nothing. */
  field(name: string): string {
    return this.fields.get(name)?.[0] ?? '';
  }

  get json(): JsonObject {
    const { n, source, receivedAt, event, version, audiofile, order, title } = this;
    const head = toJson({
      n,
      source,
      received_at: receivedAt,
      event,
      webhook_version: version || null,
      audiofile: audiofile || null,
      order: order || null,
      title: title || null,
    }) as JsonObject;
    return head.set('fields', this.#fieldsJson());
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
