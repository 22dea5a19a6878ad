/**
 * Audio in bare frames: mp3, mp2, and AAC in ADTS. The first frame of an mp3 may hold a table (Xing, Info, VBRI) with
 * the number of frames. Where it has none, or one that does not fit the file (advertisements were joined to it), the
 * frames are counted: a bit rate of the first frame says nothing about the others.
 */
import type { FileHandle } from 'node:fs/promises';

/** The header of one frame of MPEG audio (mp3, mp2) or of AAC in ADTS: how long the frame is, in bytes and samples. */
interface Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly rate: number;
  /** Where a Xing header would stand in it; undefined where the format has none. */
  readonly xingAt: number | undefined;
}

/** The longest header of these. */
const FRAME_HEADER_BYTES = 6;

/** In kbit/s, by the index in the header; the first (free) and the last (forbidden) do not count. */
const bitRates = {
  version1Layer2: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  version1Layer3: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  version2: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

/** By version: 3 is MPEG-1, 2 is MPEG-2, 0 is MPEG-2.5. */
const sampleRates: Readonly<Record<number, readonly number[]>> = {
  3: [44_100, 48_000, 32_000],
  2: [22_050, 24_000, 16_000],
  0: [11_025, 12_000, 8_000],
};

const aacRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
];

const LAYER_2 = 2;
const LAYER_3 = 1;
const VERSION_1 = 3;
const MONO = 3;

/** The frame whose header begins at `at`; undefined where none does. */
function frameAt(bytes: Buffer, at: number): Frame | undefined {
  if (bytes[at] !== 0xff || at + FRAME_HEADER_BYTES > bytes.length) return undefined;
  const second = bytes[at + 1] as number;
  if ((second & 0xf6) === 0xf0) return aacFrame(bytes, at);
  return (second & 0xe0) === 0xe0 ? mpegFrame(bytes, at) : undefined;
}

function mpegFrame(bytes: Buffer, at: number): Frame | undefined {
  const [second, third, fourth] = [bytes[at + 1], bytes[at + 2], bytes[at + 3]] as [number, number, number];
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const rate = sampleRates[version]?.[(third >> 2) & 3];
  const bitRate = bitRateOf(version, layer, third >> 4);
  if (!rate || !bitRate) return undefined;
  const samples = layer === LAYER_3 && version !== VERSION_1 ? 576 : 1152;
  const padding = (third >> 1) & 1;
  const isMono = fourth >> 6 === MONO;
  return {
    bytes: Math.floor((samples * bitRate * 125) / rate) + padding,
    samples,
    rate,
    xingAt: layer === LAYER_3 ? 4 + sideInfoBytes(version, isMono) : undefined,
  };
}

function bitRateOf(version: number, layer: number, index: number): number | undefined {
  if (layer !== LAYER_2 && layer !== LAYER_3) return undefined;
  if (version !== VERSION_1) return bitRates.version2[index - 1];
  return bitRates[layer === LAYER_2 ? 'version1Layer2' : 'version1Layer3'][index - 1];
}

function sideInfoBytes(version: number, isMono: boolean): number {
  if (version === VERSION_1) return isMono ? 17 : 32;
  return isMono ? 9 : 17;
}

function aacFrame(bytes: Buffer, at: number): Frame | undefined {
  const [third, fourth] = [bytes[at + 2], bytes[at + 3]] as [number, number];
  const rate = aacRates[(third >> 2) & 15];
  // 13 bits across three bytes, of which the first two bits are in the fourth byte of the header.
  const length = ((fourth & 3) << 11) | (bytes.readUInt16BE(at + 4) >> 5);
  return rate && length > FRAME_HEADER_BYTES
    ? { bytes: length, samples: 1024, rate, xingAt: undefined }
    : undefined;
}

const HEADER_BYTES = 10;
const HAS_FOOTER = 0x10;
/** Some programs write a second tag in front of the first. */
const MAX_TAGS = 8;

/** Where the audio begins: after the ID3 tags, pictures included. */
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
function id3Length(bytes: Buffer): number {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, 3) !== 'ID3') return 0;
  const size = bytes.subarray(6, HEADER_BYTES);
  // Seven bits of each byte count, so that no tag looks like audio.
  if (size.some((byte) => byte > 0x7f)) return 0;
  const length = size.reduce((sum, byte) => sum * 128 + byte, 0);
  return HEADER_BYTES + length + ((bytes[5] ?? 0) & HAS_FOOTER ? HEADER_BYTES : 0);
}

const EMPTY = Buffer.alloc(0);

/** How much of a file is held at once. */
export const WINDOW_BYTES = 65_536;
/** A gigabyte. Headers take a few reads; only audio in bare frames is read as a whole. */
const MAX_READS = 16_384;

/**
 * Reads parts of a file at any place, within bounds: an untrusted header decides where. One part is in memory at a time.
 */
export class FileWindow {
  readonly size: number;
  readonly #file: FileHandle;
  readonly #buffer = Buffer.allocUnsafe(WINDOW_BYTES);
  #start = 0;
  #length = 0;
  #reads = 0;

  constructor(file: FileHandle, size: number) {
    this.#file = file;
    this.size = size;
  }

  /**
   * `length` bytes from `at`, or as many as there are; empty where too much was read already. They hold until the
   * next call.
   */
  async bytes(at: number, length: number): Promise<Buffer> {
    if (!Number.isSafeInteger(at) || at < 0 || at >= this.size || length > WINDOW_BYTES) return EMPTY;
    const isInside = at >= this.#start && at + Math.min(length, this.size - at) <= this.#start + this.#length;
    if (!isInside) {
      if (this.#reads >= MAX_READS) return EMPTY;
      this.#reads += 1;
      await this.#readFrom(at);
    }
    const from = at - this.#start;
    return this.#buffer.subarray(from, Math.min(from + length, this.#length));
  }

  /** What is in memory already is not read again. */
  async #readFrom(at: number): Promise<void> {
    const from = at - this.#start;
    const isInside = from > 0 && from < this.#length;
    if (isInside) this.#buffer.copyWithin(0, from, this.#length);
    this.#length = isInside ? this.#length - from : 0;
    this.#start = at;
    while (this.#length < WINDOW_BYTES) {
      const free = WINDOW_BYTES - this.#length;
      const { bytesRead } = await this.#file.read(this.#buffer, this.#length, free, at + this.#length);
      if (bytesRead === 0) return;
      this.#length += bytesRead;
    }
  }
}

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
