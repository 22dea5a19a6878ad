import { inJson, messageOf } from '../api/message.ts';
import type { TranscriptBody } from '../api/transcripts.ts';
import { StenoError } from '../errors.ts';
import { isObject, parseJson } from '../json.ts';

/** An error message is short: this much is looked at before the first byte is passed on. */
const LOOKED_AT = 65_536;

/** Passes a transcript on, unless what came with status 200 is an error message. */
export async function* transcriptOf(transcript: TranscriptBody, ext: string): AsyncGenerator<Uint8Array> {
  if (transcript.status !== 200 && transcript.status !== 203) {
    throw new StenoError('failed', `the service sent no transcript (HTTP ${transcript.status})`);
  }
  let held: Buffer[] = [];
  let size = 0;
  let looking = true;
  for await (const chunk of transcript.body) {
    if (!looking) {
      yield chunk as Buffer;
      continue;
    }
    held.push(chunk as Buffer);
    size += (chunk as Buffer).length;
    if (size < LOOKED_AT) continue;
    refuseMessage(Buffer.concat(held).toString('utf8'), transcript.contentType, ext);
    looking = false;
    yield* held;
    held = [];
  }
  if (!looking) return;
  refuseMessage(Buffer.concat(held).toString('utf8'), transcript.contentType, ext);
  yield* held;
}

function refuseMessage(text: string, contentType: string, ext: string): void {
  const isJson = /\bjson\b/i.test(contentType) || jsonMessage(text);
  const isPage = /\bhtml\b/i.test(contentType) && /^\s*<(!doctype|html)/i.test(text) && plainText.has(ext);
  if (!isJson && !isPage) return;
  const said = messageOf(text);
  throw new StenoError(
    'failed',
    `the service sent a message in place of the transcript${said ? `: ${said}` : ''}`,
  );
}

const plainText = new Set(['txt', 'tstxt', 'srt', 'vtt']);

function jsonMessage(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    const json = parseJson(text);
    return isObject(json) && inJson(json) !== undefined;
  } catch {
    return false;
  }
}
