/** The header of one frame of MPEG audio (mp3, mp2) or of AAC in ADTS: how long the frame is, in bytes and samples. */

export interface Frame {
  readonly bytes: number;
  readonly samples: number;
  readonly rate: number;
  /** Where a Xing header would stand in it; undefined where the format has none. */
  readonly xingAt: number | undefined;
}

/** The longest header of these. */
export const FRAME_HEADER_BYTES = 6;

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
export function frameAt(bytes: Buffer, at: number): Frame | undefined {
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
