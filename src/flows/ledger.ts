/** What people do with the ledger itself: remove old events, and write an export to a file. */
import { lstatSync, type Stats } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ledger } from '../ledger/ledger.ts';
import { type PruneCounts, Pruning, profilesIn } from '../ledger/prune.ts';
import { StenoError } from '../lib/errors.ts';
import { noReport, type Report } from '../lib/progress.ts';
import { cantWrite, disk, nameUnlessExists, writeFileAtomic } from '../lib/whole-file.ts';

const none: PruneCounts = { events: 0, actions: 0, runs: 0, kept: 0 };

const sum = (one: PruneCounts, other: PruneCounts): PruneCounts => ({
  events: one.events + other.events,
  actions: one.actions + other.actions,
  runs: one.runs + other.runs,
  kept: one.kept + other.kept,
});

export async function prunings(ledger: Ledger, allProfiles: boolean): Promise<Pruning[]> {
  if (!allProfiles) return [new Pruning(ledger)];
  return (await profilesIn(ledger)).map((profile) => new Pruning(ledger, profile));
}

export async function countPrunable(all: readonly Pruning[], before: string): Promise<PruneCounts> {
  let counts = none;
  for (const pruning of all) counts = sum(counts, await pruning.count(before));
  return counts;
}

/** In short steps, between which other processes write and signals are heard. */
export async function pruneLedger(
  ledger: Ledger,
  all: readonly Pruning[],
  before: string,
  { signal, report = noReport }: { readonly signal: AbortSignal; readonly report?: Report },
): Promise<PruneCounts> {
  let removed = none;
  for (const pruning of all) {
    for await (const step of pruning.removeEvents(before, { whole: true })) {
      removed = sum(removed, step);
      report({ done: removed.events, unit: 'event' });
      await pause(signal);
    }
    removed = sum(removed, { ...none, runs: await pruning.removeRuns(before) });
  }
  for await (const _ of new Pruning(ledger).shrink()) await pause(signal);
  return removed;
}

async function pause(signal: AbortSignal): Promise<void> {
  if (signal.aborted)
    throw new StenoError('interrupted', 'interrupted: what was removed so far is gone for good');
  await nextTurn();
}

/** Throws where something has this name, also a link that leads nowhere. */
export function checkIsFree(path: string): void {
  const found = whatIsAt(path);
  // No flag replaces a folder.
  if (found?.isDirectory()) throw cantWrite(path, 'it is a folder');
  if (found) throw existsError(path);
}

/** Where that can't be told, writing says why. */
function whatIsAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const existsError = (path: string): StenoError =>
  new StenoError('failed', `${path} already exists`, { hint: 'replace it with --force' });

/**
 * Writes an export or a report to a file: beside it first, so that it is never half of one. An earlier one is replaced
 * only where that is asked for: it may be all that is left of a ledger.
 */
export async function writeExport(
  path: string,
  lines: AsyncIterable<string>,
  force: boolean,
  report: Report = noReport,
): Promise<void> {
  let bytes = 0;
  await writeFileAtomic(
    path,
    async (write) => {
      for await (const some of lines) {
        const chunk = Buffer.from(some);
        await write(chunk);
        bytes += chunk.length;
        report({ bytes });
      }
    },
    {
      mode: 0o600,
      name: async (draft) => {
        if (force) await disk.rename(draft, path);
        // A file that came meanwhile stays.
        else if ((await nameUnlessExists(draft, path)) === 'exists') throw existsError(path);
      },
    },
  );
}
