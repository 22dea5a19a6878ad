import { StenoError } from '../lib/errors.ts';
import type { JsonObject } from '../lib/json.ts';
import type { Call } from './http/call.ts';
import { type ChunkSource, streamBody, unknownEncoding } from './http/exchange.ts';
import type { Transport } from './http/transport.ts';
import { pathSegment } from './ids.ts';

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
  /** Fires when the time of the call is over, and when the user interrupts. */
  readonly signal: AbortSignal;
}

const noParams: JsonObject = new Map();
const testParams: JsonObject = new Map([['test', true]]);

/** Hands a transcript to `read`, which is called again if the stream breaks and the call is repeated. */
export function getTranscript<T>(
  transport: Transport,
  request: TranscriptRequest,
  read: (transcript: TranscriptBody) => Promise<T>,
): Promise<T> {
  const params = request.test ? testParams : noParams;
  const call: Call = { method: 'POST', path: pathOf(request), safety: 'read', params, streams: true };
  return transport.send(call, (response) => {
    const encoding = unknownEncoding(response);
    if (encoding) throw new StenoError('failed', `the transcript comes in an unknown encoding: ${encoding}`);
    return read({
      status: response.status,
      stream: (onChunk) => streamBody(response, onChunk),
      length: lengthOf(response.headers),
      hide: response.hide,
      signal: response.signal,
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
