import type { FileWindow } from './file-window.ts';

/** FLAC: the first block says how many samples there are, or 0 where the encoder did not know. */
export async function flacSeconds(file: FileWindow, start: number): Promise<number | undefined> {
  const block = await file.bytes(start + 4, 22);
  const isStreamInfo = block.length === 22 && ((block[0] ?? 0) & 0x7f) === 0;
  return isStreamInfo ? streamInfoSeconds(block.subarray(4)) : undefined;
}

/** `info` begins with the sizes of blocks: the rate has 20 bits, the number of samples 36. */
function streamInfoSeconds(info: Buffer): number | undefined {
  const rate = info.readUIntBE(10, 3) >> 4;
  const samples = ((info[13] ?? 0) & 0x0f) * 2 ** 32 + info.readUInt32BE(14);
  return rate && samples ? samples / rate : undefined;
}
