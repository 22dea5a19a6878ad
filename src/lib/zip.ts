import { crc32 } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly data: Buffer;
}

const HEADER = 0x04034b50;
const DIRECTORY = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const UTF8_NAME = 0x0800;
const STORED = 0;
const FIRST_OF_JANUARY_1980 = 0x0021;

/** A zip archive with stored entries and a fixed date, so that the bytes are the same on every machine. */
export function zip(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data } of entries) {
    const path = Buffer.from(name);
    const about = description(path, data);
    const file = Buffer.concat([u32(HEADER), about, path, data]);
    const attributes = Buffer.concat([u16(0, 0, 0), u32(0, offset)]);
    directory.push(u32(DIRECTORY), u16(VERSION), about, attributes, path);
    files.push(file);
    offset += file.length;
  }
  const listing = Buffer.concat(directory);
  const tail = [u32(END), u16(0, 0, entries.length, entries.length), u32(listing.length, offset), u16(0)];
  return Buffer.concat([...files, listing, ...tail]);
}

/** The part that an entry's header and its directory record have in common. */
function description(path: Buffer, data: Buffer): Buffer {
  return Buffer.concat([
    u16(VERSION, UTF8_NAME, STORED, 0, FIRST_OF_JANUARY_1980),
    u32(crc32(data), data.length, data.length),
    u16(path.length, 0),
  ]);
}

function u16(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16LE(value, index * 2);
  return bytes;
}

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, index * 4);
  return bytes;
}
