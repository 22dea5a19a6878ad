import { getFile } from '../api/files.ts';
import { checkId } from '../api/ids.ts';
import { checkTestFile } from '../catalog/check.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { changedFile } from '../flows/files/shown.ts';
import { refundOnce } from '../flows/orders/money-calls.ts';
import { StenoError, usage } from '../lib/errors.ts';
import { shellWord } from '../lib/shell-word.ts';
import { WAITING, whileWorking } from '../ui/progress.ts';
import { askPerson } from '../ui/prompt.ts';
import { fileInQuestion } from '../views/file-in-question.ts';
import { changedView } from '../views/ledger-files.ts';

interface RefundOptions {
  readonly yes: boolean;
  readonly test: boolean;
  readonly again: boolean;
}

export async function run(
  context: Context,
  { args: [id = ''], options }: Input<RefundOptions>,
): Promise<void> {
  checkId(id);
  const { test, again } = options;
  if (test) checkTestFile(id);
  if (!options.yes && !context.stdin.isTTY) {
    throw usage(
      'refund requires --yes where there is no terminal to ask on',
      `run: steno refund ${shellWord(id)} --yes${test ? ' --test' : ''}`,
    );
  }
  const ledger = await context.moneyLedger({ what: 'this refund', again, test, isFree: true });
  const transport = await context.connect();
  if (!options.yes && !(await isConfirmed(context, id)))
    throw new StenoError('failed', 'not refunded: the question was not answered with yes');
  const keyMark = await context.keyMark(ledger, true);
  const onLedgerError = (error: unknown) =>
    context.out.warnOf('the ledger could not record the outcome of the refund', error);
  const done = await whileWorking(context.out, `Refunding: ${WAITING}`, () =>
    refundOnce(id, test, { transport, ledger, keyMark, again, onLedgerError }),
  );
  context.out.addDone(`audiofile ${id} is refunded`);
  const known = context.out.mode.json ? ledger : undefined;
  await context.out.show(changedView(await changedFile(known, done, context.settings.currency)));
  if (context.signal.aborted)
    throw new StenoError('interrupted', `interrupted, but audiofile ${id} is refunded`);
}

/** How long the question waits for what the service knows of the file. */
const LOOK_LIMIT_MS = 5_000;

async function isConfirmed(context: Context, id: string): Promise<boolean> {
  const what = await whileWorking(context.out, 'Asking', () => describe(context, id));
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
