/** ID3 tags: what stands before the audio, pictures included. */
import type { FileWindow } from './file-window.ts';

const HEADER_BYTES = 10;
const HAS_FOOTER = 0x10;
/** Some programs write a second tag in front of the first. */
const MAX_TAGS = 8;

/** Where the audio begins: after the ID3 tags. */
export async function audioStart(file: FileWindow): Promise<number> {
  let at = 0;
  for (let tags = 0; tags < MAX_TAGS; tags += 1) {
    const length = id3Length(await file.bytes(at, HEADER_BYTES));
    if (length === 0) break;
    at += length;
  }
  return at;
}

/** How long the tag is that begins here; 0 where none does. */
export function id3Length(bytes: Buffer): number {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = bytes.subarray(6, HEADER_BYTES);
  // Seven bits of each byte count, so that no tag looks like audio.
  if (size.some((byte) => byte > 0x7f)) return 0;
  const length = size.reduce((sum, byte) => sum * 128 + byte, 0);
  return HEADER_BYTES + length + ((bytes[5] ?? 0) & HAS_FOOTER ? HEADER_BYTES : 0);
}
