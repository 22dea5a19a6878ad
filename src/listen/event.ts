/** An event as the listener, its actions and its readers see it; nothing is copied, for there may be many. */

import type { EventRow } from '../ledger/events.ts';
import { type Json, type JsonObject, toJson } from '../lib/json.ts';
import { type Fields, fieldsOf } from './parse.ts';

export class ReceivedEvent {
  readonly #row: EventRow;
  #fields: Fields | undefined;

  constructor(row: EventRow) {
    this.#row = row;
  }

  get n(): EventRow['id'] {
    return this.#row.id;
  }

  get source(): EventRow['source'] {
    return this.#row.source;
  }

  get receivedAt(): EventRow['received_at'] {
    return this.#row.received_at;
  }

  get remote(): EventRow['remote'] {
    return this.#row.remote;
  }

  get contentType(): EventRow['content_type'] {
    return this.#row.content_type;
  }

  get body(): EventRow['body'] {
    return this.#row.body;
  }

  get event(): EventRow['event'] {
    return this.#row.event;
  }

  get version(): EventRow['version'] {
    return this.#row.version;
  }

  get audiofile(): EventRow['audiofile'] {
    return this.#row.audiofile;
  }

  get order(): EventRow['order_id'] {
    return this.#row.order_id;
  }

  /** Of its file, where the ledger knows it. */
  get title(): string {
    return this.#row.title ?? '';
  }

  /** Of a delivery: the event that was found before it came. Of a found one: the delivery that came later. */
  get twin(): EventRow['twin'] {
    return this.#row.twin;
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
