/** Upgrades, refunds and raw calls for money: in the ledger before they are sent, and never twice by accident. */
import { changeFile, type FileChange, readChange } from '../../api/files.ts';
import { type RawAnswer, sendRaw } from '../../api/http/answer.ts';
import type { BeforeSend, Call, MoneyTarget } from '../../api/http/call.ts';
import { CallError } from '../../api/http/failures.ts';
import { cuttingSignatures, type Order, readOrder } from '../../api/orders.ts';
import { testFiles } from '../../catalog/check.ts';
import { Claims } from '../../ledger/claims.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { OrderedFiles } from '../../ledger/ordered-files.ts';
import {
  type Audio,
  type Begun,
  detailsOf,
  kindOf,
  makeAudio,
  type NewPurchase,
  type PurchasedAudio,
} from '../../ledger/purchase.ts';
import type { Purchases } from '../../ledger/purchases.ts';
import { BulkError, StenoError } from '../../lib/errors.ts';
import type { Json, JsonObject } from '../../lib/json.ts';
import { refundName, upgradeNames } from '../../lib/names.ts';
import { plural } from '../../lib/text.ts';
import { secondsOfMinutes } from '../../lib/time.ts';
import { isUrl, parameterName } from '../../lib/url.ts';
import type { Settings } from '../../settings/settings.ts';
import { failures, kindOfAll, type Outcome, outcomeOf, values } from '../bulk.ts';
import { OrderCosts } from './cost.ts';
import { duplicateError, type HeldAudio, heldChange } from './duplicates.ts';
import { fileProblem, withAttempts } from './failures.ts';
import { strongest } from './guard.ts';
import { type PlaceOptions, type Sending, type Sent, sendOnce } from './place.ts';
import { type PaceOptions, Pacer } from './sending.ts';

interface MoneyCallOptions extends PlaceOptions {
  /** Sends it though an earlier one is on order, being sent or unclear. */
  readonly again: boolean;
}

/** What a call costs counts only under a budget, or where it is shown. */
export async function callCosts(
  ledger: Ledger | undefined,
  settings: Settings,
  unpriced: boolean,
  isShown = false,
): Promise<OrderCosts> {
  const costs = new OrderCosts(ledger, settings, { unpriced, isShown });
  await costs.read();
  return costs;
}

export const fileOf = ({ audios }: NewPurchase): string => audios[0]?.file ?? '';

async function changeOnce(purchase: NewPurchase, options: MoneyCallOptions): Promise<FileChange> {
  const { kind, skus, test } = purchase;
  const id = fileOf(purchase);
  const action = kind === 'upgrade' ? kind : 'refund';
  const send = (check: BeforeSend): Promise<FileChange> =>
    changeFile(options.transport, { id, action, skus, test }, check);
  return (await sendChange(purchase, options, send)).answer;
}

/** A raw call for money; `onAnswer` is told what came, also where it can't be read. */
export async function callOnce(
  call: Call,
  target: MoneyTarget,
  options: MoneyCallOptions,
  onAnswer: (answer: RawAnswer) => void,
): Promise<void> {
  const { transport, ledger } = options;
  const { call: kind, file } = target;
  const test = isTest(call, target);
  const via = `${call.method} ${call.path}`;
  const params = call.params ?? new Map();
  const ask = async (check: BeforeSend): Promise<Json> => {
    const answer = await sendRaw(transport, { ...call, beforeSend: check });
    onAnswer(answer);
    return answer.json ?? null;
  };
  if (kind !== 'order') {
    const change = { kind, skus: valuesOf(params, 'sku'), test };
    for (const planned of await planChanges([file], change, ledger))
      await sendChange({ ...planned, via }, options, async (check) =>
        readChange(call, file, await ask(check)),
      );
    return;
  }
  const urls = valuesOf(params, 'url');
  const purchase: NewPurchase = {
    ...{ via, audios: urls.map(audioOf), skus: valuesOf(params, 'sku') },
    names: [...valuesOf(params, 'name'), ...valuesOf(params, 'names')],
    notes: valuesOf(params, 'notes').join('\n'),
    test,
  };
  const { answer, kept, attempt } = await sendChecked<Order, OrderedFiles>(purchase, options, {
    send: (check) => cuttingSignatures(urls, async () => readOrder(call, await ask(check))),
    keep: (purchases, begun, order) => purchases.markPlaced(begun, purchase, order),
  });
  const [problem] = kept
    ? fileProblem({ planned: { ...purchase, extra: [] }, order: answer, files: kept, attempt })
    : [];
  if (problem) throw problem.error;
}

