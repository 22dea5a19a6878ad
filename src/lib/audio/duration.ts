/**
 * How long an audio file plays, from its headers. A file of an unknown kind, or whose headers do not say, has no known
 * duration: what is shown as a cost must not rest on a guess.
 */
import { audioStart, type FileWindow, framedSeconds, WINDOW_BYTES } from './frames.ts';

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

// WAV: chunks, of which `fmt ` has the rate and `data` the samples. RF64 and BW64 are WAV beyond 4 GB.

const MAX_CHUNKS = 1_024;
/** The size of a chunk whose size stands in `ds64`, or that was written to a pipe. */
const UNKNOWN_SIZE = 0xffff_ffff;
/** Codecs whose blocks all hold one sample of each channel: PCM, float, A-law, µ-law; others name it in `fact`. */
const plainCodecs = new Set([0x0001, 0x0003, 0x0006, 0x0007]);
const EXTENSIBLE = 0xfffe;

interface Format {
  readonly isPlain: boolean;
  readonly rate: number;
  readonly blockBytes: number;
}

interface Known {
  format?: Format | undefined;
  samples?: number;
  dataSize?: number;
}

export async function wavSeconds(file: FileWindow, start: number): Promise<number | undefined> {
  const known: Known = {};
  let at = start + 12;
  for (let chunks = 0; chunks < MAX_CHUNKS; chunks += 1) {
    const head = await file.bytes(at, 8);
    if (head.length < 8) return undefined;
    const name = head.toString('latin1', 0, 4);
    const size = head.readUInt32LE(4);
    if (name === 'data') return secondsOfWav(known, dataBytes(known, size, file.size - at - 8));
    await readChunk(known, name, await file.bytes(at + 8, 40));
    at += 8 + size + (size % 2);
  }
  return undefined;
}

function readChunk(known: Known, name: string, content: Buffer): void {
  if (name === 'fmt ' && content.length >= 16) known.format = formatOf(content);
  if (name === 'fact' && content.length >= 4) known.samples = content.readUInt32LE(0);
  if (name === 'ds64' && content.length >= 24) {
    known.dataSize = Number(content.readBigUInt64LE(8));
    known.samples = Number(content.readBigUInt64LE(16));
  }
}

function formatOf(content: Buffer): Format {
  const codec = content.readUInt16LE(0);
  const inner = codec === EXTENSIBLE && content.length >= 26 ? content.readUInt16LE(24) : codec;
  return {
    isPlain: plainCodecs.has(inner),
    rate: content.readUInt32LE(4),
    blockBytes: content.readUInt16LE(12),
  };
}

/** A recorder that was cut off leaves 0 or the largest size: then all that follows is audio. */
function dataBytes({ dataSize }: Known, size: number, rest: number): number {
  const named = size === UNKNOWN_SIZE ? (dataSize ?? 0) : size;
  return named > 0 ? Math.min(named, rest) : rest;
}

function secondsOfWav({ format, samples }: Known, bytes: number): number | undefined {
  if (!format?.rate) return undefined;
  if (format.isPlain) return format.blockBytes ? bytes / format.blockBytes / format.rate : undefined;
  return samples && samples !== UNKNOWN_SIZE ? samples / format.rate : undefined;
}

// MP4, M4A, MOV: boxes in boxes. `moov/mvhd` has the duration; a file in fragments may have it in `moov/mvex/mehd`.

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

// Ogg (Opus, Vorbis, FLAC, Speex): the first page names the codec, the last page the number of samples.

const PAGE_HEADER_BYTES = 27;
/** The end of a file that is searched for a last page; a page has at most 65,307 bytes. */
const TAIL_WINDOWS = 4;
const IS_FIRST_PAGE = 0x02;
const NO_POSITION = 0xffff_ffff_ffff_ffffn;
/** What one page can hold. A first page beyond it is cut from the middle of a stream, whose length is not known. */
const MAX_FIRST_PAGE_SECONDS = 60;

interface Codec {
  /** Positions per second. */
  readonly rate: number;
  /** Positions before the first sample that is played. */
  readonly skipped: number;
}

interface Page {
  readonly stream: number;
  /** The first page of its stream. */
  readonly isFirst: boolean;
  readonly position: bigint;
  readonly end: number;
}

