/** What is printed of many files that were waited for and downloaded. */
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nothingKnown } from '../../../src/flows/files/listed.ts';
import { waitedFiles } from '../../../src/flows/files/shown.ts';
import type { OrderJob, OrderResult } from '../../../src/flows/orders/order-flow.ts';
import { orderedFiles } from '../../../src/flows/orders/shown.ts';
import type { Saved } from '../../../src/flows/transcripts/save.ts';

const FILES = 300;
const ids = Array.from({ length: FILES }, (_, at) => String(at));
const formats = ['txt', 'srt'];

/** Two transcripts of each file, and how often they were asked which file they are of. */
function countedTranscripts(): { saved: Saved[]; reads: () => number } {
  let reads = 0;
  const saved = ids.flatMap((id) =>
    formats.map((ext) => ({
      get id() {
        reads += 1;
        return id;
      },
      ...{ ext, path: `${id}.${ext}`, bytes: 3, at: '2026-11-16T00:00:00.000Z' },
    })),
  );
  return { saved, reads: () => reads };
}

const waitedFor = (saved: readonly Saved[]) => ({
  outcomes: ids.map((what) => ({ what, file: undefined, error: undefined })),
  saved,
});

/** One order of a single audio for each file. */
function ordered(saved: readonly Saved[]): OrderResult {
  const planned = { audios: [], skus: ['TRANS14'], names: [], test: false, extra: [] };
  const placed = ids.map((id) => ({
    planned,
    order: { id: `o${id}`, audiofiles: [id], message: '', hold: undefined, json: null },
    files: { files: [{ id, position: undefined, known: false }], remark: undefined, problem: undefined },
    attempt: undefined,
  }));
  const outcomes = placed.map((value) => ({ what: value.order.id, value, planned }));
  return {
    ...{ placed, holdIsFailure: false },
    sent: { outcomes, held: [], notSent: [], unsent: 0, interrupted: false },
    waited: { ...waitedFor(saved), held: [] },
  };
}

async function all<Item>(pages: AsyncIterable<readonly Item[]>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const page of pages) found.push(...page);
  return found;
}

/** It waits, and nothing was left out. */
const job = {
  ...{ waits: true, means: { settings: { currency: 'USD' } }, plan: { leftOut: [], counted: [] } },
  run: { leftOut: [], overBudget: [] },
} as unknown as OrderJob;

describe.each([
  ['wait', (saved: readonly Saved[]) => waitedFiles(waitedFor(saved), nothingKnown, 'USD')],
  ['order', (saved: readonly Saved[]) => all(orderedFiles(job, ordered(saved)))],
])('what %s --download prints', (_, show) => {
  it('names the transcripts of each file', async () => {
    const shown = await show(countedTranscripts().saved);
    expect(shown.map(({ row, downloads }) => [row.id, downloads.map(({ path }) => path)])).toEqual(
      ids.map((id) => [id, formats.map((ext) => resolve(`${id}.${ext}`))]),
    );
  });

  it('is found by reading each transcript a few times, however many files there are', async () => {
    const { saved, reads } = countedTranscripts();
    await show(saved);
    expect(reads()).toBeLessThanOrEqual(4 * saved.length);
  });
});
