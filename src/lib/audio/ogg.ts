/** Ogg (Opus, Vorbis, FLAC, Speex): the first page names the codec, the last page the number of samples. */
import { type FileWindow, WINDOW_BYTES } from './file-window.ts';

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