export async function oggSeconds(file: FileWindow, start: number): Promise<number | undefined> {
  const bytes = await file.bytes(start, WINDOW_BYTES);
  const first = pageAt(bytes, 0);
  if (!first) return undefined;
  const codec = codecOf(bytes.subarray(PAGE_HEADER_BYTES + (bytes[26] ?? 0)));
  if (!codec?.rate || startsLate(bytes, first, codec)) return undefined;
  const last = await lastPage(file, first.stream);
  return last && (Number(last.position) - codec.skipped) / codec.rate;
}

function pageAt(bytes: Buffer, at: number): Page | undefined {
  if (at + PAGE_HEADER_BYTES > bytes.length || bytes.toString('latin1', at, at + 4) !== 'OggS')
    return undefined;
  const contentAt = at + PAGE_HEADER_BYTES + (bytes[at + 26] ?? 0);
  const length = bytes.subarray(at + PAGE_HEADER_BYTES, contentAt).reduce((sum, size) => sum + size, 0);
  return {
    stream: bytes.readUInt32LE(at + 14),
    isFirst: ((bytes[at + 5] ?? 0) & IS_FIRST_PAGE) !== 0,
    position: bytes.readBigUInt64LE(at + 6),
    end: contentAt + length,
  };
}

function codecOf(packet: Buffer): Codec | undefined {
  const head = packet.toString('latin1', 0, 8);
  if (packet.length < 40) return opusCodec(packet, head);
  if (head.startsWith('\x01vorbis')) return { rate: packet.readUInt32LE(12), skipped: 0 };
  if (head === 'Speex   ') return { rate: packet.readUInt32LE(36), skipped: 0 };
  if (head.startsWith('\x7fFLAC')) return { rate: packet.readUIntBE(27, 3) >> 4, skipped: 0 };
  return opusCodec(packet, head);
}

/** Opus counts in 48 kHz, whatever was recorded. */
const opusCodec = (packet: Buffer, head: string): Codec | undefined =>
  head === 'OpusHead' && packet.length >= 12 ? { rate: 48_000, skipped: packet.readUInt16LE(10) } : undefined;

/** Whether the first page with audio is not the beginning of the stream. */
function startsLate(bytes: Buffer, first: Page, { rate }: Codec): boolean {
  for (let page: Page | undefined = first; page; page = pageAt(bytes, page.end)) {
    if (page.stream !== first.stream || page.position === 0n || page.position === NO_POSITION) continue;
    return page.position > BigInt(MAX_FIRST_PAGE_SECONDS * rate);
  }
  return false;
}

/** Nothing where another stream follows: it has a clock of its own, so the whole is longer than the first says. */
async function lastPage(file: FileWindow, stream: number): Promise<Page | undefined> {
  // Windows overlap by a page header, which may stand across their edge.
  const step = WINDOW_BYTES - PAGE_HEADER_BYTES;
  for (let window = 0; window < TAIL_WINDOWS; window += 1) {
    const start = file.size - WINDOW_BYTES - window * step;
    const last = lastTelling(await file.bytes(Math.max(0, start), WINDOW_BYTES), stream);
    if (last) return last.stream === stream ? last : undefined;
    if (start <= 0) break;
  }
  return undefined;
}

/** The last page that has a position in the stream, or with which another stream begins. */
function lastTelling(bytes: Buffer, stream: number): Page | undefined {
  for (let at = lastMark(bytes, bytes.length); at >= 0; at = lastMark(bytes, at)) {
    const page = pageAt(bytes, at);
    const isOfStream = page?.stream === stream;
    if (isOfStream ? page.position !== NO_POSITION : page?.isFirst) return page;
  }
  return undefined;
}

const lastMark = (bytes: Buffer, before: number): number =>
  before > 0 ? bytes.lastIndexOf('OggS', before - 1) : -1;

/** Longer than any recording: a header that says so is wrong. */
const MAX_SECONDS = 30 * 86_400;

/** The seconds that a file plays; undefined where it does not say. Fails only where it can't be read. */
export async function durationIn(file: FileWindow): Promise<number | undefined> {
  const seconds = await secondsOf(file);
  return seconds !== undefined && seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

async function secondsOf(file: FileWindow): Promise<number | undefined> {
  const start = await audioStart(file);
  const head = (await file.bytes(start, 12)).toString('latin1');
  if (/^(?:RIFF|RF64|BW64)[\s\S]{4}WAVE/.test(head)) return wavSeconds(file, start);
  if (head.startsWith('fLaC')) return flacSeconds(file, start);
  if (head.startsWith('OggS')) return oggSeconds(file, start);
  if (/^[\s\S]{4}(?:ftyp|moov|mdat|free|skip|wide)/.test(head)) return mp4Seconds(file);
  return framedSeconds(file, start);
}
