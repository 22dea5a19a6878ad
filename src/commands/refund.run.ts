import { getFile } from '../api/files.ts';
import { checkTestFile } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { changedFiles } from '../flows/files/shown.ts';
import { givenIds } from '../flows/orders/manifest.ts';
import { planAll, raiseUnchanged, sendChanges } from '../flows/orders/money-calls.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { goOnHint } from '../lib/go-on-line.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { askPerson } from '../ui/prompt.ts';
import { fileInQuestion, filesInQuestion } from '../views/file-in-question.ts';
import { changedView } from '../views/ledger-files.ts';

interface RefundOptions {
  readonly from: string | undefined;
  readonly yes: boolean;
  readonly test: boolean;
  readonly again: boolean;
}

export async function run(context: Context, { args, options, line }: Input<RefundOptions>): Promise<void> {
  const { out, settings, signal, globals } = context;
  const { test, again, from, yes } = options;
  const ids = await givenIds('refund', args, from, context.stdin);
  if (test) ids.forEach(checkTestFile);
  // The list has taken what a person could answer.
  if (!yes && (!context.stdin.isTTY || from === '-'))
    throw usage('refund requires --yes where there is no terminal to ask on', goOnHint('run', line, '--yes'));
  const several = args.length > 1 || from !== undefined;
  if (ids.length === 0) return out.show(changedView([], several));
  const ledger = await context.moneyLedger({ what: 'this refund', again, test, isFree: true });
  const transport = await context.connect();
  const plan = await planAll(ids, { kind: 'refund', skus: [], test }, { ledger, again });
  if (
    !yes &&
    plan.ready.length &&
    !(await isConfirmed(
      context,
      plan.ready.map(({ id }) => id),
    ))
  )
    throw new StenoError('failed', 'not refunded: the question was not answered with yes');
  const keyMark = await context.keyMark(ledger, true);
  const onLedgerError = (error: unknown) =>
    out.warnOf('the ledger could not record the outcome of the refund', error);
  const pauseLimitMs = () => globals.timeout ?? Number.POSITIVE_INFINITY;
  const sent = await whileWorking(out, ids.length > 1 ? 'Refunding' : `Refunding: ${WAITING}`, (report) =>
    sendChanges(plan, { transport, ledger, keyMark, again, onLedgerError, signal, pauseLimitMs, report }),
  );
  for (const { what, error } of sent.outcomes) if (!error) out.addDone(`audiofile ${what} is refunded`);
  const known = out.mode.json ? ledger : undefined;
  if (several || !sent.outcomes[0]?.error)
    await out.show(changedView(await changedFiles(known, sent.outcomes, settings.currency), several));
  raiseUnchanged(sent, 'refunded');
}

/** How long the question waits for what the service knows of the file. */
const LOOK_LIMIT_MS = 5_000;

async function isConfirmed(context: Context, ids: readonly string[]): Promise<boolean> {
  const [id = '', ...more] = ids;
  const what = more.length
    ? filesInQuestion(ids)
    : await whileWorking(context.out, 'Asking', () => describe(context, id));
  return askPerson(context, (questions) => questions.confirm(`Refund ${what}?`));
}

/** The file as far as it is known: it is asked about all the same where the service does not tell. */
async function describe(context: Context, id: string): Promise<string> {
  const { signal, settings } = context;
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(LOOK_LIMIT_MS)]);
    const file = await getFile(await context.connect({ signal: limited }), id);
    return fileInQuestion(file, settings.currency);
  } catch (error) {
    if (signal.aborted) throw error;
    return `audiofile ${id}`;
  }
}
