/** Services answer with status 200 and an error message: such an answer must not become a transcript. */
import type { ChunkHandler } from '../../api/http/body.ts';
import { messageInJson, messageInText } from '../../api/http/service-message.ts';
import type { TranscriptBody } from '../../api/transcripts.ts';
import { StenoError } from '../../lib/errors.ts';
import { isObject, parseJson } from '../../lib/json.ts';

/** An error message is short: this much is held back and checked before the first byte is passed on. */
const MAX_MESSAGE_BYTES = 65_536;

/** Passes the chunks of a transcript to `onChunk`, unless they are an error message. */
export async function streamChecked(
  transcript: TranscriptBody,
  ext: string,
  onChunk: ChunkHandler,
): Promise<void> {
  if (transcript.status !== 200 && transcript.status !== 203) {
    throw new StenoError('failed', `the service sent no transcript (HTTP ${transcript.status})`);
  }
  let heldBack: Buffer[] = [];
  let size = 0;
  let isChecking = true;
  const release = (): void | Promise<void> => {
    const start = Buffer.concat(heldBack);
    refuseMessage(start.toString('utf8'), transcript, ext);
    isChecking = false;
    heldBack = [];
    return onChunk(start);
  };
  await transcript.stream((chunk) => {
    if (size === 0) isChecking = mayBeMessage(chunk, transcript);
    size += chunk.length;
    if (!isChecking) return onChunk(chunk);
    heldBack.push(chunk);
    return size < MAX_MESSAGE_BYTES ? undefined : release();
  });
  if (size === 0) throw new StenoError('failed', 'the service sent an empty transcript');
  if (isChecking) await release();
}

/** By its content type, or because it begins like JSON or HTML. */
const mayBeMessage = (first: Buffer, { contentType }: TranscriptBody): boolean =>
  isJsonType(contentType) || /^(\u00ef\u00bb\u00bf)?\s*([{<]|$)/.test(first.toString('latin1', 0, 64));

const isJsonType = (contentType: string): boolean => /\bjson\b/i.test(contentType);

function refuseMessage(text: string, { contentType, hide }: TranscriptBody, ext: string): void {
  if (!isJsonMessage(text, isJsonType(contentType)) && !isPage(text, contentType, ext)) return;
  const said = messageInText(text, hide);
  throw new StenoError(
    'failed',
    `the service sent a message in place of the transcript${said ? `: ${said}` : ''}`,
  );
}

/** A web page where none was asked for. Some .doc files are HTML inside, so there the content type must say it too. */
function isPage(text: string, contentType: string, ext: string): boolean {
  if (ext === 'html' || !/^\ufeff?\s*<(!doctype\s+html|html)\b/i.test(text)) return false;
  return ext !== 'doc' || /\bhtml\b/i.test(contentType);
}

/** With a JSON type, any JSON; otherwise JSON that has a message in it. What can't be parsed is a transcript. */
function isJsonMessage(text: string, hasJsonType: boolean): boolean {
  if (!hasJsonType && !/^\s*\{/.test(text)) return false;
  // Cut off at the limit, it can't be parsed: its first character has to do.
  if (hasJsonType && text.length >= MAX_MESSAGE_BYTES) return /^\s*[[{]/.test(text);
  try {
    const json = parseJson(text);
    return hasJsonType || (isObject(json) && messageInJson(json) !== undefined);
  } catch {
    return false;
  }
}
