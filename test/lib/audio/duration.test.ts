/** How long audio plays: files of real encoders (2.5 s of a tone), files made here, and files that lie. */
import {
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { durationIn } from '../../../src/lib/audio/duration.ts';
import { FileWindow } from '../../../src/lib/audio/frames.ts';
import { freshFolder } from '../../support/files.ts';
import { runs } from '../../support/runs.ts';

const DATA = 'test/data';
const folder = freshFolder();
/** A tone of 2.5 s. */
const pathOf = (name: string): string => join(DATA, `tone-${name}`);
const data = (name: string): Buffer => readFileSync(pathOf(name));

async function audioDuration(path: string): Promise<number | undefined> {
  await using file = await open(path);
  return await durationIn(new FileWindow(file, (await file.stat()).size));
}

let files = 0;
async function durationOf(...parts: readonly Uint8Array[]): Promise<number | undefined> {
  files += 1;
  const path = join(folder, `file-${files}`);
  writeFileSync(path, Buffer.concat(parts));
  return audioDuration(path);
}

describe('a file of a real encoder', () => {
  // An encoder fills up its last frame and some add one in front, so frames may be longer than what was recorded.
  it.each([
    ['cbr-info.mp3', 2.5339],
    ['vbr-xing.mp3', 2.592],
    ['vbr-no-table.mp3', 2.592],
    ['mpeg25.mp3', 2.664],
    ['layer2.mp2', 2.52],
    ['adts.aac', 2.688],
    ['moov-first.m4a', 2.5],
    ['moov-last.m4a', 2.5],
    ['plain.flac', 2.5],
    ['in-ogg.oga', 2.5],
    ['opus.opus', 2.5],
    ['vorbis.ogg', 2.5],
    ['speex.spx', 2.495],
    ['adpcm.wav', 2.5513],
  ])('%s plays %d s', async (name, seconds) => {
    expect(await audioDuration(pathOf(name))).toBeCloseTo(seconds, 3);
  });

  it.each(['fragments.mp4', 'opus.webm'])('%s does not say it in a header that is read', async (name) => {
    expect(await audioDuration(pathOf(name))).toBeUndefined();
  });
});

const chunk = (name: string, content: Buffer, size = content.length): Buffer => {
  const head = Buffer.from(`${name}....`, 'latin1');
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, content, Buffer.alloc(content.length % 2)]);
};

/** One channel of 16 bits at 8,000 Hz. */
const pcmFormat = Buffer.from('0100 0100 401f0000 803e0000 0200 1000'.replaceAll(' ', ''), 'hex');
const wav = (...chunks: readonly Buffer[]): Buffer =>
  Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), ...chunks]);

describe('WAV', () => {
  const second = Buffer.alloc(16_000);

  it('plays as long as its samples, whatever stands before them', async () => {
    expect(await durationOf(wav(chunk('fmt ', pcmFormat), chunk('data', second)))).toBe(1);
    const list = chunk('LIST', Buffer.alloc(333));
    expect(await durationOf(wav(list, chunk('fmt ', pcmFormat), list, chunk('data', second), list))).toBe(1);
  });

  it('counts what is there where the recorder was cut off or wrote to a pipe', async () => {
    for (const size of [0, 0xffff_ffff, 99_999_999])
      expect(await durationOf(wav(chunk('fmt ', pcmFormat), chunk('data', second, size)))).toBe(1);
  });

  it('takes a size beyond 4 GB from ds64', async () => {
    const ds64 = Buffer.alloc(28);
    ds64.writeBigUInt64LE(8_000n, 8);
    const bytes = wav(chunk('ds64', ds64), chunk('fmt ', pcmFormat), chunk('data', second, 0xffff_ffff));
    bytes.write('RF64', 'latin1');
    expect(await durationOf(bytes)).toBe(0.5);
  });

  it('is unknown without a format, without samples, or with a codec that does not tell them', async () => {
    expect(await durationOf(wav(chunk('data', second)))).toBeUndefined();
    expect(await durationOf(wav(chunk('fmt ', pcmFormat)))).toBeUndefined();
    expect(await durationOf(wav(chunk('fmt ', pcmFormat), chunk('data', Buffer.alloc(0))))).toBeUndefined();
    const gsm = Buffer.from(pcmFormat);
    gsm.writeUInt16LE(0x31, 0);
    expect(await durationOf(wav(chunk('fmt ', gsm), chunk('data', second)))).toBeUndefined();
    expect(await durationOf(wav(chunk('fmt ', Buffer.alloc(16)), chunk('data', second)))).toBeUndefined();
  });
});

