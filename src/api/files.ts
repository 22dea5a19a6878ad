import { CHANGE_LIMIT_MS } from '../lib/defaults.ts';
import { StenoError } from '../lib/errors.ts';
import { formatJson, isObject, type Json, type JsonObject, parseJson } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import { field, idField, ids, unwrap } from './decode.ts';
import { requestJson, unreadableAnswer } from './http/answer.ts';
import type { BeforeSend, Call } from './http/call.ts';
import { messageInJson } from './http/message.ts';
import type { Transport } from './http/transport.ts';
import { pathSegment } from './ids.ts';
import { checkAnswer, refusalIn, refusalOf, saysNothing } from './refusal.ts';

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

export const getFile = async (transport: Transport, id: string): Promise<AudioFile> =>
  decodeFile(await requestJson(transport, { method: 'GET', path: filePath(id), safety: 'read' }), id);

const filePath = (id: string): string => `/audiofile/${pathSegment(id)}`;

function decodeFile(json: Json, requestedId: string): AudioFile {
  const file = fileIn(json, requestedId);
  return {
    id: idField(file, 'id') || requestedId,
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

function fileIn(json: Json, requestedId: string): JsonObject {
  const file = unwrap(json, 'audiofile');
  const refusal = fileRefusal(json, file);
  if (refusal) throw refusal;
  const isFile = file && (file !== json || file.has('statename') || file.has('id'));
  if (!isFile) throw new StenoError('failed', `the answer for ${requestedId} holds no audiofile`);
  return file;
}

/** What a kept answer says of the length and the cost of a file; undefined where it can't be read any more. */
export function decodeKeptFile(
  answer: string | null,
  id: string,
): Pick<AudioFile, 'duration' | 'total'> | undefined {
  if (answer === null) return undefined;
  try {
    const file = fileIn(parseJson(answer), id);
    return { duration: field(file, 'duration'), total: field(file, 'total') };
  } catch {
    return undefined;
  }
}

/** A file that has a state is an answer, whatever that file holds: its audio may have an error. */
function fileRefusal(json: Json, file: JsonObject | undefined): StenoError | undefined {
  if (!file || !field(file, 'statename')) return refusalIn(json);
  return file === json ? undefined : refusalOf(json);
}

/** A file that was just ordered: nothing else is known of it yet. */
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
  beforeSend?: BeforeSend,
): Promise<FileChange> => {
  const params = new Map<string, Json>([['sku', [...skus]], ...testParam(test)]);
  return changeFile(transport, id, 'upgrade', params, beforeSend);
};

export const refundFile = (
  transport: Transport,
  id: string,
  test: boolean,
  beforeSend?: BeforeSend,
): Promise<FileChange> =>
  changeFile(transport, id, 'refund', new Map<string, Json>(testParam(test)), beforeSend);

const testParam = (test: boolean): Array<[string, Json]> => (test ? [['test', true]] : []);

async function changeFile(
  transport: Transport,
  id: string,
  action: 'upgrade' | 'refund',
  params: JsonObject,
  beforeSend: BeforeSend | undefined,
): Promise<FileChange> {
  const path = `${filePath(id)}/${action}`;
  const call: Call = { method: 'POST', path, safety: 'money', params, limitMs: CHANGE_LIMIT_MS, beforeSend };
  return readChange(call, id, await requestJson(transport, call));
}

/** What the answer to an upgrade or a refund says; throws where it refuses, or says nothing. */
export function readChange(call: Call, id: string, answer: Json): FileChange {
  const json = checkAnswer(answer);
  if (saysNothing(json)) throw unreadableAnswer(call, 'it says nothing');
  // A bare text may as well be a refusal.
  if (!isObject(json))
    throw unreadableAnswer(call, `it is no object, but says: ${oneLine(formatJson(json))}`);
  return { id, message: oneLine(messageInJson(json) ?? ''), json };
}
