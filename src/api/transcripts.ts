import type { Json } from '../lib/json.ts';
import { type ChunkSource, streamBody } from './http/body.ts';
import type { Call, CallResponse } from './http/call.ts';
import type { Transport } from './http/transport.ts';
import { step } from './ids.ts';

export interface TranscriptRequest {
  readonly id: string;
  readonly ext: string;
  readonly test: boolean;
  readonly deprecatedPath: boolean;
}

export interface TranscriptBody {
  readonly contentType: string;
  readonly status: number;
  readonly stream: ChunkSource;
  readonly hide: (text: string) => string;
}

/** Streams a transcript to `take`, which is called again if the stream breaks and is asked for anew. */
export function getTranscript<T>(
  transport: Transport,
  request: TranscriptRequest,
  take: (transcript: TranscriptBody) => Promise<T>,
): Promise<T> {
  const id = step(request.id);
  const path = request.deprecatedPath
    ? `/transcript/${id}.${request.ext}`
    : `/audiofile/${id}/transcript.${request.ext}`;
  const params = new Map<string, Json>(request.test ? [['test', true]] : []);
  const call: Call = { method: 'POST', path, safety: 'read', params, streams: true };
  return transport.send(call, (response: CallResponse) =>
    take({
      contentType: response.headers['content-type'] ?? '',
      status: response.status,
      stream: (onChunk) => streamBody(response, onChunk),
      hide: response.hide,
    }),
  );
}
