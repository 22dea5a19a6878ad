/** Audio files and their transcripts. */
import { CHANGE_LIMIT_MS } from '../lib/defaults.ts';
import { StenoError } from '../lib/errors.ts';
import { formatJson, isObject, type Json, type JsonObject } from '../lib/json.ts';
import { oneLine } from '../lib/text.ts';
import {
  checkAnswer,
  errorIn,
  errorOf,
  field,
  idField,
  ids,
  pathSegment,
  saysNothing,
  throwRefusal,
  unwrap,
} from './decode.ts';
import { requestJson, unreadableAnswer } from './http/answer.ts';
import type { BeforeSend, Call } from './http/call.ts';
import { type ChunkSource, streamBody, unknownEncoding } from './http/exchange.ts';
import { messageInJson } from './http/message.ts';
import type { Transport } from './http/transport.ts';

export type AudioFile = Readonly<ReturnType<typeof decodeFile>>;

export const getFile = async (transport: Transport, id: string): Promise<AudioFile> =>
  decodeFile(await requestJson(transport, { method: 'GET', path: filePath(id), safety: 'read' }), id);

const filePath = (id: string): string => `/audiofile/${pathSegment(id)}`;

function decodeFile(json: Json, requestedId: string) {
  const file = fileIn(json, requestedId);
  const id = idField(file, 'id') || requestedId;
  if (plain(id) !== plain(requestedId))
    throw new StenoError('failed', `the answer for audiofile ${requestedId} is about audiofile ${id}`, {
      hint: 'nothing was changed; ask again later: steno file <id>',
    });
  return {
    id: requestedId,
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
    /** The whole answer as it came. */
    json,
  };
}

/** A number is the same id however it is written. */
const plain = (id: string): string => id.replace(/^0+(?=\d+(\.0+)?$)|(?<=^\d+)\.0+$/g, '');

function fileIn(json: Json, requestedId: string): JsonObject {
  const file = unwrap(json, 'audiofile');
  throwRefusal(fileError(json, file));
  const isFile = file && (file !== json || file.has('statename') || file.has('id'));
  if (!isFile) throw new StenoError('failed', `the answer for ${requestedId} contains no audiofile`);
  return file;
}

/** A file that has a state is an answer, whatever that file holds: its audio may have an error. */
function fileError(json: Json, file: JsonObject | undefined): string | undefined {
  if (!file || !field(file, 'statename')) return errorIn(json);
  return file === json ? undefined : errorOf(json);
}

/** A file that was just ordered: nothing else is known of it yet. */
export function orderedFile(id: string, order: string, state: string): AudioFile {
  const json = new Map<string, Json>(Object.entries({ id, statename: state }));
  return { ...decodeFile(json, id), orders: [order] };
}

/** What upgrade and refund answer: a message, under whatever key. */
export interface FileChange {
  readonly id: string;
  readonly message: string;
  readonly json: Json;
}

const testParam = (test: boolean): Array<[string, Json]> => (test ? [['test', true]] : []);

interface ChangeRequest {
  readonly id: string;
  readonly action: 'upgrade' | 'refund';
  /** Of an upgrade. */
  readonly skus: readonly string[];
  readonly test: boolean;
}

export async function changeFile(
  transport: Transport,
  { id, action, skus, test }: ChangeRequest,
  beforeSend?: BeforeSend,
): Promise<FileChange> {
  const path = `${filePath(id)}/${action}`;
  const params = new Map<string, Json>(testParam(test));
  if (skus.length) params.set('sku', [...skus]);
  const call: Call = { method: 'POST', path, safety: 'money', params, limitMs: CHANGE_LIMIT_MS, beforeSend };
  return readChange(call, id, await requestJson(transport, call));
}

/** What the answer to an upgrade or a refund says; throws where it refuses, or says nothing. */
export function readChange(call: Call, id: string, answer: Json): FileChange {
  const json = checkAnswer(answer);
  if (saysNothing(json)) throw unreadableAnswer(call, 'it says nothing');
  // A bare text may as well be a refusal.
  if (!isObject(json))
    throw unreadableAnswer(call, `it is not an object, but says: ${oneLine(formatJson(json))}`);
  return { id, message: oneLine(messageInJson(json) ?? ''), json };
}

export interface TranscriptRequest {
  readonly id: string;
  readonly ext: string;
  readonly test: boolean;
  readonly deprecatedPath: boolean;
}

export interface TranscriptBody {
  readonly status: number;
  readonly stream: ChunkSource;
  /** How many bytes are to come, where the service says so. */
  readonly length?: number | undefined;
  readonly hide: (text: string) => string;
}

/** Hands a transcript to `read`, which is called again if the stream breaks and the call is repeated. */
export function getTranscript<T>(
  transport: Transport,
  request: TranscriptRequest,
  read: (transcript: TranscriptBody) => Promise<T>,
): Promise<T> {
  const params: JsonObject = new Map(testParam(request.test));
  const call: Call = { method: 'POST', path: pathOf(request), safety: 'read', params, streams: true };
  return transport.send(call, (response) => {
    const encoding = unknownEncoding(response);
    if (encoding) throw new StenoError('failed', `the transcript has an unknown encoding: ${encoding}`);
    return read({
      status: response.status,
      stream: (onChunk) => streamBody(response, onChunk),
      length: lengthOf(response.headers),
      hide: response.hide,
    });
  });
}

/** A compressed body has another length than what is streamed. */
function lengthOf(headers: Readonly<Record<string, string>>): number | undefined {
  const length = headers['content-length'] ?? '';
  return headers['content-encoding'] === undefined && /^\d{1,15}$/.test(length) ? Number(length) : undefined;
}

function pathOf({ id, ext, deprecatedPath }: TranscriptRequest): string {
  const segment = pathSegment(id);
  return deprecatedPath ? `/transcript/${segment}.${ext}` : `/audiofile/${segment}/transcript.${ext}`;
}
