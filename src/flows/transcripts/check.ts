/** Services answer with status 200 and an error message: such an answer must not become a transcript. */

import type { TranscriptBody } from '../../api/files.ts';
import type { ChunkHandler } from '../../api/http/exchange.ts';
import { messageInText } from '../../api/http/message.ts';
import { StenoError } from '../../lib/errors.ts';
import { FIRST_BYTES, isBlank, isSomethingElse, mayBeSomethingElse } from './content.ts';

/** An error message is short: this much is held back and checked before the first byte is passed on. */
const MAX_MESSAGE_BYTES = 65_536;

/** Passes the chunks of a transcript to `onChunk`, unless they are something else. */
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
  let onlyBlanks = true;
  const pass = (): void | Promise<void> => {
    const start = joined(heldBack);
    isChecking = false;
    heldBack = [];
    return onChunk(start);
  };
  const release = (isCut: boolean): void | Promise<void> => {
    const start = joined(heldBack);
    if (isSomethingElse(start, ext, isCut)) throw messageError(start, transcript);
    onlyBlanks = isBlank(start);
    if (onlyBlanks && !isCut) throw emptyError();
    return pass();
  };
  await transcript.stream((chunk) => {
    const before = size;
    size += chunk.length;
    if (!isChecking) {
      onlyBlanks &&= isBlank(chunk);
      return onChunk(chunk);
    }
    heldBack.push(chunk);
    const hasFirstBytes = before < FIRST_BYTES && size >= FIRST_BYTES;
    if (hasFirstBytes && !mayBeSomethingElse(joined(heldBack).subarray(0, FIRST_BYTES), ext)) {
      onlyBlanks = false;
      return pass();
    }
    return size < MAX_MESSAGE_BYTES ? undefined : release(true);
  });
  if (size === 0) throw emptyError();
  if (isChecking) await release(false);
  if (onlyBlanks) throw emptyError();
}

/** All chunks as one; not copied where there is only one, as for most transcripts. */
const joined = (chunks: readonly Buffer[]): Buffer =>
  chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);

const emptyError = (): StenoError => new StenoError('failed', 'the service sent an empty transcript');

function messageError(start: Buffer, { hide }: TranscriptBody): StenoError {
  const said = messageInText(start.toString('utf8'), hide);
  return new StenoError(
    'failed',
    `the service sent a message in place of the transcript${said ? `: ${said}` : ''}`,
  );
}
