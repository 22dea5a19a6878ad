/**
 * Audio in bare frames: mp3, mp2, and AAC in ADTS. The first frame of an mp3 may hold a table (Xing, Info, VBRI) with
 * the number of frames. Where it has none, or one that does not fit the file (advertisements were joined to it), the
 * frames are counted: a bit rate of the first frame says nothing about the others.
 */
import { type FileWindow, WINDOW_BYTES } from './file-window.ts';
import { FRAME_HEADER_BYTES, type Frame, frameAt } from './frame-header.ts';
import { id3Length } from './id3.ts';

/** Frames in a row that make a beginning: fewer also occur by chance. */
const FIRST_FRAMES = 4;
/** In a row after bytes that are no audio. */
const NEXT_FRAMES = 2;
/** A table fits the file if it names its length up to this: a tag of 128 bytes may follow the audio. */
const MAX_TABLE_ERROR_BYTES = 4_096;
/** Of a file: with more than that between its frames it is no audio. */
const MAX_JUNK_SHARE = 0.05;
const MAX_JUNK_BYTES = 4 * 2 ** 20;

export async function framedSeconds(file: FileWindow, start: number): Promise<number | undefined> {
  const head = await file.bytes(start, WINDOW_BYTES);
  const offset = findFrames(head, 0, FIRST_FRAMES, start + head.length === file.size);
  const first = offset === undefined ? undefined : frameAt(head, offset);
  if (offset === undefined || !first) return undefined;
  const table = tableIn(head.subarray(offset), first);
  if (table?.frames && Math.abs(table.bytes - (file.size - start - offset)) <= MAX_TABLE_ERROR_BYTES)
    return (table.frames * first.samples) / first.rate;
  return countedSeconds(file, start + offset + (table ? first.bytes : 0));
}

interface Table {
  readonly frames: number;
  readonly bytes: number;
}

const VBRI_AT = 36;
const HAS_FRAMES_AND_BYTES = 3;

/** The table of an mp3 that stands in its first frame, which then holds no audio. */
function tableIn(bytes: Buffer, { xingAt }: Frame): Table | undefined {
  if (xingAt === undefined) return undefined;
  const nameAt = (at: number): string => bytes.toString('latin1', at, at + 4);
  if (bytes.length >= xingAt + 16 && /^(?:Xing|Info)$/.test(nameAt(xingAt))) {
    const isWhole = (bytes.readUInt32BE(xingAt + 4) & HAS_FRAMES_AND_BYTES) === HAS_FRAMES_AND_BYTES;
    const at = xingAt + 8;
    return isWhole
      ? { frames: bytes.readUInt32BE(at), bytes: bytes.readUInt32BE(at + 4) }
      : { frames: 0, bytes: 0 };
  }
  if (bytes.length < VBRI_AT + 18 || nameAt(VBRI_AT) !== 'VBRI') return undefined;
  return { frames: bytes.readUInt32BE(VBRI_AT + 14), bytes: bytes.readUInt32BE(VBRI_AT + 10) };
}

/** Where so many frames of one kind follow each other. At the end of a file there may be fewer. */
function findFrames(bytes: Buffer, from: number, count: number, isEnd: boolean): number | undefined {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at + 1))
    if (framesFollow(bytes, at, count, isEnd)) return at;
  return undefined;
}

function framesFollow(bytes: Buffer, start: number, count: number, isEnd: boolean): boolean {
  const first = frameAt(bytes, start);
  let at = start;
  for (let found = 0; found < count; found += 1) {
    const frame = frameAt(bytes, at);
    if (!frame) return isEnd && found > 0 && at === bytes.length;
    if (frame.rate !== first?.rate || frame.samples !== first.samples) return false;
    at += frame.bytes;
  }
  return true;
}

/** Counts every frame. Tags, and a few bytes of junk where files were joined, are passed over. */
async function countedSeconds(file: FileWindow, start: number): Promise<number | undefined> {
  const maxJunkBytes = Math.min(file.size * MAX_JUNK_SHARE, MAX_JUNK_BYTES);
  const samplesByRate = new Map<number, number>();
  let at = start;
  let junkBytes = 0;
  while (at < file.size) {
    const bytes = await file.bytes(at, WINDOW_BYTES);
    // The file is longer than what we read, or was cut off meanwhile.
    if (bytes.length === 0) return undefined;
    const isEnd = at + bytes.length >= file.size;
    const end = countFrames(bytes, samplesByRate);
    at += end;
    if (isEnd && isTrailer(bytes.subarray(end))) break;
    if (end > 0) continue;
    const length = id3Length(bytes) || bytesToNextFrame(bytes, isEnd);
    if (id3Length(bytes) === 0) junkBytes += length;
    if (junkBytes > maxJunkBytes) return undefined;
    at += length;
  }
  return [...samplesByRate].reduce((sum, [rate, samples]) => sum + samples / rate, 0);
}

/** Adds up the frames that are there as a whole; gives the place behind the last of them. */
function countFrames(bytes: Buffer, samplesByRate: Map<number, number>): number {
  let at = 0;
  for (let frame = frameAt(bytes, at); frame; frame = frameAt(bytes, at)) {
    if (at + frame.bytes > bytes.length) break;
    samplesByRate.set(frame.rate, (samplesByRate.get(frame.rate) ?? 0) + frame.samples);
    at += frame.bytes;
  }
  return at;
}

/** What may stand behind the last frame: nothing, a frame that was cut off, a tag. */
const isTrailer = (bytes: Buffer): boolean =>
  bytes.length < FRAME_HEADER_BYTES ||
  frameAt(bytes, 0) !== undefined ||
  /^(?:TAG|APETAGEX|LYRICSBEGIN)/.test(bytes.toString('latin1', 0, 11));

function bytesToNextFrame(bytes: Buffer, isEnd: boolean): number {
  const next = findFrames(bytes, 1, NEXT_FRAMES, isEnd);
  // Frames that lie across the edge are looked at again with what follows.
  return next ?? (isEnd ? bytes.length : WINDOW_BYTES / 2);
}
