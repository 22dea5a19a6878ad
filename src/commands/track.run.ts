import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { raiseFailures } from '../flows/bulk.ts';
import { withOrderHints } from '../flows/files/ids.ts';
import { trackedFiles, trackFiles } from '../flows/files/shown.ts';
import { givenIds } from '../flows/orders/manifest.ts';
import { goOnHint } from '../lib/go-on-line.ts';
import { untilInterrupted } from '../lib/interruption.ts';
import { LatestProgress } from '../lib/progress.ts';
import { plural } from '../lib/text.ts';
import { whileWorking } from '../ui/progress.ts';
import { askedView } from '../views/files.ts';

interface TrackOptions {
  readonly from: string | undefined;
}

export async function run(context: Context, { args, options, line }: Input<TrackOptions>): Promise<void> {
  const { out } = context;
  const ids = await givenIds('track', args, options.from, context.stdin);
  const ledger = await context.requireLedger('track writes to the ledger');
  const form = { forPeople: out.forPeople, currency: context.settings.currency };
  if (ids.length === 0) return out.show(askedView([], true, form));
  const transport = await context.connect();
  const latest = new LatestProgress();
  const summary = () => ({
    done: `${latest.done} of ${plural(ids.length, 'file')} are in the ledger`,
    hint: goOnHint('the rest with', line),
  });
  const outcomes = await untilInterrupted(context.signal, summary, () =>
    whileWorking(out, 'Asking', (report) => trackFiles(transport, ledger, ids, latest.through(report))),
  );
  const tracked = outcomes.flatMap(({ what, error }) => (error ? [] : [what]));
  if (tracked.length) out.addDone(`taken into the ledger: audiofile ${tracked.join(', ')}`);
  const several = args.length > 1 || options.from !== undefined;
  if (several || !outcomes[0]?.error)
    await out.show(askedView(trackedFiles(outcomes, form.currency), several, form));
  raiseFailures(await withOrderHints(outcomes, ledger));
}