/** Without a URL the service refuses it, or names what it made of it. */
const audioOf = (url: string): Audio => (isUrl(url) ? makeAudio(url) : { url, names: [`url ${url}`] });

/** The values of a parameter, however its name is spelled. */
const valuesOf = (params: JsonObject, name: string): string[] =>
  [...params]
    .filter(([key]) => parameterName(key) === name)
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((value) => typeof value === 'string');

/**
 * In doubt it is none: what is taken for a test may be bought twice. There are tests of orders, and of upgrades and refunds
 * of two files.
 */
export function isTest({ params = new Map() }: Call, { call, file }: MoneyTarget): boolean {
  const said = valuesOf(params, 'test');
  const isSaid = said.length > 0 && said.every((value) => /^(true|1|yes|on)$/i.test(value));
  return isSaid && (call === 'order' || testFiles.includes(file));
}

export interface Change extends Pick<NewPurchase, 'skus' | 'test'> {
  readonly kind: 'upgrade' | 'refund';
}

/** The same change of each file, with what the ledger knows of the file. */
async function planChanges(
  files: readonly string[],
  { kind, skus, test }: Change,
  ledger: Ledger | undefined,
): Promise<NewPurchase[]> {
  const rows = await (ledger && new Files(ledger).getAll(files));
  return files.map((file) => {
    const row = rows?.get(file);
    const minutes = Number(row?.duration || Number.NaN);
    const details = detailsOf(row);
    const audio: PurchasedAudio = {
      url: row?.url ?? '',
      key: row?.key || undefined,
      names: kind === 'upgrade' ? upgradeNames(file, skus) : [refundName(file)],
      // The service bills the length that it says itself.
      details: minutes > 0 ? { ...details, seconds: secondsOfMinutes(minutes) } : details,
      file,
      totalBefore: row?.total,
    };
    return { kind, audios: [audio], skus, names: [], test };
  });
}

const sendChange = (
  purchase: NewPurchase,
  options: MoneyCallOptions,
  send: (check: BeforeSend) => Promise<FileChange>,
): Promise<Sent<FileChange, void>> =>
  sendChecked(purchase, options, {
    send,
    keep: (purchases: Purchases, begun: Begun) => purchases.markDone(begun, purchase),
  });

/** Sends it unless the ledger or the budget says otherwise. */
async function sendChecked<Answer, Kept>(
  purchase: NewPurchase,
  { ledger, again, costs, onLedgerError }: MoneyCallOptions,
  sending: Sending<Answer, Kept>,
): Promise<Sent<Answer, Kept>> {
  const isLimited = costs !== undefined && purchase.kind !== 'refund';
  if (!again) await refuseHeld(purchase, ledger);
  if (isLimited) costs.check([purchase]);
  const limits = isLimited ? costs.limits : [];
  const takeOver = again ? 'any' : [];
  try {
    const sent = await sendOnce(
      isLimited ? costs.priced(purchase) : purchase,
      { ledger, takeOver, limits, onLedgerError },
      sending,
    );
    if (typeof sent !== 'string') return sent;
  } catch (error) {
    throw ledger && !purchase.test && error instanceof CallError ? withAttempts(error) : error;
  }
  // Another process was faster, or has spent what was left.
  if (!again) await refuseHeld(purchase, ledger);
  await costs?.read();
  if (isLimited) costs.check([purchase]);
  throw new StenoError('duplicate', 'it was not sent: another process sent the same call first', {
    hint: 'run this again if you still want it',
  });
}

/** Throws where an earlier purchase of the same holds it. */
async function refuseHeld(purchase: NewPurchase, ledger: Ledger | undefined): Promise<void> {
  const [held = []] = await heldAudios([purchase], ledger);
  const [first] = held;
  if (!first) return;
  throw kindOf(purchase) === 'order' ? duplicateError(held, 'raw call') : heldChange(first);
}

