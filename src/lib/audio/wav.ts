/** WAV: chunks, of which `fmt ` has the rate and `data` the samples. RF64 and BW64 are WAV beyond 4 GB. */
import type { FileWindow } from './file-window.ts';

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
    if (name === 'data') return secondsOf(known, dataBytes(known, size, file.size - at - 8));
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

function secondsOf({ format, samples }: Known, bytes: number): number | undefined {
  if (!format?.rate) return undefined;
  if (format.isPlain) return format.blockBytes ? bytes / format.blockBytes / format.rate : undefined;
  return samples && samples !== UNKNOWN_SIZE ? samples / format.rate : undefined;
}
