/** Upgrades or refunds several files, one after the other, each a purchase of its own. */
import type { FileChange } from '../../api/files.ts';
import { prepareForOrders } from '../../ledger/accounts.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { BulkError, StenoError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import { failures, kindOf, type Outcome, values } from '../bulk.ts';
import type { OrderCosts } from './cost.ts';
import {
  asOrder,
  type Change,
  changeOnce,
  heldChanges,
  type MoneyCallOptions,
  type PlannedChange,
  planChanges,
} from './money-calls.ts';
import { Pacer, type SendingOptions } from './sending.ts';

export interface ChangePlan {
  readonly ids: readonly string[];
  readonly ready: readonly PlannedChange[];
  /** What an earlier upgrade or refund holds up, by file. */
  readonly held: ReadonlyMap<string, StenoError>;
}

/** Throws where the budgets do not cover all of them together. */
export async function planAll(
  ids: readonly string[],
  change: Change,
  { ledger, again, costs }: { ledger: Ledger | undefined; again: boolean; costs?: OrderCosts },
): Promise<ChangePlan> {
  const planned = await planChanges(ids, change, ledger);
  const held = again ? new Map<string, StenoError>() : await heldChanges(planned, ledger);
  const ready = planned.filter(({ id }) => !held.has(id));
  costs?.check(ready.map(({ purchase }) => asOrder(purchase)));
  return { ids, ready, held };
}

export interface SentChanges {
  /** One for each file, in the order given. */
  readonly outcomes: readonly Outcome<FileChange>[];
  readonly notSent: readonly string[];
  /** Why they were not. */
  readonly because: string;
  readonly interrupted: boolean;
}

/** A refused one does not stop the next; one without a clear answer does. */
export async function sendChanges(
  { ids, ready, held }: ChangePlan,
  options: MoneyCallOptions & Pick<SendingOptions, 'signal' | 'pauseLimitMs' | 'report'>,
): Promise<SentChanges> {
  const { signal, report, ledger, keyMark } = options;
  const sent = new Map<string, Outcome<FileChange>>();
  const pacer = new Pacer(options, 'file');
  let because: string | undefined;
  let failed = 0;
  if (ledger) await prepareForOrders(ledger, false, keyMark);
  for (const [at, each] of ready.entries()) {
    // What a single call shows is how long it takes.
    if (ready.length > 1) report({ done: at, of: ready.length, unit: 'file', failed });
    const outcome = signal.aborted ? undefined : await outcomeOf(each, options);
    // It was interrupted before it was sent.
    if (!outcome || outcome.error?.kind === 'interrupted') break;
    sent.set(each.id, outcome);
    if (outcome.error) failed += 1;
    because = await pacer.after(outcome.error, ready.length - at - 1);
    if (because) break;
  }
  const why = because ?? 'of the interruption';
  const notSent = ready.flatMap(({ id }) => (sent.has(id) ? [] : [id]));
  const outcomeFor = (id: string): Outcome<FileChange> =>
    sent.get(id) ?? {
      what: id,
      error: held.get(id) ?? new StenoError(because ? 'failed' : 'interrupted', notSentText(why)),
    };
  return { outcomes: ids.map(outcomeFor), notSent, because: why, interrupted: signal.aborted };
}

const notSentText = (because: string): string => `it was not sent, because ${because}`;

async function outcomeOf(change: PlannedChange, options: MoneyCallOptions): Promise<Outcome<FileChange>> {
  const { id: what } = change;
  try {
    return { what, value: await changeOnce(change, options) };
  } catch (error) {
    if (error instanceof StenoError) return { what, error };
    throw error;
  }
}

/** Raises what failed: unclear before interrupted before the rest. `done`: `upgraded` or `refunded`. */
export function raiseUnchanged(
  { outcomes, notSent, because, interrupted }: SentChanges,
  done: 'upgraded' | 'refunded',
): void {
  const changed = values(outcomes).map(({ id }) => id);
  const unsentIds = new Set(notSent);
  const failed = failures(outcomes).filter(({ what }) => !unsentIds.has(what));
  const unclear = failed.find(({ error }) => error.kind === 'uncertain');
  const [only] = outcomes;
  if (outcomes.length === 1 && only?.error) throw only.error;
  const rest = `${named(notSent)}, because ${because}; run this again with only ${notSent.length === 1 ? 'this id' : 'these ids'}`;
  const unsent = notSent.length ? [{ what: 'not sent', error: new StenoError('failed', rest) }] : [];
  if (interrupted && !unclear)
    throw new BulkError(
      'interrupted',
      outcomes.length === 1
        ? `interrupted, but audiofile ${changed[0]} is ${done}`
        : `interrupted: ${changed.length ? `${done}: ${named(changed)}` : `nothing was ${done}`}`,
      [...failed, ...unsent],
    );
  if (failed.length === 0) return;
  throw new BulkError(
    unclear ? 'uncertain' : kindOf(failed, failed.length + changed.length),
    `${failed.length} of ${outcomes.length} failed`,
    [...failed, ...unsent],
    unclear?.error.hint ?? `run it again with only what failed: the others are ${done}, and would be again`,
  );
}

/** A longer list would be cut, and they are sent in the order given. */
const MAX_NAMED = 20;

const named = (ids: readonly string[]): string =>
  ids.length > MAX_NAMED
    ? `${plural(ids.length, 'file')}, from audiofile ${ids[0]} to ${ids.at(-1)} in the order given`
    : `audiofile ${ids.join(', ')}`;
