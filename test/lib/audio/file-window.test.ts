/** Parts of a file, wherever they are looked at. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FileWindow, WINDOW_BYTES } from '../../../src/lib/audio/frames.ts';
import { freshFolder } from '../../support/files.ts';

it('gives the bytes of any part of a file, in any order', async () => {
  const path = join(freshFolder(), 'file');
  const content = randomBytes(300_000);
  writeFileSync(path, content);
  const looks = fc.array(fc.tuple(fc.nat(content.length + 10), fc.integer({ min: 1, max: WINDOW_BYTES })), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(looks, async (all) => {
      const file = await open(path);
      const window = new FileWindow(file, content.length);
      for (const [at, length] of all)
        expect((await window.bytes(at, length)).equals(content.subarray(at, at + length))).toBe(true);
      await file.close();
    }),
    { numRuns: 50 },
  );
});
