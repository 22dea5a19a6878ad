/** What is raised after orders were sent, and with which exit code. */
import { CallError } from '../../api/http/failures.ts';
import type { Order } from '../../api/orders.ts';
import type { Audio } from '../../ledger/purchase.ts';
import { BulkError, type Failure, type Kind, StenoError } from '../../lib/errors.ts';
import { goOnHint, shellLine } from '../../lib/interruption.ts';
import { plural } from '../../lib/text.ts';
import { failures, values } from '../bulk.ts';
import { raiseUndelivered, type WaitResult } from '../files/wait.ts';
import type { OrderJob, OrderResult } from './order-flow.ts';
import type { PlacedOrder } from './place.ts';
import { countAudios, describeAudio, describeUrls, type PlannedOrder } from './planned-order.ts';
import type { SentOrders } from './sending.ts';

const GO_ON = 'run the same command again with --skip-ordered';

interface RaiseOptions {
  /** What the ledger holds up is listed row by row. */
  readonly listsHeld: boolean;
  /** `steno attempts` lists what is unclear: there is a ledger, and it is no test. */
  readonly isRecorded: boolean;
  readonly goOn: string;
  /** Where in its list an audio stands; empty where it is from none. */
  readonly placeOf: (audio: Audio) => string;
}

/** Raises what was not placed, together with what else failed: unclear before interrupted before the rest. */
function raiseUnplaced(
  sent: SentOrders,
  { listsHeld, isRecorded, goOn, placeOf }: RaiseOptions,
  others: readonly Failure[],
): void {
  const { outcomes, held, unsent, interrupted } = sent;
  const failed = outcomes.flatMap(({ error, planned }) => {
    const shown = isRecorded && error instanceof CallError ? withAttempts(error) : error;
    const [at = ''] = planned.audios.map(placeOf);
    return shown ? [{ what: placedUrls(planned, at), error: shown, at }] : [];
  });
  const unplaced = [...failed, ...values<PlacedOrder>(outcomes).flatMap(fileProblem)];
  const total = outcomes.length + unsent;
  const unclear = unplaced.find(({ error }) => error.kind === 'uncertain');
  if (interrupted && !unclear) throw interruption(sent, [...unplaced, ...held, ...others], goOn);
  const [first] = [...unplaced, ...held];
  if (!first) return;
  const isAlone = total + held.length === 1;
  if (isAlone && !(listsHeld && held.length && isOfLedger(first)))
    throw nothingOrdered(
      failed[0]?.at || outcomes.some(({ planned }) => isLocal(planned)) ? named(first) : first.error,
    );
  throw new BulkError(
    kindOf(unplaced, held, values<PlacedOrder>(outcomes).length > 0),
    summary(unplaced.length, total, sent),
    [...unplaced, ...unsentFailures(sent), ...held, ...others],
    unclear?.error.hint ?? heldHint(held),
  );
}

/** With the command that lists what is unclear, where this is. */
export function withAttempts(error: CallError): CallError {
  if (!error.outcomeUnknown) return error;
  const { kind, message, hint, status, cause } = error;
  const details = { hint: `${hint}, steno attempts`, status, cause, outcomeUnknown: true };
  return new CallError(kind, message, details);
}

const isLocal = ({ audios }: PlannedOrder): boolean => audios.some(({ path }) => path !== undefined);

/** What never reached the service bought nothing: a person must not have to guess. */
function nothingOrdered(error: StenoError): StenoError {
  if (error.kind !== 'network') return error;
  const { message, hint, status } = error;
  return new StenoError('network', `${message}; nothing was ordered`, { hint, status, cause: error });
}

/** A row that stands alone is named, as one of many is; so is a recording, whose URL the user did not give. */
function named({ what, error }: Failure): StenoError {
  const { kind, message, hint, status } = error;
  if (kind !== 'failed' && kind !== 'missing' && kind !== 'uncertain') return error;
  return new StenoError(kind, `${what}: ${message}`, { hint, status, cause: error });
}

/** `m.csv, line 3: https://…` */
function placedUrls(order: PlannedOrder, at: string): string {
  const [first] = order.audios;
  return at && first && at !== describeAudio(first) ? `${at}: ${describeUrls(order)}` : describeUrls(order);
}

