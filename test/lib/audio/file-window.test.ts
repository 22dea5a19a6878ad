/** A file is read once, though parts of it are looked at while it passes. */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { durationIn } from '../../../src/lib/audio/duration.ts';
import { FileWindow, WINDOW_BYTES } from '../../../src/lib/audio/frames.ts';
import { freshFolder } from '../../support/files.ts';

const path = join(freshFolder(), 'file');
const content = randomBytes(300_000);

/** A window, what it hands on, and how much it reads. */
async function opened(bytes: Buffer): Promise<{ window: FileWindow; passed: Buffer[]; read: () => number }> {
  writeFileSync(path, bytes);
  const file = await open(path);
  let count = 0;
  const counting = {
    read: async (...args: Parameters<FileHandle['read']>) => {
      const result = await file.read(...args);
      count += result.bytesRead;
      return result;
    },
  } as unknown as FileHandle;
  const passed: Buffer[] = [];
  const window = new FileWindow(counting, bytes.length, (part) => passed.push(Buffer.from(part)));
  return { window, passed, read: () => count };
}

it('hands on all of a file in order, wherever it is looked at', async () => {
  const looks = fc.array(fc.tuple(fc.nat(content.length + 10), fc.integer({ min: 1, max: WINDOW_BYTES })), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(looks, async (all) => {
      const { window, passed } = await opened(content);
      for (const [at, length] of all)
        expect((await window.bytes(at, length)).equals(content.subarray(at, at + length))).toBe(true);
      await window.passRest();
      expect(Buffer.concat(passed).equals(content)).toBe(true);
    }),
    { numRuns: 50 },
  );
});

it.each(['vbr-no-table.mp3', 'adts.aac', 'layer2.mp2'])('reads bare frames once: %s', async (name) => {
  const tone = readFileSync(`test/data/tone-${name}`);
  const long = Buffer.concat(Array.from({ length: Math.ceil(1e6 / tone.length) }, () => tone));
  const { window, passed, read } = await opened(long);
  expect(await durationIn(window)).toBeGreaterThan(2);
  await window.passRest();
  expect(Buffer.concat(passed).equals(long)).toBe(true);
  expect(read()).toBe(long.length);
});
