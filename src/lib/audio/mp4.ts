/** MP4, M4A, MOV: boxes in boxes. `moov/mvhd` has the duration; a file in fragments may have it in `moov/mvex/mehd`. */
import type { FileWindow } from './file-window.ts';

const MAX_BOXES = 1_024;

interface Box {
  readonly type: string;
  /** Where its content begins and ends. */
  readonly start: number;
  readonly end: number;
}

export async function mp4Seconds(file: FileWindow): Promise<number | undefined> {
  const moov = await findBox(file, { type: '', start: 0, end: file.size }, 'moov');
  const mvhd = moov && (await findBox(file, moov, 'mvhd'));
  if (!moov || !mvhd) return undefined;
  const movie = movieTimes(await file.bytes(mvhd.start, 32));
  if (!movie?.timescale) return undefined;
  const duration = movie.duration ?? (await fragmentsDuration(file, moov));
  return duration === undefined ? undefined : duration / movie.timescale;
}

/** The first box of this type directly within another. */
async function findBox(file: FileWindow, within: Box, type: string): Promise<Box | undefined> {
  let at = within.start;
  for (let boxes = 0; boxes < MAX_BOXES; boxes += 1) {
    const box = boxAt(await file.bytes(at, 16), at, within.end);
    if (!box || box.type === type) return box;
    at = box.end;
  }
  return undefined;
}

function boxAt(head: Buffer, at: number, end: number): Box | undefined {
  if (head.length < 8) return undefined;
  const type = head.toString('latin1', 4, 8);
  const size = head.readUInt32BE(0);
  // 0: up to the end; 1: the size is too large for 32 bits and follows.
  if (size === 0) return { type, start: at + 8, end };
  if (size !== 1) return size >= 8 ? { type, start: at + 8, end: at + size } : undefined;
  const large = head.length < 16 ? 0 : Number(head.readBigUInt64BE(8));
  return large >= 16 ? { type, start: at + 16, end: at + large } : undefined;
}

function movieTimes(content: Buffer): { timescale: number; duration: number | undefined } | undefined {
  const isLong = content[0] === 1;
  if (content.length < (isLong ? 32 : 20)) return undefined;
  return isLong
    ? { timescale: content.readUInt32BE(20), duration: longDuration(content, 24) }
    : { timescale: content.readUInt32BE(12), duration: shortDuration(content, 16) };
}

async function fragmentsDuration(file: FileWindow, moov: Box): Promise<number | undefined> {
  const mvex = await findBox(file, moov, 'mvex');
  const mehd = mvex && (await findBox(file, mvex, 'mehd'));
  if (!mehd) return undefined;
  const content = await file.bytes(mehd.start, 12);
  if (content[0] === 1) return content.length < 12 ? undefined : longDuration(content, 4);
  return content.length < 8 ? undefined : shortDuration(content, 4);
}

/** 0 and all bits set mean that it is not known. */
function shortDuration(content: Buffer, at: number): number | undefined {
  const duration = content.readUInt32BE(at);
  return duration === 0 || duration === 0xffff_ffff ? undefined : duration;
}

function longDuration(content: Buffer, at: number): number | undefined {
  const duration = content.readBigUInt64BE(at);
  return duration === 0n || duration === 0xffff_ffff_ffff_ffffn ? undefined : Number(duration);
}