/** Of halves, the rows are counted. */
function summary(unplaced: number, total: number, { halved, outcomes, notSent, held }: SentOrders): string {
  const refused = countAudios(outcomes.flatMap(({ error, planned }) => (error ? [planned] : [])));
  const all = countAudios([...outcomes.map(({ planned }) => planned), ...notSent]);
  const counted = halved ? `${refused} of ${all} rows failed` : `${unplaced} of ${total} orders failed`;
  return [
    ...(unplaced ? [counted] : []),
    ...(held.length ? [`${plural(held.length, 'URL')} not ordered`] : []),
  ].join('; ');
}

function heldHint(held: readonly Failure[]): string | undefined {
  // An upload that took too long, too, was sent to nobody: it has a hint of its own.
  return held.some(
    ({ error: { duplicate } }) => duplicate?.reason === 'unclear' || duplicate?.reason === 'in_progress',
  )
    ? HELD_HINT
    : held.find(({ error }) => error.hint)?.error.hint;
}

/** Not so a file whose upload failed: its message names it. */
const isOfLedger = ({ error }: Failure): boolean => error.kind !== 'usage' && error.kind !== 'failed';

const HELD_HINT =
  'list orders of unknown outcome: steno attempts; retry those without a clear answer with --skip-ordered --retry-unclear';

/** Where nothing was ordered, what is unclear or on order from before decides: that has to be looked at. */
function kindOf(unplaced: readonly Failure[], held: readonly Failure[], anyPlaced: boolean): Kind {
  const all = [...unplaced, ...held].map(({ error }) => error.kind);
  if (all.includes('uncertain')) return 'uncertain';
  if (anyPlaced) return 'partial';
  if (held.some(({ error }) => error.kind === 'duplicate')) return 'duplicate';
  const kind = all.find((each) => each !== 'duplicate') ?? 'duplicate';
  // The service answered 404 about a row of several, not about what was asked for.
  return kind === 'missing' ? 'failed' : kind;
}

/** An order that was accepted, but whose answer does not tell the file of each URL. Tests are not bought. */
export function fileProblem({ order, files, planned, attempt }: PlacedOrder): Failure[] {
  if (files.problem === undefined || planned.test) return [];
  const track = 'steno track <id>';
  const settle = `steno attempts settle ${attempt} --placed ${order.id} --file <id>`;
  const next = attempt === undefined ? track : `${settle}, or ${track}; see: steno attempts`;
  const hint = `look for its files in your account; then: ${next}`;
  const error = new StenoError('uncertain', `order ${order.id} was accepted, but ${files.problem}`, { hint });
  return [{ what: describeUrls(planned), error }];
}

export const notSentError = (sent: SentOrders): StenoError =>
  new StenoError(sent.interrupted ? 'interrupted' : 'failed', `it was not sent${whyUnsent(sent)}`);

function whyUnsent({ because, interrupted }: SentOrders): string {
  const cause = interrupted ? 'the command was interrupted' : because;
  return cause ? `, because ${cause}` : '';
}

function unsentFailures(sent: SentOrders): Failure[] {
  const { unsent, because, interrupted } = sent;
  if (unsent === 0) return [];
  const why = whyUnsent(sent);
  const later = because && !interrupted ? GO_ON.replace('again', 'again later') : GO_ON;
  return [
    { what: 'not sent', error: new StenoError('failed', `${plural(unsent, 'order')}${why}; ${later}`) },
  ];
}

function interruption(
  { outcomes, unsent }: SentOrders,
  failed: readonly Failure[],
  goOn: string,
): StenoError {
  const placed = values<PlacedOrder>(outcomes);
  const [only] = outcomes;
  if (unsent === 0 && outcomes.length === 1 && only?.error)
    return new StenoError('interrupted', `interrupted: ${only.error.message}`, { hint: only.error.hint });
  const files = placed.reduce((sum, { order }) => sum + order.audiofiles.length, 0);
  const ordered = placed.length
    ? `${plural(placed.length, 'order')} placed, with ${plural(files, 'file')}`
    : 'nothing was ordered';
  const more = unsent ? [`not sent: ${plural(unsent, 'order')}`] : [];
  const hint = unsent ? goOn : 'follow the files: steno files';
  return new BulkError('interrupted', `interrupted: ${ordered}`, failed, hint, more);
}

/** The command line as typed, for hints that say how to continue. */
export interface GoOn {
  readonly line: readonly string[];
  readonly again: boolean;
  readonly test: boolean;
  readonly waitFlags: readonly string[];
  readonly hasLedger: boolean;
}