/** An ID3 tag of this many bytes of padding. */
const id3 = (bytes: number): Buffer => {
  const head = Buffer.from('ID3\x04\0\0', 'latin1');
  const size = Buffer.from([bytes >> 21, (bytes >> 14) & 127, (bytes >> 7) & 127, bytes & 127]);
  return Buffer.concat([head, size, Buffer.alloc(bytes, 0xff)]);
};

describe('mp3', () => {
  const table = data('cbr-info.mp3');
  const bare = data('vbr-no-table.mp3');
  const seconds = 2.592;

  it('is found behind tags, and a tag behind it does not count', async () => {
    expect(await durationOf(id3(300_000), id3(12), bare)).toBeCloseTo(seconds, 3);
    expect(await durationOf(id3(300_000), table)).toBeCloseTo(2.5339, 3);
    const old = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125, 0x20)]);
    expect(await durationOf(bare, old)).toBeCloseTo(seconds, 3);
    expect(await durationOf(table, old)).toBeCloseTo(2.5339, 3);
  });

  it('does not believe a table that does not fit the file: an advertisement was joined to it', async () => {
    const joined = await durationOf(table, ...Array.from({ length: 8 }, () => table));
    // Each further table is a frame of its own.
    expect(joined).toBeCloseTo(9 * 2.5339 + 8 * (1152 / 44_100), 2);
    expect(await durationOf(table.subarray(0, table.length / 2))).toBeLessThan(1.4);
  });

  it('counts each frame at its own rate, also behind junk and tags in between', async () => {
    const junk = Buffer.alloc(100, 0x41);
    expect(await durationOf(bare, junk, bare, id3(5_000), bare)).toBeCloseTo(3 * seconds, 2);
    expect(await durationOf(bare, data('layer2.mp2'))).toBeCloseTo(seconds + 2.52, 2);
  });

  it('counts files that are longer than one read', async () => {
    const copies = Array.from({ length: 200 }, () => bare);
    expect(await durationOf(...copies)).toBeCloseTo(200 * seconds, 2);
  });

  it('is unknown where much of it is no audio', async () => {
    expect(await durationOf(bare, Buffer.alloc(bare.length, 0x41), bare)).toBeUndefined();
  });

  it('leaves out a last frame that was cut off', async () => {
    expect(await durationOf(bare.subarray(0, -1))).toBeCloseTo(seconds - 576 / 16_000, 3);
  });
});

describe('Ogg', () => {
  it('is unknown where streams follow each other: each has a clock of its own', async () => {
    const second = data('vorbis.ogg');
    for (let at = 0; at >= 0; at = second.indexOf('OggS', at + 1)) second.writeUInt32LE(77, at + 14);
    expect(await durationOf(second)).toBe(2.5);
    expect(await durationOf(data('opus.opus'), second)).toBeUndefined();
    const long = Array.from({ length: 60 }, () => second.subarray(second.indexOf('OggS', 1)));
    expect(await durationOf(data('opus.opus'), second, ...long)).toBeUndefined();
  });

  it('is unknown where it was cut from the middle of a stream', async () => {
    const bytes = data('vorbis.ogg');
    for (let at = bytes.indexOf('OggS'); at >= 0; at = bytes.indexOf('OggS', at + 1)) {
      const position = bytes.readBigUInt64LE(at + 6);
      if (position > 0n) bytes.writeBigUInt64LE(position + 10n ** 8n, at + 6);
    }
    expect(await durationOf(bytes)).toBeUndefined();
  });
});

describe('MP4', () => {
  const bytes = data('moov-first.m4a');
  const mvhd = bytes.indexOf('mvhd') + 4;

  it('is unknown where its header says 0, or that it does not know', async () => {
    for (const value of [0, 0xffff_ffff]) {
      const changed = Buffer.from(bytes);
      changed.writeUInt32BE(48_000, mvhd + 12);
      changed.writeUInt32BE(value, mvhd + 16);
      expect(await durationOf(changed)).toBeUndefined();
    }
  });

  it('is unknown where its clock stands still', async () => {
    const changed = Buffer.from(bytes);
    changed.writeUInt32BE(0, mvhd + 12);
    expect(await durationOf(changed)).toBeUndefined();
  });

  it('is read with sizes of 64 bits', async () => {
    const free = Buffer.alloc(24);
    free.writeUInt32BE(1, 0);
    free.write('free', 4, 'latin1');
    free.writeBigUInt64BE(24n, 8);
    const ftyp = bytes.readUInt32BE(0);
    expect(await durationOf(bytes.subarray(0, ftyp), free, bytes.subarray(ftyp))).toBe(2.5);
  });
});

