import { createReadStream } from 'node:fs';
import { addAbortSignal } from 'node:stream';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { countPrunable, pruneLedger as prune, prunings } from '../flows/ledger/prune.ts';
import { checkIsFree, writeExport } from '../flows/ledger/write-export.ts';
import type { Salvaged } from '../ledger/dump/salvage.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { errorCode, errorMessage, StenoError, usage } from '../lib/errors.ts';
import { parseSince } from '../lib/since.ts';
import { moveLeftJournalsInto } from '../listen/left-journals.ts';
import { askPerson } from '../ui/prompt.ts';
import { whileSpinning } from '../ui/spinner.ts';
import { importedView, prunedView } from '../views/ledger.ts';

interface ExportOptions {
  readonly output: string | undefined;
  readonly allProfiles: boolean;
  readonly damaged: boolean;
  readonly force: boolean;
}

export async function exportLedger(context: Context, { options }: Input<ExportOptions>): Promise<void> {
  const { out } = context;
  const { output, allProfiles, damaged, force } = options;
  const file = output === '-' ? undefined : output;
  if (file !== undefined && !force) checkIsFree(file);
  const salvaged: Salvaged[] = [];
  const lines = damaged
    ? await context.salvageLedger((table) => salvaged.push(table))
    : (await openWhole(context, 'ledger export reads the ledger')).exportLines(allProfiles);
  if (file === undefined) await out.writeLines(lines);
  else {
    await whileSpinning(out, 'Exporting', () => writeExport(file, lines, force));
    out.note(`written to ${file}`);
  }
  const incomplete = salvaged.filter((table) => table.incomplete).map(({ table }) => table);
  if (incomplete.length) await out.warn(`some rows could not be read: of ${incomplete.join(', ')}`);
  else if (damaged) out.note('every row could be read');
}

/** The ledger with the events that ended listeners left on their way: after a prune they would come back. */
async function openWhole(context: Context, use: string): Promise<Ledger> {
  const ledger = await context.requireLedger(use);
  if (!context.hasJournals) return ledger;
  const { out, signal } = context;
  const onWarning = (text: string): void => void out.warn(text);
  await moveLeftJournalsInto(ledger, { journals: await context.journals(), signal, onWarning });
  return ledger;
}

export async function importLedger(context: Context, { args: [file = ''] }: Input): Promise<void> {
  const { out, signal } = context;
  // What comes from a pipe may take for ever.
  const source = addAbortSignal(signal, file === '-' ? context.stdin : createReadStream(file));
  const ledger = await context.requireLedger('ledger import writes to the ledger');
  const counts = await whileSpinning(out, 'Importing', () =>
    ledger.importLines(source, { signal }).catch((error) => {
      if (signal.aborted) throw new StenoError('interrupted', 'interrupted: nothing was imported');
      throw errorCode(error) ? usage(`can't read ${file}: ${errorMessage(error)}`) : error;
    }),
  );
  await out.show(importedView(counts));
  const orphaned = counts.reduce((sum, each) => sum + each.orphaned, 0);
  if (orphaned) await out.warn(`${orphaned} rows were left out: what they belong to was lost`);
}

interface PruneOptions {
  readonly before: string | undefined;
  readonly allProfiles: boolean;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

export async function pruneLedger(context: Context, { options }: Input<PruneOptions>): Promise<void> {
  const { out, signal } = context;
  const { before, allProfiles, dryRun, yes } = options;
  if (before === undefined) throw usage('ledger prune requires --before', 'for example: --before 90d');
  const time = parseSince(before, Date.now());
  if (!yes && !dryRun && !context.stdin.isTTY)
    throw usage(
      'ledger prune requires --yes where there is no terminal to ask on',
      `run: steno ledger prune --before ${before} --yes`,
    );
  const ledger = await openWhole(context, 'ledger prune works on the ledger');
  const all = await prunings(ledger, allProfiles);
  if (dryRun) return out.show(prunedView(await countPrunable(all, time)));
  if (!yes) {
    const { events } = await countPrunable(all, time);
    const question = `Remove ${events} events from before ${time} for good?`;
    if (!(await askPerson(context, (questions) => questions.confirm(question))))
      throw new StenoError('failed', 'nothing was removed: the question was not answered with yes');
  }
  const pruned = await whileSpinning(out, 'Removing', () => prune(ledger, all, time, signal));
  await out.show(prunedView(pruned));
  if (pruned.staysLarge) out.note('the room is used again; the file gets smaller once no listener runs');
}