function restHint({ line, test, again, hasLedger }: GoOn): string {
  // A test costs nothing, and the ledger does not count it.
  if (test) return goOnHint('start over with', line);
  // Placed rows can't be told apart from the rows that are left.
  if (again || !hasLedger)
    return 'remove what was ordered before you run the same command again; see: steno files';
  return goOnHint('resume with', line, '--skip-ordered');
}

function waitLine(orders: readonly Order[], { waitFlags, hasLedger }: GoOn): string {
  const [only, ...more] = orders;
  // Only the ledger knows the files of an order.
  const byOrder = only && more.length === 0 ? ['--order', only.id] : [];
  const what = hasLedger ? byOrder : orders.flatMap(({ audiofiles }) => audiofiles);
  return shellLine(['wait', ...what, ...waitFlags]) ?? (hasLedger ? 'steno wait' : 'steno wait <id…>');
}

export function heldOrder(hold: string): StenoError {
  const hint =
    hold === 'billing'
      ? 'billing means a past-due balance: pay it, and the order resumes automatically'
      : 'the service decides when to release it; check with: steno file <id>';
  return new StenoError('held', `on hold (${hold}): work starts once the hold is released`, { hint });
}

const heldOrders = (orders: readonly Order[]): Failure[] =>
  orders.flatMap(({ id, hold }) => (hold ? [{ what: `order ${id}`, error: heldOrder(hold) }] : []));

export function holdError(placed: readonly PlacedOrder[]): StenoError | undefined {
  const held = heldOrders(placed.map(({ order }) => order));
  if (held.length === 0) return undefined;
  const text = held.map(({ what, error }) => `${what} is ${error.message}`);
  const billing = placed.find(({ order }) => order.hold === 'billing')?.order;
  return new StenoError('held', text.join('; '), { hint: heldOrder(billing?.hold ?? '').hint });
}

/** Raises what went wrong: orders that were not placed, a wait that broke off, files without a transcript, holds. */
export function raiseOrderFailures(
  { sent, placed, waited, waitError, holdIsFailure }: OrderResult,
  { run, plan, isList, isShown, ledger, wishes }: OrderJob,
  goOn: GoOn,
): void {
  const orders = placed.map(({ order }) => order);
  const held = holdIsFailure ? heldOrders(orders) : [];
  const brokeOff = waitError === undefined ? [] : [{ what: 'waiting', error: waitError }];
  const raising = {
    listsHeld: isList || countAudios(plan.orders) > 1,
    isRecorded: ledger !== undefined && !wishes.test,
    ...{ placeOf: plan.placeOf, goOn: restHint(goOn) },
  };
  raiseUnplaced(sent, raising, [...held, ...failures(waited?.outcomes ?? []), ...brokeOff]);
  const standing = (error: StenoError): StenoError => orderStands(orders, error, waitLine(orders, goOn));
  if (waitError !== undefined) throw standing(waitError);
  raiseWaited(waited?.outcomes ?? [], held, standing);
  const hold = holdIsFailure ? holdError(placed) : undefined;
  if (hold) throw hold;
  // Another process ordered them first, at an unknown cost.
  if (orders.length === 0 && run.problem && !isShown) throw run.problem;
}

/** Waiting longer can't help a cancelled or held file; after any other error it may. */
function raiseWaited(
  files: WaitResult['outcomes'],
  held: readonly Failure[],
  standing: (error: StenoError) => StenoError,
): void {
  try {
    raiseUndelivered([...files, ...(failures(files).length ? held : [])]);
  } catch (error) {
    throw error instanceof StenoError && !hasEnded(error) ? standing(error) : error;
  }
}

const hasEnded = ({ kind }: StenoError): boolean => kind === 'unfinished' || kind === 'held';

function orderStands(orders: readonly Order[], error: StenoError, resume: string): StenoError {
  const stopped = error.kind === 'interrupted' ? 'Stopped waiting.' : `Stopped waiting: ${error.message}.`;
  const standing =
    orders.length === 1
      ? `Order ${orders[0]?.id} is placed and continues.`
      : `${orders.length} orders are placed and continue.`;
  // An id that can't be asked for is a mistake of the service's here, and exit 2 would say that nothing was sent.
  const kind = error.kind === 'usage' ? 'failed' : error.kind;
  const more = error instanceof BulkError ? error.failures : [];
  return new BulkError(kind, `${stopped} ${standing}`, more, `resume with: ${resume}`);
}
