/** Removes old events in short steps, between which other processes write and signals are heard. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Ledger } from '../../ledger/ledger.ts';
import { type PruneCounts, Pruning, profilesIn } from '../../ledger/prune.ts';
import { StenoError } from '../../lib/errors.ts';
import { noReport, type Report } from '../../lib/progress.ts';

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
    throw new StenoError('interrupted', 'interrupted: what was removed so far stays removed');
  await nextTurn();
}
