/** What is raised after orders were sent, and with which exit code. */
import { BulkError, type Failure, type Kind, StenoError } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import { failures, values } from '../bulk.ts';
import type { PlacedOrder } from './place.ts';
import { describeUrls } from './plan.ts';
import type { SentOrders } from './sending.ts';

const GO_ON = 'run the same line again with --skip-ordered';

/** Raises what was not placed, together with what else failed: unclear before interrupted before the rest. */
export function raiseUnplaced(sent: SentOrders, listsHeld: boolean, others: readonly Failure[] = []): void {
  const { outcomes, held, unsent, interrupted } = sent;
  const unplaced = [...failures(outcomes), ...values(outcomes).flatMap(fileProblem)];
  const total = outcomes.length + unsent;
  const unclear = unplaced.find(({ error }) => error.kind === 'uncertain');
  if (interrupted && !unclear) throw interruption(sent, [...unplaced, ...held, ...others]);
  const [first] = [...unplaced, ...held];
  if (!first) return;
  if (total + held.length === 1 && !(listsHeld && held.length)) throw first.error;
  throw new BulkError(
    kindOf([...unplaced, ...held], values(outcomes).length > 0),
    summary(unplaced.length, total, held.length),
    [...unplaced, ...unsentFailures(sent), ...held, ...others],
    unclear?.error.hint ?? (held.length ? HELD_HINT : undefined),
  );
}

function summary(unplaced: number, total: number, held: number): string {
  const failed = unplaced ? [`${unplaced} of ${total} orders failed`] : [];
  return [...failed, ...(held ? [`${plural(held, 'URL')} not ordered`] : [])].join('; ');
}

const HELD_HINT =
  'orders without a known end: steno attempts   to order again what had no clear answer: --skip-ordered --retry-unclear';

function kindOf(all: readonly Failure[], anyPlaced: boolean): Kind {
  const kinds = all.map(({ error }) => error.kind);
  if (kinds.includes('uncertain')) return 'uncertain';
  if (anyPlaced) return 'partial';
  return kinds.find((kind) => kind !== 'duplicate') ?? 'duplicate';
}

/** An order that was accepted, but whose answer does not tell the file of each URL. Tests are not bought. */
function fileProblem({ order, files, planned, attempt }: PlacedOrder): Failure[] {
  if (files.problem === undefined || planned.test) return [];
  const settle =
    attempt === undefined ? '' : `steno attempts settle ${attempt} --placed ${order.id} --file <id>, or `;
  const hint = `look for its files in your account; then: ${settle}steno track <id>; see: steno attempts`;
  const error = new StenoError('uncertain', `order ${order.id} was accepted, but ${files.problem}`, { hint });
  return [{ what: describeUrls(planned), error }];
}

/** One line for all that was not sent. */
function unsentFailures({ unsent, because }: SentOrders): Failure[] {
  if (unsent === 0) return [];
  const why = because ? `, because ${because}` : '';
  const later = because ? GO_ON.replace('again', 'again later') : GO_ON;
  return [
    { what: 'not sent', error: new StenoError('failed', `${plural(unsent, 'order')}${why}; ${later}`) },
  ];
}

/** Says what was ordered, what was not sent, and how to go on. */
function interruption({ outcomes, unsent }: SentOrders, failed: readonly Failure[]): StenoError {
  const placed = values(outcomes);
  const [only] = outcomes;
  if (unsent === 0 && outcomes.length === 1 && only?.error)
    return new StenoError('interrupted', `interrupted: ${only.error.message}`, { hint: only.error.hint });
  const files = placed.reduce((sum, { order }) => sum + order.audiofiles.length, 0);
  const ordered = placed.length
    ? `${plural(placed.length, 'order')} placed, with ${plural(files, 'file')}`
    : 'nothing was ordered';
  const more = unsent ? [`not sent: ${plural(unsent, 'order')}`] : [];
  const hint = unsent ? `to go on, ${GO_ON}` : 'what becomes of it: steno files';
  return new BulkError('interrupted', `interrupted: ${ordered}`, failed, hint, more);
}
