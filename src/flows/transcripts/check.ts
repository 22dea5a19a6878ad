import type { ChunkHandler } from '../../api/http/body.ts';
import { messageInJson, messageInText } from '../../api/http/service-message.ts';
import type { TranscriptBody } from '../../api/transcripts.ts';
import { StenoError } from '../../lib/errors.ts';
import { isObject, parseJson } from '../../lib/json.ts';

/** An error message is short: this much is looked at before the first byte is passed on. */
const LOOKED_AT = 65_536;

/** Passes a transcript on to the sink, unless what came with status 200 is an error message. */
export async function pourTranscript(
  transcript: TranscriptBody,
  ext: string,
  sink: ChunkHandler,
): Promise<void> {
  if (transcript.status !== 200 && transcript.status !== 203) {
    throw new StenoError('failed', `the service sent no transcript (HTTP ${transcript.status})`);
  }
  let held: Buffer[] = [];
  let size = 0;
  let looking = true;
  const passOn = (): void | Promise<void> => {
    const text = Buffer.concat(held);
    refuseMessage(text.toString('utf8'), transcript, ext);
    looking = false;
    held = [];
    return sink(text);
  };
  await transcript.stream((chunk) => {
    if (size === 0) looking = mayBeMessage(chunk, transcript);
    size += chunk.length;
    if (!looking) return sink(chunk);
    held.push(chunk);
    return size < LOOKED_AT ? undefined : passOn();
  });
  if (size === 0) throw new StenoError('failed', 'the service sent an empty transcript');
  if (looking) await passOn();
}

/** The type says so, or it begins like JSON or a page. */
const mayBeMessage = (first: Buffer, { contentType }: TranscriptBody): boolean =>
  /\bjson\b/i.test(contentType) || /^(\u00ef\u00bb\u00bf)?\s*([{<]|$)/.test(first.toString('latin1', 0, 64));

function refuseMessage(text: string, { contentType, hide }: TranscriptBody, ext: string): void {
  const isJson = jsonMessage(text, /\bjson\b/i.test(contentType));
  if (!isJson && !isPage(text, contentType, ext)) return;
  const said = messageInText(text, hide);
  throw new StenoError(
    'failed',
    `the service sent a message in place of the transcript${said ? `: ${said}` : ''}`,
  );
}

/** A web page where none was asked for. Old Word documents may be one inside, so there the type must say it too. */
function isPage(text: string, contentType: string, ext: string): boolean {
  if (ext === 'html' || !/^\ufeff?\s*<(!doctype\s+html|html)\b/i.test(text)) return false;
  return ext !== 'doc' || /\bhtml\b/i.test(contentType);
}

/** JSON that has a message in it, or where the type says so any JSON; what is not JSON is a transcript all the same. */
function jsonMessage(text: string, announced: boolean): boolean {
  if (!announced && !/^\s*\{/.test(text)) return false;
  // More than this is not looked at, and so can't be parsed: its beginning must do.
  if (announced && text.length >= LOOKED_AT) return /^\s*[[{]/.test(text);
  try {
    const json = parseJson(text);
    return announced || (isObject(json) && messageInJson(json) !== undefined);
  } catch {
    return false;
  }
}
