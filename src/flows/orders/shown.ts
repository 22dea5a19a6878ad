/** The files of many orders, and what was not ordered: what a list of orders prints. */

import { audiosWithoutFile, type OrderedAudio } from '../../ledger/ordered-files.ts';
import { cutSignatures, withoutSignature } from '../../lib/audio-identity.ts';
import type { StenoError } from '../../lib/errors.ts';
import { cutJsonSignatures } from '../../lib/json-signatures.ts';
import type { KnownFiles } from '../files/known.ts';
import { type ListedFile, minutesOf, unknownFile } from '../files/listed.ts';
import { type ShownFile, savedByFile, shownFile } from '../files/shown.ts';
import type { LeftOut } from '../uploads/audio-files.ts';
import type { HeldFailure } from './duplicates.ts';
import { fileProblem, notSentError } from './failures.ts';
import type { KeptOut } from './guard.ts';
import { heldOrder, type OrderResult } from './order-and-wait.ts';
import { ownFiles, type PlacedOrder } from './place.ts';
import { describeAudio, type PlannedAudio, type PlannedOrder } from './planned-order.ts';
import type { SentOrders } from './sending.ts';

interface ListOptions {
  readonly waits: boolean;
  readonly currency: string;
  readonly known: KnownFiles;
  readonly leftOut: readonly KeptOut[];
  /** What did not even become part of an order. */
  readonly unplanned: readonly LeftOut[];
}

/** In the order in which they were sent; then what was not. */
export function orderedFiles(result: OrderResult, options: ListOptions): ShownFile[] {
  const waited: Waited = {
    outcomes: new Map(result.waited?.outcomes.map((each) => [each.what, each])),
    saved: savedByFile(result.waited?.saved),
  };
  return [
    ...result.sent.outcomes.flatMap(({ value, error, planned }) =>
      value ? placedFiles(value, result, waited, options) : unplacedFiles(planned, error, options),
    ),
    ...unsentFiles(result.sent, options),
    ...overBudgetFiles(result.overBudget, options),
    ...options.leftOut.flatMap((row) => leftOutFile(row, options)),
    ...options.unplanned.map(({ path, url = path, why = 'unusable' }) => ({
      ...unplaced({ ...unknownFile, url }, undefined, options),
      leftOut: why,
    })),
  ];
}

/** What became of each file that was waited for, by its id. */
interface Waited {
  readonly outcomes: ReadonlyMap<string, NonNullable<OrderResult['waited']>['outcomes'][number]>;
  readonly saved: ReturnType<typeof savedByFile>;
}

const overBudgetFiles = (orders: readonly PlannedOrder[], options: ListOptions): ShownFile[] =>
  orders.flatMap((planned) =>
    unplacedFiles(planned, undefined, options).map((file) => ({ ...file, leftOut: 'budget' as const })),
  );

/** What exists, where it is on order. */
function leftOutFile({ planned, why, holder }: KeptOut, options: ListOptions): ShownFile[] {
  const [row] = unplacedFiles(planned, undefined, options);
  const known = row && { ...row, row: { ...row.row, order_id: holder?.order ?? '' } };
  const { known: files, currency } = options;
  const shown = holder?.file
    ? shownFile({
        ...{ what: holder.file, file: undefined, error: undefined, saved: undefined },
        ...{ known: files, currency, otherwise: known?.row ?? unknownFile },
      })
    : known;
  return shown ? [{ ...shown, leftOut: why }] : [];
}

function placedFiles(
  placed: PlacedOrder,
  result: OrderResult,
  waited: Waited,
  options: ListOptions,
): ShownFile[] {
  const { order } = placed;
  const problem = fileProblem(placed)[0]?.error;
  // Once for all: an order may have tens of thousands of files.
  const answer = options.waits ? null : cutJsonSignatures(order.json);
  const rowOf = orderedRows(placed);
  const ids = ownFiles(placed);
  const lacking = problem ? audiosWithoutFile(placed.planned.audios, audiosOf(placed)) : [];
  // An order without files is an element too.
  const files = (ids.length || lacking.length ? ids : ['']).map((id) => {
    const outcome = waited.outcomes.get(id);
    const shown = shownFile({
      ...{ ...options, what: id, file: outcome?.file, saved: waited.saved.get(id) },
      error: outcome ? outcome.error : otherError(placed, result, options.waits),
      otherwise: rowOf(id),
    });
    if (!options.waits)
      return placed.isExisting ? { ...shown, error: undefined } : { ...shown, answer, error: undefined };
    if (outcome?.file) return shown;
    const state = order.hold ? 'On Hold' : shown.row.state;
    return { ...shown, row: { ...shown.row, state }, answer, error: shown.error ?? problem };
  });
  const without = lacking.map((audio) => ({
    ...unplaced({ ...rowOf(''), ...plannedName(audio) }, problem, options),
    answer,
  }));
  return [...files, ...without];
}

const audiosOf = ({ files }: PlacedOrder): OrderedAudio[] =>
  files.files.flatMap(({ audio }) => (audio ? [audio] : []));

/** Why a file was not waited for. */
function otherError(
  { order }: PlacedOrder,
  { waitError }: OrderResult,
  waits: boolean,
): StenoError | undefined {
  if (!waits) return undefined;
  return order.hold ? heldOrder(order.hold) : waitError;
}

/** What is known of a file from its order, where there is no ledger. */
function orderedRows({ planned, order, files }: PlacedOrder): (id: string) => ListedFile {
  const only = planned.audios.length === 1 ? planned.audios[0] : undefined;
  const audios = new Map(files.files.map(({ id, audio }) => [id, audio]));
  const common = { ...plannedRow(planned), order_id: order.id, hold: order.hold ?? null };
  return (id) => {
    const audio = id ? audios.get(id) : only;
    return { ...common, id, url: withoutSignature(audio?.url ?? ''), key: audio?.key ?? '' };
  };
}

const plannedRow = ({ skus, names, notes, test }: PlannedOrder): ListedFile => ({
  ...unknownFile,
  skus: skus.join(','),
  names: cutSignatures(names.join('|')),
  notes: notes === undefined ? null : cutSignatures(notes),
  test: test ? 1 : 0,
});

const plannedName = (audio: PlannedAudio): Pick<ListedFile, 'url' | 'key'> => ({
  url: describeAudio(audio),
  key: audio.key ?? '',
});

const unplaced = (row: ListedFile, error: StenoError | undefined, { currency }: ListOptions): ShownFile => ({
  ...{ row, downloads: [], currency, error, answer: null },
});

const unplacedFiles = (
  planned: PlannedOrder,
  error: StenoError | undefined,
  options: ListOptions,
): ShownFile[] =>
  planned.audios.map((audio: PlannedAudio) => {
    const minutes = minutesOf(audio.details?.seconds);
    const row = { ...plannedRow(planned), ...plannedName(audio), minutes };
    return unplaced(row, error, options);
  });

function heldFile({ what, error, planned }: HeldFailure, options: ListOptions): ShownFile[] {
  const files = planned
    ? unplacedFiles(planned, error, options)
    : [unplaced({ ...unknownFile, url: what }, error, options)];
  return files.map((file) => ({ ...file, leftOut: error.duplicate?.reason }));
}

/** What the ledger held up, and what was left when the sending stopped. */
const unsentFiles = (sent: SentOrders, options: ListOptions): ShownFile[] => [
  ...sent.held.flatMap((held) => heldFile(held, options)),
  ...sent.notSent.flatMap((planned) => unplacedFiles(planned, notSentError(sent), options)),
];