describe('FLAC', () => {
  it('is unknown where its encoder did not know how many samples would come', async () => {
    const bytes = data('plain.flac');
    bytes.fill(0, 22, 26);
    bytes[21] = (bytes[21] as number) & 0xf0;
    expect(await durationOf(bytes)).toBeUndefined();
  });
});

describe('what is no audio', () => {
  it.each([
    ['nothing', Buffer.alloc(0)],
    ['a byte', Buffer.from([0xff])],
    ['text', Buffer.from('https://example.com/talk.mp3\n'.repeat(500))],
    ['zeros', Buffer.alloc(200_000)],
    ['ones', Buffer.alloc(200_000, 0xff)],
    ['half of the ones', Buffer.alloc(200_000, Buffer.from([0xff, 0xfb]))],
    ['a tag alone', id3(70_000)],
    ['a program', readFileSync(process.execPath).subarray(0, 300_000)],
  ])('%s has no duration', async (_, bytes) => {
    expect(await durationOf(bytes)).toBeUndefined();
  });

  it('a folder has no duration', async () => {
    const path = join(folder, 'folder');
    mkdirSync(path);
    expect(await audioDuration(path).catch((error: NodeJS.ErrnoException) => error.code)).toSatisfy(
      (outcome) => outcome === undefined || outcome === 'EISDIR',
    );
  });

  it('a file that is not there is an error, not a file of unknown length', async () => {
    await expect(audioDuration(join(folder, 'missing'))).rejects.toThrow('ENOENT');
  });
});

const names = readdirSync(DATA).flatMap((name) => /^tone-(.*)$/.exec(name)?.[1] ?? []);
const isDuration = (seconds: number | undefined): boolean =>
  seconds === undefined || (Number.isFinite(seconds) && seconds > 0 && seconds <= 30 * 86_400);

describe('a file that is damaged', () => {
  it('gives a duration or none, wherever it was cut off, and never more than the whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.double({ min: 0, max: 1, noNaN: true }),
        async (name, share) => {
          const bytes = data(name);
          const seconds = await durationOf(bytes.subarray(0, Math.floor(bytes.length * share)));
          expect(seconds ?? 0).toBeLessThanOrEqual(3);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('gives a duration or none, whatever bytes were changed', async () => {
    const change = fc.record({ at: fc.nat(400), byte: fc.constantFrom(0, 1, 0x7f, 0x80, 0xfe, 0xff) });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.array(change, { maxLength: 12 }),
        async (name, changes) => {
          const bytes = data(name);
          for (const { at, byte } of changes) bytes[at] = byte;
          expect(await durationOf(bytes)).toSatisfy(isDuration);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('gives none for random bytes behind the mark of any kind', async () => {
    const marks = names.map((name) => data(name).subarray(0, 12));
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...marks), fc.uint8Array({ maxLength: 3_000 }), async (mark, rest) => {
        expect(await durationOf(mark, rest)).toSatisfy(isDuration);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe('a file that leads its reader from place to place', () => {
  /** Eight gigabytes on no disk: the beginning, then a hole. */
  const huge = (name: string, start: Buffer): string => {
    const path = join(folder, name);
    const file = openSync(path, 'w');
    writeSync(file, start);
    truncateSync(path, 8 * 2 ** 30);
    return path;
  };

  it.each([
    [
      'boxes of 8 bytes',
      Buffer.concat(Array.from({ length: 50_000 }, () => Buffer.from('\0\0\0\x08free', 'latin1'))),
    ],
    ['a hole behind frames', data('vbr-no-table.mp3')],
    ['a hole behind a page', data('opus.opus')],
    ['chunks without content', wav(...Array.from({ length: 50_000 }, () => chunk('LIST', Buffer.alloc(0))))],
    ['a box that says 8 GB', Buffer.from('\0\0\0\x01mdat\0\0\0\x01\xff\xff\xff\xf0', 'latin1')],
  ])('%s: it ends, and the length is unknown', async (name, start) => {
    expect(await audioDuration(huge(name, start))).toBeUndefined();
  });

  it('tags without content, each of which costs a read: it ends, and the length is unknown', async () => {
    const tags = Buffer.concat(Array.from({ length: 30_000 }, () => id3(0)));
    expect(await durationOf(data('vbr-no-table.mp3'), tags)).toBeUndefined();
  });
});