/** What earlier purchases hold of each; tests are held by none. */
async function heldAudios(
  purchases: readonly NewPurchase[],
  ledger: Ledger | undefined,
): Promise<HeldAudio[][]> {
  const names = purchases.flatMap(({ test, audios }) => (test ? [] : audios.flatMap((each) => each.names)));
  const holders = names.length && ledger ? await new Claims(ledger).holders(names) : new Map();
  return purchases.map(({ test, audios }) =>
    test ? [] : audios.flatMap((audio) => strongest(audio, holders) ?? []),
  );
}

export type ChangePlan = Awaited<ReturnType<typeof planAll>>;

/**
 * What may be sent, and what an earlier upgrade or refund holds up, by file. Throws where the budgets do not cover all of
 * them together.
 */
export async function planAll(
  ids: readonly string[],
  change: Change,
  { ledger, again, costs }: { ledger: Ledger | undefined; again: boolean; costs: OrderCosts | undefined },
) {
  const planned = await planChanges(ids, change, ledger);
  const found = again ? [] : await heldAudios(planned, ledger);
  const held = new Map(
    found.flatMap(([first], at) => (first ? [[ids[at] ?? '', heldChange(first)] as const] : [])),
  );
  const ready = planned.filter((each) => !held.has(fileOf(each)));
  costs?.check(ready);
  return { ids, ready, held };
}

/**
 * A refused one does not stop the next; one without a clear answer does. Gives an outcome for each file, in the order
 * given; which were not sent, and why.
 */
export async function sendChanges({ ids, ready, held }: ChangePlan, options: MoneyCallOptions & PaceOptions) {
  const { signal, report } = options;
  const sent = new Map<string, Outcome<FileChange>>();
  const pacer = new Pacer(options, 'file');
  let because: string | undefined;
  let failed = 0;
  for (const [at, each] of ready.entries()) {
    // What a single call shows is how long it takes.
    if (ready.length > 1) report({ done: at, of: ready.length, unit: 'file', failed });
    const id = fileOf(each);
    const outcome = signal.aborted ? undefined : await outcomeOf(id, () => changeOnce(each, options));
    // It was interrupted before it was sent.
    if (!outcome || outcome.error?.kind === 'interrupted') break;
    sent.set(id, outcome);
    if (outcome.error) failed += 1;
    because = await pacer.after(outcome.error, ready.length - at - 1);
    if (because) break;
  }
  const why = because ?? 'the command was interrupted';
  const notSent = ready.map(fileOf).filter((id) => !sent.has(id));
  const outcomeFor = (id: string): Outcome<FileChange> =>
    sent.get(id) ?? {
      what: id,
      error:
        held.get(id) ?? new StenoError(because ? 'failed' : 'interrupted', `it was not sent, because ${why}`),
    };
  return { outcomes: ids.map(outcomeFor), notSent, because: why, interrupted: signal.aborted };
}

/** Raises what failed: unclear before interrupted before the rest. `done`: `upgraded` or `refunded`. */
export function raiseUnchanged(
  { outcomes, notSent, because, interrupted }: Awaited<ReturnType<typeof sendChanges>>,
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
        ? `interrupted, but audiofile ${changed[0]} was ${done}`
        : `interrupted: ${changed.length ? `${done}: ${named(changed)}` : `nothing was ${done}`}`,
      [...failed, ...unsent],
    );
  if (failed.length === 0) return;
  throw new BulkError(
    unclear ? 'uncertain' : kindOfAll(failed, failed.length + changed.length),
    `${failed.length} of ${outcomes.length} failed`,
    [...failed, ...unsent],
    unclear?.error.hint ?? `run it again with only the ids that failed; the others are ${done}`,
  );
}

/** A longer list would be cut, and they are sent in the order given. */
const MAX_NAMED = 20;

const named = (ids: readonly string[]): string =>
  ids.length > MAX_NAMED
    ? `${plural(ids.length, 'file')}, from audiofile ${ids[0]} to ${ids.at(-1)} in the order given`
    : `audiofile ${ids.join(', ')}`;
