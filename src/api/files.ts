import { StenoError } from '../lib/errors.ts';
import type { Json, JsonObject } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { field, ids, unwrap } from './decode.ts';
import { requestJson } from './http/request-json.ts';
import { messageInJson } from './http/service-message.ts';
import type { Transport } from './http/transport.ts';
import { step } from './ids.ts';

export interface AudioFile {
  readonly id: string;
  readonly state: string;
  readonly title: string;
  readonly duration: string;
  readonly total: string;
  readonly qualityStars: string;
  readonly orders: readonly string[];
  readonly invoices: readonly string[];
  readonly names: string;
  readonly notes: string;
  readonly description: string;
  readonly originalLink: string;
  /** The whole answer as it came. */
  readonly json: Json;
}

export async function getFile(transport: Transport, id: string): Promise<AudioFile> {
  const json = await requestJson(transport, {
    method: 'GET',
    path: `/audiofile/${step(id)}`,
    safety: 'read',
  });
  const file = unwrap(json, 'audiofile');
  if (!file || !(file !== json || file.has('statename') || file.has('id')))
    throw new StenoError('failed', `the answer for ${id} holds no audiofile`);
  return decodeFile(file, json, id);
}

function decodeFile(file: JsonObject, json: Json, asked: string): AudioFile {
  return {
    id: field(file, 'id') || asked,
    state: field(file, 'statename'),
    title: field(file, 'title'),
    duration: field(file, 'duration'),
    total: field(file, 'total'),
    qualityStars: field(file, 'quality_stars'),
    orders: ids(file.get('orders')),
    invoices: ids(file.get('invoices')),
    names: field(file, 'names') || ids(file.get('names')).join('|'),
    notes: field(file, 'notes'),
    description: field(file, 'description'),
    originalLink: field(file, 'originallink'),
    json,
  };
}

/** A file of which no more is known than that it was ordered. */
export const orderedFile = (id: string, order: string, state: string): AudioFile => ({
  id,
  state,
  orders: [order],
  invoices: [],
  title: '',
  duration: '',
  total: '',
  qualityStars: '',
  names: '',
  notes: '',
  description: '',
  originalLink: '',
  json: new Map<string, Json>([
    ['id', id],
    ['statename', state],
  ]),
});

/** What upgrade and refund answer: a message, under whatever key. */
export interface FileChange {
  readonly id: string;
  readonly message: string;
  readonly json: Json;
}

export const upgradeFile = (
  transport: Transport,
  id: string,
  skus: readonly string[],
  test: boolean,
): Promise<FileChange> => change(transport, id, 'upgrade', new Map<string, Json>([['sku', [...skus]]]), test);

export const refundFile = (transport: Transport, id: string, test: boolean): Promise<FileChange> =>
  change(transport, id, 'refund', new Map(), test);

async function change(
  transport: Transport,
  id: string,
  verb: string,
  params: JsonObject,
  test: boolean,
): Promise<FileChange> {
  if (test) params.set('test', true);
  const path = `/audiofile/${step(id)}/${verb}`;
  const json = await requestJson(transport, { method: 'POST', path, safety: 'money', params, limit: 60_000 });
  return { id, message: oneLine(messageInJson(json) ?? ''), json };
}
