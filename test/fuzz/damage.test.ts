/** A ledger whose file was cut off or changed: what can be read is an export, and nothing else happens. */
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { salvageFile } from '../../src/ledger/dump/export.ts';
import { importLines } from '../../src/ledger/dump/import.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { StenoError } from '../../src/lib/errors.ts';
import { freshFolder } from '../support/files.ts';
import { content, fill, linesOf, sourceOf } from '../support/random-ledger.ts';
import { runs } from '../support/runs.ts';

const asItIs = (text: string): string => text;
const folder = freshFolder();
const whole = join(folder, 'whole.db');

/** Rows of an export, as JSON texts. */
const rowsOf = (lines: string): string[] => lines.split('\n').filter((line) => line.startsWith('{"table"'));

async function salvaged(path: string): Promise<string> {
  let lines = '';
  for await (const some of salvageFile(path, asItIs, () => {})) lines += some;
  return lines;
}

describe('a ledger', () => {
  let rows: string[];
  beforeAll(async () => {
    const ledger = await openLedger(whole, 'default', asItIs);
    for (const given of fc.sample(content, { seed: 7, numRuns: 30 })) await fill(whole, given);
    rows = rowsOf(await linesOf(ledger));
    await ledger.close();
  });

  it('that is whole is salvaged as it is exported', async () => {
    expect(new Set(rowsOf(await salvaged(whole)))).toEqual(new Set(rows));
  });

  it('of which one byte was changed gives most of its rows, at most places', async () => {
    const path = join(folder, 'changed.db');
    const bytes = readFileSync(whole);
    const places = Array.from({ length: 12 }, (_, at) => Math.floor(((at + 0.5) / 12) * bytes.length));
    const counts: number[] = [];
    for (const at of places) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 0x5a;
      writeFileSync(path, changed);
      const lines = await salvaged(path).catch(() => '');
      counts.push(rowsOf(lines).length);
    }
    const most = counts.filter((count) => count > rows.length / 2);
    expect(most.length, counts.join()).toBeGreaterThanOrEqual(8);
  });

  // Not a double: most of those are so small that they mean the first byte.
  const place = fc.nat(99_999).map((at) => at / 100_000);
  const damage = fc.record({
    cut: fc.option(place, { freq: 3 }),
    changes: fc.array(fc.tuple(place, fc.nat(255), fc.constantFrom(1, 8, 512, 4096)), { maxLength: 3 }),
  });

  it('that was cut off or changed anywhere gives an export that can be imported, or says that it can not be read', async () => {
    const [path, target] = [join(folder, 'damaged.db'), join(folder, 'target.db')];
    const empty = await openLedger(target, 'default', asItIs);
    await empty.close();
    await fc.assert(
      fc.asyncProperty(damage, async ({ cut, changes }) => {
        const bytes = readFileSync(whole);
        for (const [at, byte, length] of changes) {
          const from = Math.floor(at * bytes.length);
          bytes.fill(byte, from, Math.min(bytes.length, from + length));
        }
        writeFileSync(path, cut === null ? bytes : bytes.subarray(0, Math.floor(cut * bytes.length)));
        const lines = await salvaged(path).catch((error: unknown) => {
          expect(error).toBeInstanceOf(StenoError);
          return undefined;
        });
        if (lines === undefined) return;
        for (const line of lines.split('\n').filter(Boolean)) JSON.parse(line);
        const copy = join(folder, 'copy.db');
        copyFileSync(target, copy);
        const ledger = await openLedger(copy, 'default', asItIs);
        const options = { signal: new AbortController().signal };
        const counts = await importLines(ledger, sourceOf(lines), options).finally(() => ledger.close());
        const read = counts.map((each) => each.new + each.updated + each.known + each.orphaned);
        expect(read.reduce((sum, each) => sum + each, 0)).toBe(rowsOf(lines).length);
      }),
      { numRuns: runs(12) },
    );
  });
});
